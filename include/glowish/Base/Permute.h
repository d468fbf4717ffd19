//===- Permute.h - Tensors with other orders of dimensions ----*- C++ -*-===//

#ifndef GLOWISH_BASE_PERMUTE_H
#define GLOWISH_BASE_PERMUTE_H

#include "glowish/Base/Tensor.h"

namespace glowish {

/// Dimension i of the result is dimension permutation[i] of \p tensor. Weights
/// are permuted here and not by the interpreter, which takes its time.
Tensor permute(const Tensor &tensor, llvm::ArrayRef<int64_t> permutation);

} // namespace glowish

#endif // GLOWISH_BASE_PERMUTE_H
