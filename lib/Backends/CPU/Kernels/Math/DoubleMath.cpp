//===- DoubleMath.cpp - Exponentials and logarithms of doubles ------------===//

#include "Kernels/Math/DoubleMath.h"
#include "Kernels/Math/DoubleDouble.h"
#include "Kernels/Math/VectorMath.h"
#include "glowish/Ops/ErrorFunction.h"
#include <limits>

using namespace glowish;
using namespace glowish::vectormath;
using llvm::Value;

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

static Value *zero(Value *like) { return number(like, 0); }

//===- Exponentials -------------------------------------------------------===//

/// Emits the parts of 2^shift e^x.
static DoubleDouble scaledPower(KernelBuilder &b, DoubleDoubleBuilder &d,
                                DoubleDouble x, int shift) {
  DoubleDoubleBuilder::Power power = d.exp(x);
  Rounded n = power.n;
  n.value = b.CreateFAdd(n.value, number(n.value, shift));
  n.bits = b.CreateAdd(n.bits, integer(n.bits->getType(), uint64_t(shift)));
  return {scale(b, power.p.high, n), scale(b, power.p.low, n)};
}

/// Emits e^x - 1 of x within limits that keep it finite.
static DoubleDouble powerLessOne(KernelBuilder &b, DoubleDoubleBuilder &d,
                                 Value *x) {
  DoubleDouble power = scaledPower(b, d, {x, zero(x)}, 0);
  DoubleDouble result = d.add(power.high, number(x, -1));
  result.low = b.CreateFAdd(result.low, power.low);
  return result;
}

Value *doublemath::expm1(KernelBuilder &b, Value *x) {
  DoubleDoubleBuilder d(b);
  Value *power = d.round(powerLessOne(b, d, limit(b, x, -40, 720)));
  // What has become infinite has no difference from 1.
  Value *isLarge = b.CreateFCmpOGT(x, number(x, 40));
  return copySign(b, b.CreateSelect(isLarge, exp(b, x), power), x);
}

Value *doublemath::pow(KernelBuilder &b, Value *x, Value *y) {
  DoubleDoubleBuilder d(b);
  Value *magnitude = vectormath::abs(b, x);
  // Denormals are scaled up first.
  Value *isTiny = b.CreateFCmpOLT(magnitude, number(x, 0x1p-1022));
  Value *scaled = b.CreateSelect(
      isTiny, b.CreateFMul(magnitude, number(x, 0x1p54)), magnitude);
  DoubleDouble log = d.log({scaled, zero(x)});
  // 54 ln 2
  Value *lost =
      b.CreateSelect(isTiny, number(x, -0x1.2b708872320e2p+5), zero(x));
  Value *lostLow =
      b.CreateSelect(isTiny, number(x, 0x1.570da7e077bcbp-50), zero(x));
  Value *low = b.CreateFAdd(log.low, lostLow);
  log = d.add(log.high, lost);
  log.low = b.CreateFAdd(log.low, low);
  Value *high = finishLog(b, magnitude, log.high);
  // The logarithm is 0 or at least 2^-53: a larger exponent is as good as this.
  Value *exponent = limit(b, y, -0x1p65, 0x1p65);
  DoubleDouble scaledLog = d.multiply(exponent, high);
  scaledLog.low = b.multiplyAdd(exponent, log.low, scaledLog.low);
  // The lower part of an infinite number is NaN.
  Value *isSmall =
      b.CreateFCmpOLT(vectormath::abs(b, scaledLog.high), number(x, 1000));
  scaledLog.low = b.CreateSelect(isSmall, scaledLog.low, zero(x));
  scaledLog.high = limit(b, scaledLog.high, -750, 720);
  // x^0 and 1^y are 1 for infinity and NaN too.
  Value *isOne =
      b.CreateOr(b.CreateFCmpOEQ(y, zero(y)), b.CreateFCmpOEQ(high, zero(x)));
  scaledLog.high = b.CreateSelect(isOne, zero(x), scaledLog.high);
  scaledLog.low = b.CreateSelect(isOne, zero(x), scaledLog.low);
  DoubleDoubleBuilder::Power power = d.exp(scaledLog);
  return finishPow(b, x, y, scale(b, d.round(power.p), power.n));
}

/// Emits e^|x| / 2 and e^-|x| / 2, up to where the first one is infinite.
static std::pair<DoubleDouble, Value *>
halfPowers(KernelBuilder &b, DoubleDoubleBuilder &d, Value *x) {
  Value *magnitude = limit(b, vectormath::abs(b, x), 0, 720);
  DoubleDouble power = scaledPower(b, d, {magnitude, zero(x)}, -1);
  return {power, b.CreateFDiv(number(x, 0.25), power.high)};
}

Value *doublemath::sinh(KernelBuilder &b, Value *x) {
  DoubleDoubleBuilder d(b);
  auto [power, inverse] = halfPowers(b, d, x);
  DoubleDouble sum = d.add(power.high, b.CreateFNeg(inverse));
  Value *far = b.CreateFAdd(sum.high, b.CreateFAdd(sum.low, power.low));
  far = b.CreateSelect(b.CreateFCmpOEQ(power.high, number(x, infinity)),
                       power.high, far);
  // x + x^3 / 3! + x^5 / 5! + ...
  static const double series[] = {1.0 / 6,
                                  1.0 / 120,
                                  1.0 / 5040,
                                  1.0 / 362880,
                                  1.0 / 39916800,
                                  1.0 / 6227020800,
                                  1.0 / 1307674368000,
                                  1.0 / 355687428096000,
                                  1.0 / 121645100408832000};
  Value *square = b.CreateFMul(x, x), *cube = b.CreateFMul(square, x);
  Value *near = b.multiplyAdd(cube, polynomial(b, square, series), x);
  Value *isNear = b.CreateFCmpOLT(vectormath::abs(b, x), number(x, 1));
  return b.CreateSelect(isNear, near, copySign(b, far, x));
}

Value *doublemath::cosh(KernelBuilder &b, Value *x) {
  DoubleDoubleBuilder d(b);
  auto [power, inverse] = halfPowers(b, d, x);
  DoubleDouble sum = d.addSmaller(power.high, inverse);
  Value *result = b.CreateFAdd(sum.high, b.CreateFAdd(sum.low, power.low));
  return b.CreateSelect(b.CreateFCmpOEQ(power.high, number(x, infinity)),
                        power.high, result);
}

/// Emits m / (m + 2) with m = e^2|x| - 1.
Value *doublemath::tanh(KernelBuilder &b, Value *x) {
  DoubleDoubleBuilder d(b);
  Value *magnitude = limit(b, vectormath::abs(b, x), 0, 22);
  DoubleDouble power = powerLessOne(b, d, b.CreateFAdd(magnitude, magnitude));
  DoubleDouble divisor = d.add(power.high, number(x, 2));
  divisor.low = b.CreateFAdd(divisor.low, power.low);
  return copySign(b, d.round(d.divide(power, divisor)), x);
}

//===- Logarithms ---------------------------------------------------------===//

Value *doublemath::log1p(KernelBuilder &b, Value *x) {
  DoubleDoubleBuilder d(b);
  DoubleDouble sum = d.add(number(x, 1), x);
  Value *result = finishLog(b, sum.high, d.round(d.log(sum)));
  return copySign(b, result, x);
}

/// Emits ln(x + sqrt(x^2 + sign)) of x >= 0.
static Value *logOfSumWithRoot(KernelBuilder &b, Value *x, double sign) {
  DoubleDoubleBuilder d(b);
  // From here on the root is x, and the result ln(2 x).
  Value *isLarge = b.CreateFCmpOGT(x, number(x, 0x1p30));
  Value *limited = b.CreateSelect(isLarge, number(x, 1), x);
  DoubleDouble square = d.multiply(limited, limited);
  DoubleDouble inner = d.add(square.high, number(x, sign));
  inner = d.add(inner.high, b.CreateFAdd(inner.low, square.low));
  DoubleDouble root = d.sqrt(inner);
  DoubleDouble sum = d.add(limited, root.high);
  sum.low = b.CreateFAdd(sum.low, root.low);
  sum.high = b.CreateSelect(isLarge, x, sum.high);
  sum.low = b.CreateSelect(isLarge, zero(x), sum.low);
  DoubleDouble log = d.log(sum);
  // ln 2
  Value *added =
      b.CreateSelect(isLarge, number(x, 0x1.62e42fefa39efp-1), zero(x));
  DoubleDouble result = d.add(log.high, added);
  result.low = b.CreateFAdd(result.low, log.low);
  return finishLog(b, sum.high, d.round(result));
}

Value *doublemath::asinh(KernelBuilder &b, Value *x) {
  return copySign(b, logOfSumWithRoot(b, vectormath::abs(b, x), 1), x);
}

Value *doublemath::acosh(KernelBuilder &b, Value *x) {
  Value *result = logOfSumWithRoot(b, x, -1);
  // Below 1 the root is NaN; -x, too, has one where x is less than -1.
  Value *isInside = b.CreateFCmpOGE(x, number(x, 1));
  return b.CreateSelect(isInside, result, number(x, notANumber));
}

/// Emits ln((1 + m) / (1 - m)) / 2 of m = |x| with the sign of x.
Value *doublemath::atanh(KernelBuilder &b, Value *x) {
  DoubleDoubleBuilder d(b);
  Value *magnitude = vectormath::abs(b, x), *one = number(x, 1);
  DoubleDouble ratio =
      d.divide(d.add(one, magnitude), d.add(one, b.CreateFNeg(magnitude)));
  Value *log = finishLog(b, ratio.high, d.round(d.log(ratio)));
  return copySign(b, b.CreateFMul(log, number(x, 0.5)), x);
}

//===- The error function -------------------------------------------------===//

/// Emits e^-m^2 / (1 + 2 m) times a polynomial of (m - 2.5) / (m + 2.5).
static Value *erfcFar(KernelBuilder &b, Value *m) {
  using namespace errorfunction;
  DoubleDoubleBuilder d(b);
  DoubleDoubleBuilder::Power gauss = d.exp(d.negate(d.multiply(m, m)));
  Value *u = b.CreateFDiv(b.CreateFSub(m, number(m, complementCenter)),
                          b.CreateFAdd(m, number(m, complementCenter)));
  llvm::ArrayRef<double> terms(complementFar);
  DoubleDouble smooth =
      d.addSmaller(number(m, terms.front()),
                   b.CreateFMul(u, polynomial(b, u, terms.drop_front())));
  DoubleDouble quotient =
      d.divide(smooth, d.add(b.CreateFAdd(m, m), number(m, 1)));
  DoubleDouble result = d.multiply(gauss.p.high, quotient.high);
  Value *low = b.multiplyAdd(gauss.p.low, quotient.high, result.low);
  low = b.multiplyAdd(gauss.p.high, quotient.low, low);
  return scale(b, b.CreateFAdd(result.high, low), gauss.n);
}

/// Emits, near 0, 1 less the odd series of erf, and for negative numbers 2 less
/// the result of |x|.
Value *doublemath::erfc(KernelBuilder &b, Value *x) {
  using namespace errorfunction;
  Value *magnitude = vectormath::abs(b, x);
  Value *far = erfcFar(b, limit(b, magnitude, complementStart, 28));
  Value *isNegative = b.CreateFCmpOLT(x, zero(x));
  far = b.CreateSelect(isNegative, b.CreateFSub(number(x, 2), far), far);
  Value *near = b.CreateFMul(x, polynomial(b, b.CreateFMul(x, x), doubleNear));
  Value *isNear = b.CreateFCmpOLT(magnitude, number(x, complementStart));
  return b.CreateSelect(isNear, b.CreateFSub(number(x, 1), near), far);
}
