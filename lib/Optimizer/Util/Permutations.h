//===- Permutations.h - Permutations of dimensions --------------*- C++ -*-===//

#ifndef GLOWISH_LIB_OPTIMIZER_UTIL_PERMUTATIONS_H
#define GLOWISH_LIB_OPTIMIZER_UTIL_PERMUTATIONS_H

#include "glowish/Graph/Nodes.h"

namespace glowish {

/// Dimension d of a transposed value is dimension permutation[d] of the value.
using Permutation = std::vector<int64_t>;

Permutation invert(llvm::ArrayRef<int64_t> permutation);

/// \p values, one for each dimension of the result of a transpose, as one for
/// each dimension of its operand.
std::vector<int64_t> moveToOperand(llvm::ArrayRef<int64_t> values,
                                   llvm::ArrayRef<int64_t> permutation);

/// Whether transposing \p shape moves no elements: dimensions of extent 1
/// aside, the order stays.
bool movesNoElements(DimsRef shape, llvm::ArrayRef<int64_t> permutation);

/// Whether \p node could be a reshape, which keeps no scales along a dimension.
bool isReshape(const TransposeNode &node);

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_UTIL_PERMUTATIONS_H
