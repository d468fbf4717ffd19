//===- Definitions.h - Parts of the definitions of nodes --------*- C++ -*-===//

#ifndef GLOWISH_TESTS_PROOFS_DEFINITIONS_H
#define GLOWISH_TESTS_PROOFS_DEFINITIONS_H

#include "SymbolicGraph.h"

namespace glowish::proofs {

using Tensors = llvm::ArrayRef<SymbolicTensor>;

/// Whether an optional operand is there.
inline bool isPresent(const SymbolicTensor &operand) {
  return !operand.elements.empty();
}

/// The sum over \p count of what \p getTerm makes of each number.
Number sum(Proof &proof, ElemKind kind, int64_t count,
           llvm::function_ref<Number(int64_t)> getTerm);
/// Of at least one number.
Number addAll(llvm::ArrayRef<Number> elements);
/// The elements of \p tensor that have the indices of \p index but along
/// \p axes.
std::vector<Number> gather(const SymbolicTensor &tensor,
                           llvm::ArrayRef<int64_t> axes, DimsRef index);
/// The element of \p tensor at \p index, of bytes, as a number of \p kind, less
/// that of \p zeroPoints, which may be absent, at \p zeroPoint.
Number widen(const SymbolicTensor &tensor, DimsRef index,
             const SymbolicTensor &zeroPoints, DimsRef zeroPoint,
             ElemKind kind);

} // namespace glowish::proofs

#endif // GLOWISH_TESTS_PROOFS_DEFINITIONS_H
