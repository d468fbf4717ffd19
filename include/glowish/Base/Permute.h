//===- Permute.h - Permute the dimensions of a tensor -----------*- C++ -*-===//

#ifndef GLOWISH_BASE_PERMUTE_H
#define GLOWISH_BASE_PERMUTE_H

#include "glowish/Base/Tensor.h"

namespace glowish {

/// Transposes \p tensor: dimension i of the result is dimension permutation[i]
/// of \p tensor. Faster than evaluating a Transpose node in the interpreter,
/// which matters for large weights;
/// those that are stored in a file stay there.
Tensor permute(const Tensor &tensor, llvm::ArrayRef<int64_t> permutation);

} // namespace glowish

#endif // GLOWISH_BASE_PERMUTE_H
