//===- Loops.h - Element-wise loops, copies and fills -----------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_MEMORY_LOOPS_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_MEMORY_LOOPS_H

#include "Kernels/RowPredicate.h"

namespace glowish {

/// How many indices of dimensions of a loop are needed.
struct NeededIndices {
  unsigned dim = 0;
  /// Of dimension dim, and of the last one where that is another; null for all.
  llvm::Value *count = nullptr, *ofLast = nullptr;
};

/// \p program at every index of \p shape, or those that are needed, in rows
/// that \p predicate, if there is one, states to be needed; the empty program
/// copies input 0.
void emitLoop(KernelBuilder &b, DimsRef shape, StridedOperand result,
              std::vector<StridedOperand> inputs, const ScalarProgram &program,
              NeededIndices needed = {}, const RowPredicate &predicate = {});
void emitFill(KernelBuilder &b, DimsRef shape, StridedOperand result,
              double value, NeededIndices needed = {});

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_MEMORY_LOOPS_H
