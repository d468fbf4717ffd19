//===- Loops.h - Element-wise loops, copies and fills -----------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_MEMORY_LOOPS_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_MEMORY_LOOPS_H

#include "Kernels/StridedOperand.h"

namespace glowish {

/// \p program at every index of \p shape; the empty program copies input 0.
void emitLoop(KernelBuilder &b, DimsRef shape, StridedOperand result,
              std::vector<StridedOperand> inputs, const ScalarProgram &program);
void emitFill(KernelBuilder &b, DimsRef shape, StridedOperand result,
              double value);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_MEMORY_LOOPS_H
