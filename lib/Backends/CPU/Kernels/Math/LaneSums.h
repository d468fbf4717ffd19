//===- LaneSums.h - Sums of the lanes of several vectors --------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_LANESUMS_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_LANESUMS_H

#include "Kernels/KernelBuilder.h"

namespace glowish {

/// Lane i of the result is the sum of the lanes of \p vectors[i], added in the
/// order of KernelBuilder::reduceLanes, whatever the number of vectors. That is
/// a power of 2, at most that of the lanes, which is one, too.
llvm::Value *sumLanes(KernelBuilder &b, Values vectors);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_LANESUMS_H
