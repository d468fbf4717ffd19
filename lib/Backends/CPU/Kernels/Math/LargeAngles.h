//===- LargeAngles.h - Multiples of pi / 2 in large numbers -----*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_LARGEANGLES_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_LARGEANGLES_H

#include "Kernels/Math/DoubleDouble.h"

namespace glowish {

/// A number as quarters * pi / 2 + rest, |rest| <= pi / 4: int64s, of which the
/// last two bits count, and doubles.
struct Angle {
  llvm::Value *quarters;
  DoubleDouble rest;
};

/// Emits \p reduced, but for lanes of \p x, doubles, that are finite and above
/// 1.6e6: what is right for these. The error of rest is 2^-64 of it at most.
Angle emitLargeAngles(KernelBuilder &b, llvm::Value *x, const Angle &reduced);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_LARGEANGLES_H
