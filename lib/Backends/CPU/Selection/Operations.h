//===- Operations.h - Counts the arithmetic of kernels ----------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_SELECTION_OPERATIONS_H
#define GLOWISH_LIB_BACKENDS_CPU_SELECTION_OPERATIONS_H

#include "Kernels/KernelBuilder.h"

namespace glowish {

/// Returns the floating-point operations on each lane of the code that \p emit
/// emits for vectors of \p kinds; \p emit returns its results.
unsigned
countEmitted(llvm::ArrayRef<ElemKind> kinds, const TargetDescription &target,
             llvm::function_ref<Values(KernelBuilder &, const Values &)> emit);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_SELECTION_OPERATIONS_H
