//===- DoubleDouble.h - Sums of two doubles ---------------------*- C++ -*-===//
//
// Arithmetic with some 100 bits on scalars and vectors of double: a number is
// the sum of two doubles, of which the second one has what the first one has
// lost by rounding (Dekker, A Floating-Point Technique for Extending the
// Available Precision, 1971).
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_DOUBLEDOUBLE_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_DOUBLEDOUBLE_H

#include "Kernels/Math/VectorMathParts.h"

namespace glowish {

struct DoubleDouble {
  llvm::Value *high, *low;
};

/// Emits operations that are rounded as they are written: none is contracted
/// with another while it exists. Numbers are finite, and far from overflow.
class DoubleDoubleBuilder {
public:
  explicit DoubleDoubleBuilder(KernelBuilder &b) : b(b), guard(b) {
    b.clearFastMathFlags();
  }

  /// \name Exact, but for multiplications with results below 2^-969
  /// @{
  DoubleDouble add(llvm::Value *x, llvm::Value *y);
  /// |x| is at least |y|, or x is 0.
  DoubleDouble addSmaller(llvm::Value *x, llvm::Value *y);
  DoubleDouble multiply(llvm::Value *x, llvm::Value *y);
  /// @}

  /// \name With relative errors of some 2^-100
  /// @{
  DoubleDouble divide(DoubleDouble x, DoubleDouble y);
  /// 0 has the root 0.
  DoubleDouble sqrt(DoubleDouble x);
  /// @}

  /// Emits ln x of a positive number, high being normal; the relative error is
  /// 2^-63 at most.
  DoubleDouble log(DoubleDouble x);

  /// 2^n p.
  struct Power {
    vectormath::Rounded n;
    DoubleDouble p;
  };
  /// Emits e^x, p being from 0.7 to 1.42, with a relative error of 2^-60. The
  /// magnitude of high is 1000 at most.
  Power exp(DoubleDouble x);

  /// Emits high + low.
  llvm::Value *round(DoubleDouble x) { return b.CreateFAdd(x.high, x.low); }
  DoubleDouble negate(DoubleDouble x) {
    return {b.CreateFNeg(x.high), b.CreateFNeg(x.low)};
  }

private:
  KernelBuilder &b;
  llvm::IRBuilderBase::FastMathFlagGuard guard;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_DOUBLEDOUBLE_H
