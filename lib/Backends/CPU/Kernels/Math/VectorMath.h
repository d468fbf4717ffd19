//===- VectorMath.h - Functions of vectors without a library ----*- C++ -*-===//
//
// Scalars and vectors of float and double alike; DoubleMath.h has more
// functions of double. Generated code calls no libm. Errors are in units in the
// last place, the largest that tests/unit/VectorMathTest.cpp allows over all
// floats, on targets with and without fused multiply-adds; docs/performance.md
// has a table of them. Polynomials and quotients of polynomials come from
// scripts/fit-math.py.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_VECTORMATH_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_VECTORMATH_H

#include "Kernels/KernelBuilder.h"

namespace glowish::vectormath {

/// e^x: n = rint(x / ln 2), then a polynomial of x - n ln 2. Denormal results
/// are right.
llvm::Value *exp(KernelBuilder &b, llvm::Value *x);
/// Emits e^x - 1. Float: the same polynomial, to which 1 - 2^-n is added before
/// the sum is multiplied by 2^n.
llvm::Value *expm1(KernelBuilder &b, llvm::Value *x);
/// ln x: the exponent, and of the mantissa m a polynomial of m - 1 (float) or
/// 2 artanh((m - 1) / (m + 1)) (double).
llvm::Value *log(KernelBuilder &b, llvm::Value *x);
/// Emits ln(1 + x). Float: ln of u = 1 + x, and (x - (u - 1)) / u for what u
/// lost by rounding.
llvm::Value *log1p(KernelBuilder &b, llvm::Value *x);
/// Float: a quotient of polynomials. Double: m / (m + 2) with m = e^2|x| - 1.
llvm::Value *tanh(KernelBuilder &b, llvm::Value *x);
/// Float: a quotient of polynomials; on AVX-512 x times one of 16 polynomials.
/// Double: a polynomial up to 1, then 1 - e^-x^2 times a polynomial of
/// (|x| - 2) / (|x| + 2).
llvm::Value *erf(KernelBuilder &b, llvm::Value *x);
/// Emits 1 - erf x, of floats in double.
llvm::Value *erfc(KernelBuilder &b, llvm::Value *x);
/// Of floats too, n = rint(x / (pi / 2)) and x - n pi / 2 are computed in
/// double, for |x| above 2^20 pi / 2 = 1.6e6 as in LargeAngles.h.
llvm::Value *sin(KernelBuilder &b, llvm::Value *x);
llvm::Value *cos(KernelBuilder &b, llvm::Value *x);
/// Float: twice the half-angle formula, then the series of atan up to 0.2.
llvm::Value *atan(KernelBuilder &b, llvm::Value *x);
/// x^y, of floats computed in double; negative x for integral y.
llvm::Value *pow(KernelBuilder &b, llvm::Value *x, llvm::Value *y);
/// Rounded correctly, as are those that follow.
llvm::Value *sqrt(KernelBuilder &b, llvm::Value *x);
/// The same in integers, for targets without an instruction for it.
llvm::Value *sqrtByDigits(KernelBuilder &b, llvm::Value *x);
llvm::Value *floor(KernelBuilder &b, llvm::Value *x);
llvm::Value *ceil(KernelBuilder &b, llvm::Value *x);
/// To the nearest integer, ties to even.
llvm::Value *rint(KernelBuilder &b, llvm::Value *x);
llvm::Value *abs(KernelBuilder &b, llvm::Value *x);

} // namespace glowish::vectormath

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_VECTORMATH_H
