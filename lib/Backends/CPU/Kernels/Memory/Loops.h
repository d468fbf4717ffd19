//===- Loops.h - Element-wise loops, copies and fills -----------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_MEMORY_LOOPS_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_MEMORY_LOOPS_H

#include "Kernels/RowPredicate.h"

namespace glowish {

/// Emits \p program at every index of \p extents that is needed, in rows that
/// \p predicate, if there is one, states to be needed; the empty program copies
/// input 0.
void emitLoop(KernelBuilder &b, const LoopExtents &extents,
              StridedOperand result, std::vector<StridedOperand> inputs,
              const ScalarProgram &program, const RowPredicate &predicate = {});
void emitFill(KernelBuilder &b, const LoopExtents &extents,
              StridedOperand result, double value);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_MEMORY_LOOPS_H
