//===- DoubleAngles.cpp - Tangents and inverse functions of doubles -------===//

#include "Kernels/Math/DoubleDouble.h"
#include "Kernels/Math/DoubleMath.h"
#include "Kernels/Math/LargeAngles.h"
#include "Kernels/Math/VectorMath.h"
#include <limits>

using namespace glowish;
using namespace glowish::vectormath;
using llvm::Value;

// pi and pi / 2 in two parts.
static constexpr double pi = 0x1.921fb54442d18p+1;
static constexpr double piLow = 0x1.1a62633145c07p-53;
static constexpr double halfPi = 0x1.921fb54442d18p+0;
static constexpr double halfPiLow = 0x1.1a62633145c07p-54;

//===- Tangent ------------------------------------------------------------===//

/// Emits \p x = n pi / 2 + rest, |rest| <= pi / 4. Of n only its last bit
/// counts.
static DoubleDouble reduceAngle(KernelBuilder &b, DoubleDoubleBuilder &d,
                                Value *x, Value *&n) {
  Rounded rounded = roundScaled(b, x, 0.63661977236758134);
  // pi / 2 in parts; n times one of 33 bits is exact for n up to 2^20.
  Value *rest = b.multiplyAdd(rounded.value, number(x, -0x1.921fb544p+0), x);
  DoubleDouble sum =
      d.add(rest, b.CreateFMul(rounded.value, number(x, -0x1.0b4611a6p-34)));
  DoubleDouble third =
      d.multiply(rounded.value, number(x, -0x1.3198a2e037073p-69));
  DoubleDouble result = d.add(sum.high, third.high);
  result.low = b.CreateFAdd(b.CreateFAdd(result.low, sum.low), third.low);
  Angle angle = emitLargeAngles(
      b, x, {rounded.bits, d.addSmaller(result.high, result.low)});
  n = angle.quarters;
  return angle.rest;
}

/// Emits sin(rest) / cos(rest), or minus its reciprocal where n is odd.
Value *doublemath::tan(KernelBuilder &b, Value *x) {
  DoubleDoubleBuilder d(b);
  Value *n;
  DoubleDouble rest = reduceAngle(b, d, x, n);
  Value *square = b.CreateFMul(rest.high, rest.high);
  // rest + rest^3 (-1 / 6 + ...)
  Value *cubic = polynomial(b, square,
                            {-0.166666666666666305, 0.00833333333332205656,
                             -0.000198412698295389442, 2.75573136034434433e-6,
                             -2.5050744889266122e-8, 1.58960598032962002e-10});
  Value *cube = b.CreateFMul(square, rest.high);
  DoubleDouble sine =
      d.addSmaller(rest.high, b.multiplyAdd(cube, cubic, rest.low));
  // 1 - rest^2 / 2 + rest^4 (1 / 24 - ...)
  Value *quartic = polynomial(
      b, square,
      {0.0416666666666665924, -0.00138888888888729716, 0.0000248015872887976842,
       -2.755731416337379e-7, 2.0875698634339453e-9, -1.13584199950779506e-11});
  DoubleDouble half =
      d.multiply(rest.high, b.CreateFMul(rest.high, number(x, -0.5)));
  DoubleDouble cosine = d.addSmaller(number(x, 1), half.high);
  Value *low = b.multiplyAdd(b.CreateFMul(square, square), quartic, half.low);
  low = b.CreateFSub(low, b.CreateFMul(rest.high, rest.low));
  cosine = d.addSmaller(cosine.high, b.CreateFAdd(cosine.low, low));
  llvm::Type *intTy = n->getType();
  Value *isOdd =
      b.CreateICmpNE(b.CreateAnd(n, integer(intTy, 1)), integer(intTy, 0));
  auto choose = [&](DoubleDouble ifOdd, DoubleDouble ifEven) -> DoubleDouble {
    return {b.CreateSelect(isOdd, ifOdd.high, ifEven.high),
            b.CreateSelect(isOdd, ifOdd.low, ifEven.low)};
  };
  Value *result =
      d.round(d.divide(choose(d.negate(cosine), sine), choose(sine, cosine)));
  // 0 keeps its sign.
  return b.CreateSelect(b.CreateFCmpOEQ(x, number(x, 0)), x, result);
}

//===- Sine and cosine, inverse -------------------------------------------===//

/// Emits (asin(r) / r - 1) / r^2 for r^2 = \p t up to 1/4.
static Value *arcsineTail(KernelBuilder &b, Value *t) {
  return polynomial(
      b, t,
      {0.166666666666667606, 0.0749999999997073505, 0.0446428571746745936,
       0.0303819427048670791, 0.0223722150676340422, 0.0173516105992485826,
       0.0139808373795187702, 0.0113987748718124832, 0.010781021995588102,
       0.0037035055263149075, 0.0217144991691528852, -0.0210090135030950925,
       0.0326348210685322939});
}

namespace {
/// asin of r = root, which is sqrt((1 - m) / 2), as root + rest.
struct HalfArc {
  DoubleDouble root;
  Value *rest;
};
} // namespace

static HalfArc halfArc(KernelBuilder &b, DoubleDoubleBuilder &d, Value *m) {
  // Exact: m is from 1/2 to 1.
  Value *t = b.CreateFMul(b.CreateFSub(number(m, 1), m), number(m, 0.5));
  DoubleDouble root = d.sqrt({t, number(m, 0)});
  Value *rest = b.CreateFMul(b.CreateFMul(root.high, t), arcsineTail(b, t));
  return {root, b.CreateFAdd(rest, root.low)};
}

/// Emits x + x^3 tail(x^2) for |x| up to 1/2, and else pi / 2 less twice the
/// arc of sqrt((1 - |x|) / 2).
Value *doublemath::asin(KernelBuilder &b, Value *x) {
  DoubleDoubleBuilder d(b);
  Value *m = vectormath::abs(b, x), *square = b.CreateFMul(x, x);
  Value *near =
      b.multiplyAdd(b.CreateFMul(square, x), arcsineTail(b, square), x);
  HalfArc half = halfArc(b, d, m);
  Value *minusTwo = number(x, -2);
  DoubleDouble sum =
      d.add(number(x, halfPi), b.CreateFMul(half.root.high, minusTwo));
  Value *low = b.multiplyAdd(half.rest, minusTwo, number(x, halfPiLow));
  Value *far = b.CreateFAdd(sum.high, b.CreateFAdd(sum.low, low));
  Value *isNear = b.CreateFCmpOLE(m, number(x, 0.5));
  return b.CreateSelect(isNear, near, copySign(b, far, x));
}

/// Emits pi / 2 less asin x for |x| up to 1/2, and else twice the arc of
/// sqrt((1 - |x|) / 2), and for negative x pi less that.
Value *doublemath::acos(KernelBuilder &b, Value *x) {
  DoubleDoubleBuilder d(b);
  Value *m = vectormath::abs(b, x), *square = b.CreateFMul(x, x);
  DoubleDouble sum = d.add(number(x, halfPi), b.CreateFNeg(x));
  Value *tail = b.CreateFMul(b.CreateFMul(square, x), arcsineTail(b, square));
  Value *low = b.CreateFSub(b.CreateFAdd(sum.low, number(x, halfPiLow)), tail);
  Value *near = b.CreateFAdd(sum.high, low);
  HalfArc half = halfArc(b, d, m);
  Value *two = number(x, 2), *minusTwo = number(x, -2);
  Value *right = b.CreateFMul(b.CreateFAdd(half.root.high, half.rest), two);
  DoubleDouble left =
      d.add(number(x, pi), b.CreateFMul(half.root.high, minusTwo));
  Value *leftLow = b.multiplyAdd(half.rest, minusTwo, number(x, piLow));
  Value *ofLeft = b.CreateFAdd(left.high, b.CreateFAdd(left.low, leftLow));
  Value *isLeft = b.CreateFCmpOLT(x, number(x, 0));
  Value *isNear = b.CreateFCmpOLE(m, number(x, 0.5));
  return b.CreateSelect(isNear, near, b.CreateSelect(isLeft, ofLeft, right));
}

//===- Tangent, inverse ---------------------------------------------------===//

/// Emits atan c + atan((m - c) / (1 + c m)) with a c near m = |x|: 0, 1/2, 1,
/// 3/2; or pi / 2 + atan(-1 / m). The second argument is 7/16 at most.
Value *doublemath::atan(KernelBuilder &b, Value *x) {
  DoubleDoubleBuilder d(b);
  Value *m = vectormath::abs(b, x), *one = number(x, 1);
  struct Segment {
    double begin, center, angle, angleLow;
  };
  static constexpr Segment segments[] = {
      {7.0 / 16, 0.5, 0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
      {11.0 / 16, 1, 0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},
      {19.0 / 16, 1.5, 0x1.f730bd281f69bp-1, 0x1.007887af0cbbdp-56}};
  Value *above = m, *below = one;
  Value *angle = number(x, 0), *angleLow = angle;
  auto replace = [&](Value *isInside, Value *newAbove, Value *newBelow,
                     double newAngle, double newLow) {
    above = b.CreateSelect(isInside, newAbove, above);
    below = b.CreateSelect(isInside, newBelow, below);
    angle = b.CreateSelect(isInside, number(x, newAngle), angle);
    angleLow = b.CreateSelect(isInside, number(x, newLow), angleLow);
  };
  for (const Segment &each : segments)
    replace(b.CreateFCmpOGE(m, number(x, each.begin)),
            b.CreateFSub(m, number(x, each.center)),
            b.multiplyAdd(m, number(x, each.center), one), each.angle,
            each.angleLow);
  replace(b.CreateFCmpOGE(m, number(x, 39.0 / 16)), number(x, -1), m, halfPi,
          halfPiLow);
  Value *z = b.CreateFDiv(above, below), *square = b.CreateFMul(z, z);
  // z - z^3 (1 / 3 - ...)
  Value *tail = polynomial(
      b, square,
      {0.333333333333333138, -0.19999999999992973, 0.142857142848334156,
       -0.111111110556358181, 0.0909090703848321878, -0.0769225918121022369,
       0.0666589822210012664, -0.058739830675901408, 0.0519990873617665251,
       -0.0443236051435708482, 0.0319039289662334595, -0.0136819841064382752});
  Value *low =
      b.CreateFSub(angleLow, b.CreateFMul(b.CreateFMul(square, z), tail));
  Value *result = b.CreateFAdd(angle, b.CreateFAdd(z, low));
  return copySign(b, result, x);
}
