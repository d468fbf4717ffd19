//===- SharedTensors.h - Tensors that are there once ------------*- C++ -*-===//

#ifndef GLOWISH_BASE_SHAREDTENSORS_H
#define GLOWISH_BASE_SHAREDTENSORS_H

#include "glowish/Base/Tensor.h"
#include <map>
#include <memory>
#include <vector>

namespace glowish {

/// Keeps large tensors with the same elements once while anything has them: the
/// imports of a model for several values of its symbols make most constants of
/// their weights alike.
class SharedTensors {
public:
  /// The tensor that is bitwise equal to \p tensor and still in use; \p tensor
  /// itself if there is none.
  std::shared_ptr<const Tensor> share(Tensor tensor);

private:
  /// By fingerprints.
  std::map<uint64_t, std::vector<std::weak_ptr<const Tensor>>> known;
};

} // namespace glowish

#endif // GLOWISH_BASE_SHAREDTENSORS_H
