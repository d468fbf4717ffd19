//===- SoftFloat.h - Float arithmetic in integers ---------------*- C++ -*-===//
//
// For targets without a floating-point unit, where each operation on floats is
// a call of the compiler's library.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_SOFTFLOAT_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_SOFTFLOAT_H

#include "Kernels/KernelBuilder.h"

namespace glowish {

/// Floats \p x as the nearest int32, ties to even; NaN becomes 0, and what is
/// beyond int32 saturates.
llvm::Value *convertBitsToNearest(KernelBuilder &b, llvm::Value *x);

/// The same of float(\p x) * \p scale, of an int32 and a float, each step
/// rounded; of one lane. Sums of bytes that become bytes again take one
/// multiplication and no call: where |x| is up to 2^24, the scale from 2^-26 to
/// 2^-2, and the result one of 16 bits, unless it is within 1/256 of the middle
/// between two integers before it is rounded.
llvm::Value *multiplyToNearest(KernelBuilder &b, llvm::Value *x,
                               llvm::Value *scale);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_SOFTFLOAT_H
