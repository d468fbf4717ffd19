//===- Loops.h - Element-wise loops, copies and fills -----------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_MEMORY_LOOPS_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_MEMORY_LOOPS_H

#include "Kernels/RowPredicate.h"

namespace glowish {

/// Numbers of indices of a loop that are needed.
struct NeededIndices {
  unsigned dim = 0;
  /// The number in dimension dim, and that in the last one where it is another;
  /// null for all.
  llvm::Value *count = nullptr, *ofLast = nullptr;
};

/// Emits \p program at every index of \p shape, or those that are needed, in
/// rows that \p predicate, if there is one, states to be needed; the empty
/// program copies input 0.
void emitLoop(KernelBuilder &b, DimsRef shape, StridedOperand result,
              std::vector<StridedOperand> inputs, const ScalarProgram &program,
              NeededIndices needed = {}, const RowPredicate &predicate = {});
void emitFill(KernelBuilder &b, DimsRef shape, StridedOperand result,
              double value, NeededIndices needed = {});

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_MEMORY_LOOPS_H
