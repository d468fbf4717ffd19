//===- DoubleDouble.cpp - Sums of two doubles -----------------------------===//

#include "Kernels/Math/DoubleDouble.h"
#include "Kernels/Math/VectorMath.h"
#include "llvm/IR/Intrinsics.h"

using namespace glowish;
using namespace glowish::vectormath;
using llvm::Value;

/// Emits Knuth's sum of two numbers.
DoubleDouble DoubleDoubleBuilder::add(Value *x, Value *y) {
  Value *sum = b.CreateFAdd(x, y), *ofY = b.CreateFSub(sum, x);
  Value *lostX = b.CreateFSub(x, b.CreateFSub(sum, ofY));
  Value *lostY = b.CreateFSub(y, ofY);
  return {sum, b.CreateFAdd(lostX, lostY)};
}

DoubleDouble DoubleDoubleBuilder::addSmaller(Value *x, Value *y) {
  Value *sum = b.CreateFAdd(x, y);
  return {sum, b.CreateFSub(y, b.CreateFSub(sum, x))};
}

/// Emits two parts of \p x of 26 bits each (Veltkamp).
static DoubleDouble split(KernelBuilder &b, Value *x) {
  Value *scaled = b.CreateFMul(x, number(x, 0x1p27 + 1));
  Value *high = b.CreateFSub(scaled, b.CreateFSub(scaled, x));
  return {high, b.CreateFSub(x, high)};
}

DoubleDouble DoubleDoubleBuilder::multiply(Value *x, Value *y) {
  Value *rounded = b.CreateFMul(x, y);
  if (b.getTarget().hasFMA && b.hasArithmetic(x))
    return {rounded, b.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()},
                                       {x, y, b.CreateFNeg(rounded)})};
  DoubleDouble a = split(b, x), c = split(b, y);
  Value *lost = b.CreateFSub(b.CreateFMul(a.high, c.high), rounded);
  lost = b.CreateFAdd(lost, b.CreateFMul(a.high, c.low));
  lost = b.CreateFAdd(lost, b.CreateFMul(a.low, c.high));
  return {rounded, b.CreateFAdd(lost, b.CreateFMul(a.low, c.low))};
}

DoubleDouble DoubleDoubleBuilder::divide(DoubleDouble x, DoubleDouble y) {
  Value *quotient = b.CreateFDiv(x.high, y.high);
  DoubleDouble back = multiply(quotient, y.high);
  Value *rest = b.CreateFSub(x.high, back.high);
  rest = b.CreateFAdd(b.CreateFSub(rest, back.low), x.low);
  rest = b.CreateFSub(rest, b.CreateFMul(quotient, y.low));
  return {quotient, b.CreateFDiv(rest, y.high)};
}

DoubleDouble DoubleDoubleBuilder::sqrt(DoubleDouble x) {
  Value *root = vectormath::sqrt(b, x.high);
  DoubleDouble square = multiply(root, root);
  Value *rest = b.CreateFSub(x.high, square.high);
  rest = b.CreateFAdd(b.CreateFSub(rest, square.low), x.low);
  Value *isZero = b.CreateFCmpOEQ(root, number(root, 0));
  Value *twice = b.CreateFAdd(root, root);
  Value *divisor = b.CreateSelect(isZero, number(root, 1), twice);
  return {root, b.CreateFDiv(rest, divisor)};
}

// ln 2 in two parts: the first one has so few bits that 2^11 times it is exact.
static constexpr double log2High = 0x1.62e42fee00000p-1;
static constexpr double log2Low = 1.90821492927058770002e-10;

/// Emits it with high = 2^e m, m in [sqrt(1/2), sqrt(2)), and f = m - 1 it is e
/// ln 2 + 2 artanh(s), s = f / (2 + f): 2 s (1 + s^2 / 3 + s^4 / 5 + ...), of
/// which the first two terms need more bits than a double has.
DoubleDouble DoubleDoubleBuilder::log(DoubleDouble x) {
  llvm::Type *type = x.high->getType(), *intTy = getIntLike(b, type);
  constexpr uint64_t root = 0x3fe6a09e667f3bcd, shift = 52, bias = 1023;
  Value *bits = b.CreateBitCast(x.high, intTy);
  Value *exponent =
      b.CreateAShr(b.CreateSub(bits, integer(intTy, root)), shift);
  Value *e = b.CreateSIToFP(exponent, type);
  Value *mantissa =
      b.CreateBitCast(b.CreateSub(bits, b.CreateShl(exponent, shift)), type);
  // 2^-e, or 0 where that would be denormal.
  Value *inverse = b.CreateSub(integer(intTy, bias), exponent);
  inverse = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, inverse,
                                    integer(intTy, 0));
  inverse = b.CreateBitCast(b.CreateShl(inverse, shift), type);
  DoubleDouble f =
      add(b.CreateFSub(mantissa, number(e, 1)), b.CreateFMul(x.low, inverse));
  DoubleDouble divisor = addSmaller(number(e, 2), f.high);
  divisor.low = b.CreateFAdd(divisor.low, f.low);
  DoubleDouble s = divide(f, divisor), square = multiply(s.high, s.high);
  Value *crossed = b.CreateFMul(s.high, s.low);
  square.low = b.CreateFAdd(square.low, b.CreateFAdd(crossed, crossed));

  // s^4 / 5 + s^6 / 7 + ...
  static const double series[] = {1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11,
                                  1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19,
                                  1.0 / 21, 1.0 / 23, 1.0 / 25};
  Value *rest = b.CreateFMul(b.CreateFMul(square.high, square.high),
                             polynomial(b, square.high, series));
  // s^2 / 3
  constexpr double third = 1.0 / 3, thirdLow = 0x1.5555555555555p-56;
  DoubleDouble w = multiply(square.high, number(e, third));
  w.low = b.multiplyAdd(square.high, number(e, thirdLow),
                        b.multiplyAdd(square.low, number(e, third), w.low));
  DoubleDouble sum = addSmaller(w.high, rest);
  sum.low = b.CreateFAdd(sum.low, w.low);
  // 2 (s + s sum), and e ln 2.
  DoubleDouble tail = multiply(s.high, sum.high);
  tail.low =
      b.multiplyAdd(s.high, sum.low, b.multiplyAdd(s.low, sum.high, tail.low));
  auto twice = [&](Value *value) { return b.CreateFAdd(value, value); };
  DoubleDouble first = add(b.CreateFMul(e, number(e, log2High)), twice(s.high));
  DoubleDouble second = add(first.high, twice(tail.high));
  Value *low = b.CreateFAdd(twice(tail.low), twice(s.low));
  low = b.multiplyAdd(e, number(e, log2Low), low);
  low = b.CreateFAdd(b.CreateFAdd(low, first.low), second.low);
  return addSmaller(second.high, low);
}

/// Emits, with x = n ln 2 + r, 2^n (1 + r + r^2 / 2 + r^3 tail).
DoubleDoubleBuilder::Power DoubleDoubleBuilder::exp(DoubleDouble x) {
  static const double tail[] = {
      0.166666666666666839,   0.041666666666666504,    0.00833333333331674009,
      0.00138888888889808833, 0.000198412698969814435, 0.0000248015871287570344,
      2.75572343540402027e-6, 2.75574404371392019e-7,  2.51121912619678565e-8,
      2.08640967627719192e-9};
  Rounded n = roundScaled(b, x.high, 1.4426950408889634);
  Value *rest = b.multiplyAdd(n.value, number(x.high, -log2High), x.high);
  DoubleDouble r = add(rest, b.CreateFMul(n.value, number(x.high, -log2Low)));
  r.low = b.CreateFAdd(r.low, x.low);
  DoubleDouble square =
      multiply(r.high, b.CreateFMul(r.high, number(r.high, 0.5)));
  Value *cube = b.CreateFMul(square.high, b.CreateFAdd(r.high, r.high));
  cube = b.CreateFMul(cube, polynomial(b, r.high, tail));
  DoubleDouble linear = addSmaller(number(r.high, 1), r.high);
  DoubleDouble sum = addSmaller(linear.high, square.high);
  // e^(high + low) = e^high + low e^high
  Value *low = b.multiplyAdd(r.low, b.CreateFAdd(sum.high, cube), square.low);
  low =
      b.CreateFAdd(b.CreateFAdd(low, cube), b.CreateFAdd(sum.low, linear.low));
  return {n, addSmaller(sum.high, low)};
}
