//===- VectorMath.cpp - Functions of vectors without a library ------------===//

#include "VectorMath.h"
#include "llvm/IR/Intrinsics.h"

using namespace glowish;
using llvm::Value;

static bool isDouble(Value *x) {
  return x->getType()->getScalarType()->isDoubleTy();
}

static Value *number(Value *like, double value) {
  return llvm::ConstantFP::get(like->getType(), value);
}

/// c[0] + c[1] x + c[2] x^2 + ..., by Horner's rule.
static Value *polynomial(KernelBuilder &b, Value *x,
                         llvm::ArrayRef<double> coefficients) {
  Value *result = number(x, coefficients.back());
  for (double c : llvm::reverse(coefficients.drop_back()))
    result = b.multiplyAdd(result, x, number(x, c));
  return result;
}

/// The integer type with as many bits and lanes as \p type.
static llvm::Type *getIntLike(KernelBuilder &b, llvm::Type *type) {
  return type->getWithNewType(
      b.getIntNTy(type->getScalarType()->getPrimitiveSizeInBits()));
}

static Value *copySign(KernelBuilder &b, Value *magnitude, Value *sign) {
  return b.CreateIntrinsic(llvm::Intrinsic::copysign, {magnitude->getType()},
                           {magnitude, sign});
}

Value *vectormath::abs(KernelBuilder &b, Value *x) {
  return b.CreateIntrinsic(llvm::Intrinsic::fabs, {x->getType()}, {x});
}

Value *vectormath::sqrt(KernelBuilder &b, Value *x) {
  return b.CreateIntrinsic(llvm::Intrinsic::sqrt, {x->getType()}, {x});
}

/// Adding and taking away 1.5 * 2^(mantissa bits) rounds in the mode of the
/// machine, to nearest even.
Value *vectormath::rint(KernelBuilder &b, Value *x) {
  if (b.getTarget().hasRounding)
    return b.CreateIntrinsic(llvm::Intrinsic::rint, {x->getType()}, {x});
  Value *magic = number(x, isDouble(x) ? 0x1.8p52 : 0x1.8p23);
  Value *limit = number(x, isDouble(x) ? 0x1p51 : 0x1p22);
  Value *rounded = b.CreateFSub(b.CreateFAdd(x, magic), magic);
  Value *isSmall = b.CreateFCmpOLT(abs(b, x), limit);
  return b.CreateSelect(isSmall, copySign(b, rounded, x), x);
}

Value *vectormath::floor(KernelBuilder &b, Value *x) {
  if (b.getTarget().hasRounding)
    return b.CreateIntrinsic(llvm::Intrinsic::floor, {x->getType()}, {x});
  Value *near = rint(b, x);
  Value *lower = b.CreateFSub(near, number(x, 1));
  return b.CreateSelect(b.CreateFCmpOGT(near, x), lower, near);
}

Value *vectormath::ceil(KernelBuilder &b, Value *x) {
  if (b.getTarget().hasRounding)
    return b.CreateIntrinsic(llvm::Intrinsic::ceil, {x->getType()}, {x});
  return b.CreateFNeg(floor(b, b.CreateFNeg(x)));
}

/// 2^n for integral n in the range of normal numbers.
static Value *powerOfTwo(KernelBuilder &b, Value *n) {
  llvm::Type *intTy = getIntLike(b, n->getType());
  int64_t bias = isDouble(n) ? 1023 : 127, shift = isDouble(n) ? 52 : 23;
  Value *exponent = b.CreateAdd(b.CreateFPToSI(n, intTy),
                                llvm::ConstantInt::get(intTy, bias));
  return b.CreateBitCast(
      b.CreateShl(exponent, llvm::ConstantInt::get(intTy, shift)),
      n->getType());
}

Value *vectormath::exp(KernelBuilder &b, Value *x) {
  bool wide = isDouble(x);
  ElemKind kind = wide ? ElemKind::Double : ElemKind::Float;
  // Beyond these the result is infinite, or 0.
  Value *clamped = b.minimum(
      kind, b.maximum(kind, x, number(x, wide ? -750 : -106)),
      number(x, wide ? 720 : 90));
  Value *isNumber = b.CreateFCmpORD(x, x);
  clamped = b.CreateSelect(isNumber, clamped, number(x, 0));
  Value *n = rint(b, b.CreateFMul(clamped, number(x, 1.4426950408889634)));
  // ln 2 in two parts: the first has so few bits that n times it is exact.
  double high = wide ? 0x1.62e42fee00000p-1 : 0x1.62e4p-1;
  double low = wide ? 1.90821492927058770002e-10 : 1.42860682e-06;
  Value *r = b.multiplyAdd(n, number(x, -high), clamped);
  r = b.multiplyAdd(n, number(x, -low), r);
  static const double taylor[] = {
      1,           1,           1.0 / 2,        1.0 / 6,        1.0 / 24,
      1.0 / 120,   1.0 / 720,   1.0 / 5040,     1.0 / 40320,    1.0 / 362880,
      1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  Value *p = polynomial(b, r, llvm::ArrayRef(taylor).take_front(wide ? 14 : 8));
  // In two steps, so that denormal results and infinity come out right.
  Value *half = floor(b, b.CreateFMul(n, number(x, 0.5)));
  Value *rest = b.CreateFSub(n, half);
  Value *result = b.CreateFMul(b.CreateFMul(p, powerOfTwo(b, half)),
                               powerOfTwo(b, rest));
  return b.CreateSelect(isNumber, result, x);
}

Value *vectormath::log(KernelBuilder &b, Value *x) {
  bool wide = isDouble(x);
  llvm::Type *intTy = getIntLike(b, x->getType());
  auto integer = [&](uint64_t v) { return llvm::ConstantInt::get(intTy, v); };
  int64_t shift = wide ? 52 : 23;
  // Denormals are scaled up first.
  Value *isTiny =
      b.CreateFCmpOLT(x, number(x, wide ? 0x1p-1022 : 0x1p-126));
  Value *scaled = b.CreateSelect(
      isTiny, b.CreateFMul(x, number(x, wide ? 0x1p54 : 0x1p25)), x);
  Value *bits = b.CreateBitCast(scaled, intTy);
  // Mantissa in [sqrt(1/2), sqrt(2)).
  uint64_t root = wide ? 0x3fe6a09e667f3bcdull : 0x3f3504f3ull;
  Value *exponent = b.CreateAShr(b.CreateSub(bits, integer(root)), shift);
  Value *mantissa = b.CreateBitCast(
      b.CreateSub(bits, b.CreateShl(exponent, shift)), x->getType());
  Value *e = b.CreateSIToFP(exponent, x->getType());
  e = b.CreateSelect(isTiny, b.CreateFSub(e, number(x, wide ? 54 : 25)), e);
  Value *one = number(x, 1);
  Value *f = b.CreateFDiv(b.CreateFSub(mantissa, one),
                          b.CreateFAdd(mantissa, one));
  Value *f2 = b.CreateFMul(f, f);
  static const double series[] = {2.0,      2.0 / 3,  2.0 / 5,  2.0 / 7,
                                  2.0 / 9,  2.0 / 11, 2.0 / 13, 2.0 / 15,
                                  2.0 / 17, 2.0 / 19, 2.0 / 21};
  Value *p =
      polynomial(b, f2, llvm::ArrayRef(series).take_front(wide ? 11 : 6));
  Value *result = b.CreateFMul(f, p);
  double high = wide ? 0x1.62e42fee00000p-1 : 0x1.62e4p-1;
  double low = wide ? 1.90821492927058770002e-10 : 1.42860682e-06;
  result = b.multiplyAdd(e, number(x, low), result);
  result = b.multiplyAdd(e, number(x, high), result);
  double inf = std::numeric_limits<double>::infinity();
  result = b.CreateSelect(b.CreateFCmpOEQ(x, number(x, inf)), x, result);
  result = b.CreateSelect(b.CreateFCmpOEQ(x, number(x, 0)), number(x, -inf),
                          result);
  Value *isBad = b.CreateFCmpULT(x, number(x, 0)); // negative or NaN
  return b.CreateSelect(isBad, number(x, std::numeric_limits<double>::quiet_NaN()),
                        result);
}

Value *vectormath::tanh(KernelBuilder &b, Value *x) {
  Value *magnitude = abs(b, x);
  Value *e = exp(b, b.CreateFMul(magnitude, number(x, -2)));
  Value *one = number(x, 1);
  Value *large = copySign(
      b, b.CreateFDiv(b.CreateFSub(one, e), b.CreateFAdd(one, e)), x);
  static const double series[] = {
      1,
      -1.0 / 3,
      2.0 / 15,
      -17.0 / 315,
      62.0 / 2835,
      -1382.0 / 155925,
      21844.0 / 6081075,
      -929569.0 / 638512875};
  Value *x2 = b.CreateFMul(x, x);
  Value *small = b.CreateFMul(x, polynomial(b, x2, series));
  Value *isSmall =
      b.CreateFCmpOLT(magnitude, number(x, isDouble(x) ? 0.09 : 0.3));
  return b.CreateSelect(isSmall, small, large);
}

Value *vectormath::erf(KernelBuilder &b, Value *x) {
  assert(!isDouble(x) && "not accurate enough for double");
  Value *magnitude = abs(b, x), *one = number(x, 1);
  Value *x2 = b.CreateFMul(x, x);
  // 2 / sqrt(pi) * sum (-1)^n x^(2n+1) / (n! (2n+1)).
  std::vector<double> series;
  double factorial = 1;
  for (int n = 0; n < 11; ++n) {
    factorial *= n ? n : 1;
    series.push_back((n % 2 ? -1 : 1) * 1.1283791670955126 /
                     (factorial * (2 * n + 1)));
  }
  Value *small = b.CreateFMul(x, polynomial(b, x2, series));
  Value *t = b.CreateFDiv(
      one, b.multiplyAdd(magnitude, number(x, 0.3275911), one));
  Value *p = b.CreateFMul(t, polynomial(b, t,
                                        {0.254829592, -0.284496736,
                                         1.421413741, -1.453152027,
                                         1.061405429}));
  Value *tail = b.CreateFMul(p, exp(b, b.CreateFNeg(x2)));
  Value *large = copySign(b, b.CreateFSub(one, tail), x);
  Value *isSmall = b.CreateFCmpOLT(magnitude, one);
  Value *result = b.CreateSelect(isSmall, small, large);
  return b.CreateSelect(b.CreateFCmpUNO(x, x), x, result);
}

Value *vectormath::pow(KernelBuilder &b, Value *x, Value *y) {
  llvm::Type *narrow = x->getType();
  llvm::Type *wide = narrow->getWithNewType(b.getDoubleTy());
  if (!isDouble(x)) {
    x = b.CreateFPExt(x, wide);
    y = b.CreateFPExt(y, wide);
  }
  Value *power = exp(b, b.CreateFMul(y, log(b, abs(b, x))));
  Value *zero = number(x, 0), *one = number(x, 1);
  Value *isIntegral = b.CreateFCmpOEQ(rint(b, y), y);
  Value *half = b.CreateFMul(y, number(y, 0.5));
  Value *isOdd =
      b.CreateAnd(isIntegral, b.CreateFCmpONE(floor(b, half), half));
  Value *isNegative = b.CreateFCmpOLT(x, zero);
  Value *nan = number(x, std::numeric_limits<double>::quiet_NaN());
  Value *result = b.CreateSelect(
      isNegative,
      b.CreateSelect(isIntegral,
                     b.CreateSelect(isOdd, b.CreateFNeg(power), power), nan),
      power);
  Value *isOne = b.CreateOr(b.CreateFCmpOEQ(y, zero), b.CreateFCmpOEQ(x, one));
  result = b.CreateSelect(isOne, one, result);
  return narrow == wide ? result : b.CreateFPTrunc(result, narrow);
}
