//===- VectorMath.h - Functions of vectors without a library --*- C++ -*-===//
//
// Scalars and vectors of float and double alike. Generated code calls no
// libm. Errors are in units in the last place, measured over the finite range.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_VECTORMATH_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_VECTORMATH_H

#include "KernelBuilder.h"

namespace glowish::vectormath {

/// e^x: n = rint(x / ln 2), then a Taylor polynomial of x - n ln 2.
llvm::Value *exp(KernelBuilder &b, llvm::Value *x);
/// ln x: exponent and 2 artanh((m - 1) / (m + 1)) of the mantissa.
llvm::Value *log(KernelBuilder &b, llvm::Value *x);
/// (1 - e^-2|x|) / (1 + e^-2|x|), a polynomial near 0.
llvm::Value *tanh(KernelBuilder &b, llvm::Value *x);
/// Float only: the Taylor series up to 1, then 7.1.26 of Abramowitz and
/// Stegun.
llvm::Value *erf(KernelBuilder &b, llvm::Value *x);
/// x^y of floats, computed in double; negative x for integral y.
llvm::Value *pow(KernelBuilder &b, llvm::Value *x, llvm::Value *y);
llvm::Value *sqrt(KernelBuilder &b, llvm::Value *x);
llvm::Value *floor(KernelBuilder &b, llvm::Value *x);
llvm::Value *ceil(KernelBuilder &b, llvm::Value *x);
/// To the nearest integer, ties to even.
llvm::Value *rint(KernelBuilder &b, llvm::Value *x);
llvm::Value *abs(KernelBuilder &b, llvm::Value *x);

} // namespace glowish::vectormath

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_VECTORMATH_H
