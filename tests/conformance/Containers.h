//===- Containers.h - Inputs that are sequences or optionals ----*- C++ -*-===//

#ifndef GLOWISH_TESTS_CONFORMANCE_CONTAINERS_H
#define GLOWISH_TESTS_CONFORMANCE_CONTAINERS_H

#include "glowish/Base/Tensor.h"
#include "glowish/Support/Error.h"
#include <memory>
#include <string>

namespace onnx {
class ModelProto;
class ValueInfoProto;
} // namespace onnx

namespace glowish {

/// What the data say of an input that is a sequence or an optional.
struct Container {
  std::string name;
  bool isSequence = false, isOptional = false;
  /// Of an optional.
  bool isAbsent = false;
  std::vector<std::shared_ptr<const Tensor>> tensors = {};

  /// What replaceContainers() calls tensor \p index.
  std::string getTensorName(size_t index) const {
    return name + "." + std::to_string(index);
  }
};

bool isContainer(const onnx::ValueInfoProto &value);

/// Reads the data \p file of the input \p value of a model.
llvm::Expected<Container> readContainer(const std::string &file,
                                        const onnx::ValueInfoProto &value);

/// Makes the tensors inputs of \p model in the place of the sequences and
/// optionals, which become SequenceConstruct, SequenceEmpty and Optional of
/// them. A program has a fixed number of inputs; the operators that the test is
/// about stay.
void replaceContainers(onnx::ModelProto &model,
                       llvm::ArrayRef<Container> containers);

} // namespace glowish

#endif // GLOWISH_TESTS_CONFORMANCE_CONTAINERS_H
