//===- DoubleMath.h - Functions of doubles ----------------------*- C++ -*-===//
//
// Scalars and vectors of double alike, without a library. Errors are 2 units in
// the last place at most, also where there are no fused multiply-adds
// (tests/unit/VectorMathTest.cpp). Infinity, NaN and the signs of zeros are
// those of C's functions.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_DOUBLEMATH_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_DOUBLEMATH_H

#include "Kernels/KernelBuilder.h"

namespace glowish::doublemath {

llvm::Value *expm1(KernelBuilder &b, llvm::Value *x);
llvm::Value *log1p(KernelBuilder &b, llvm::Value *x);
/// Emits it by a logarithm and an exponential with more bits than a double has:
/// a power that a double has is exact.
llvm::Value *pow(KernelBuilder &b, llvm::Value *x, llvm::Value *y);
llvm::Value *sinh(KernelBuilder &b, llvm::Value *x);
llvm::Value *cosh(KernelBuilder &b, llvm::Value *x);
llvm::Value *tanh(KernelBuilder &b, llvm::Value *x);
llvm::Value *asinh(KernelBuilder &b, llvm::Value *x);
llvm::Value *acosh(KernelBuilder &b, llvm::Value *x);
llvm::Value *atanh(KernelBuilder &b, llvm::Value *x);
llvm::Value *tan(KernelBuilder &b, llvm::Value *x);
llvm::Value *asin(KernelBuilder &b, llvm::Value *x);
llvm::Value *acos(KernelBuilder &b, llvm::Value *x);
llvm::Value *atan(KernelBuilder &b, llvm::Value *x);
llvm::Value *erfc(KernelBuilder &b, llvm::Value *x);

} // namespace glowish::doublemath

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_DOUBLEMATH_H
