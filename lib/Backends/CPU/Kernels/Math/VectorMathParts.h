//===- VectorMathParts.h - What functions of vectors consist of -*- C++ -*-===//
//
// Of scalars and vectors of float and double alike.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_VECTORMATHPARTS_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_VECTORMATHPARTS_H

#include "Kernels/KernelBuilder.h"

namespace glowish::vectormath {

inline bool isDouble(llvm::Value *x) {
  return x->getType()->getScalarType()->isDoubleTy();
}

/// Returns a constant of the type of \p like.
llvm::Value *number(llvm::Value *like, double value);
llvm::Constant *integer(llvm::Type *type, uint64_t value);
/// Returns the integer type with as many bits and lanes as \p type.
llvm::Type *getIntLike(KernelBuilder &b, llvm::Type *type);

/// Emits c[0] + c[1] x + c[2] x^2 + ..., by Horner's rule.
llvm::Value *polynomial(KernelBuilder &b, llvm::Value *x,
                        llvm::ArrayRef<double> coefficients);
llvm::Value *copySign(KernelBuilder &b, llvm::Value *magnitude,
                      llvm::Value *sign);
/// Emits \p x limited to [low, high]; NaN stays NaN.
llvm::Value *limit(KernelBuilder &b, llvm::Value *x, double low, double high);

/// An integral number of the size of \p value, and its bits: an integer that
/// is larger than it by a constant, \p offset.
struct Rounded {
  llvm::Value *value, *bits;
  uint64_t offset;
};

/// Emits rint(x * factor), for results below 2^21 (float) or 2^50 (double).
Rounded roundScaled(KernelBuilder &b, llvm::Value *x, double factor);
/// Emits \p x * 2^n; denormal results and infinity come out right.
llvm::Value *scale(KernelBuilder &b, llvm::Value *x, const Rounded &n);

/// Emits the logarithm of \p x, any number: \p result where \p x is positive
/// and finite.
llvm::Value *finishLog(KernelBuilder &b, llvm::Value *x, llvm::Value *result);
/// Emits \p x to the power \p y, of double, with the sign that the result has:
/// \p power is that of |x|. NaN where \p x is negative and \p y no integer.
llvm::Value *finishPow(KernelBuilder &b, llvm::Value *x, llvm::Value *y,
                       llvm::Value *power);

} // namespace glowish::vectormath

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_VECTORMATHPARTS_H
