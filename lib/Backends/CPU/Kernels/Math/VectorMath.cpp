//===- VectorMath.cpp - Functions of vectors without a library ------------===//

#include "Kernels/Math/VectorMath.h"
#include "Kernels/Math/DoubleMath.h"
#include "Kernels/Math/LargeAngles.h"
#include "Kernels/Math/VectorMathParts.h"
#include "glowish/Ops/ErrorFunction.h"
#include "llvm/IR/IntrinsicsX86.h"

using namespace glowish;
using namespace glowish::vectormath;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

Value *vectormath::number(Value *like, double value) {
  return llvm::ConstantFP::get(like->getType(), value);
}

Value *vectormath::polynomial(KernelBuilder &b, Value *x,
                              llvm::ArrayRef<double> coefficients) {
  Value *result = number(x, coefficients.back());
  for (double c : llvm::reverse(coefficients.drop_back()))
    result = b.multiplyAdd(result, x, number(x, c));
  return result;
}

llvm::Type *vectormath::getIntLike(KernelBuilder &b, llvm::Type *type) {
  return type->getWithNewType(
      b.getIntNTy(type->getScalarType()->getPrimitiveSizeInBits()));
}

Value *vectormath::copySign(KernelBuilder &b, Value *magnitude, Value *sign) {
  return b.CreateIntrinsic(Intrinsic::copysign, {magnitude->getType()},
                           {magnitude, sign});
}

Value *vectormath::abs(KernelBuilder &b, Value *x) {
  return b.CreateIntrinsic(Intrinsic::fabs, {x->getType()}, {x});
}

Value *vectormath::sqrt(KernelBuilder &b, Value *x) {
  if (!b.hasArithmetic(x))
    return sqrtByDigits(b, x);
  return b.CreateIntrinsic(Intrinsic::sqrt, {x->getType()}, {x});
}

static bool hasRounding(KernelBuilder &b, Value *x) {
  return b.getTarget().hasRounding && b.hasArithmetic(x);
}

/// Adding 2^(mantissa bits) to a magnitude below it, and taking that away,
/// rounds in the mode of the machine, to nearest even. Larger numbers have no
/// fractions.
Value *vectormath::rint(KernelBuilder &b, Value *x) {
  if (hasRounding(b, x))
    return b.CreateIntrinsic(Intrinsic::rint, {x->getType()}, {x});
  Value *magic = number(x, isDouble(x) ? 0x1p52 : 0x1p23);
  Value *magnitude = abs(b, x);
  Value *rounded = b.CreateFSub(b.CreateFAdd(magnitude, magic), magic);
  Value *isSmall = b.CreateFCmpOLT(magnitude, magic);
  return b.CreateSelect(isSmall, copySign(b, rounded, x), x);
}

Value *vectormath::floor(KernelBuilder &b, Value *x) {
  if (hasRounding(b, x))
    return b.CreateIntrinsic(Intrinsic::floor, {x->getType()}, {x});
  Value *near = rint(b, x);
  Value *lower = b.CreateFSub(near, number(x, 1));
  return b.CreateSelect(b.CreateFCmpOGT(near, x), lower, near);
}

Value *vectormath::ceil(KernelBuilder &b, Value *x) {
  if (hasRounding(b, x))
    return b.CreateIntrinsic(Intrinsic::ceil, {x->getType()}, {x});
  return b.CreateFNeg(floor(b, b.CreateFNeg(x)));
}

Value *vectormath::limit(KernelBuilder &b, Value *x, double low, double high) {
  Value *least = number(x, low), *most = number(x, high);
  x = b.CreateSelect(b.CreateFCmpOLT(x, least), least, x);
  return b.CreateSelect(b.CreateFCmpOGT(x, most), most, x);
}

llvm::Constant *vectormath::integer(llvm::Type *type, uint64_t value) {
  return llvm::ConstantInt::get(type, value);
}

/// The fraction bits fall out of the sum with 1.5 * 2^(mantissa bits).
Rounded vectormath::roundScaled(KernelBuilder &b, Value *x, double factor) {
  bool wide = isDouble(x);
  Value *magic = number(x, wide ? 0x1.8p52 : 0x1.8p23);
  Value *sum = b.multiplyAdd(x, number(x, factor), magic);
  Value *bits = b.CreateBitCast(sum, getIntLike(b, x->getType()));
  uint64_t offset = wide ? 0x4338000000000000 : 0x4b400000; // magic's bits
  return {b.CreateFSub(sum, magic), bits, offset};
}

/// Returns -n.
static Rounded negate(KernelBuilder &b, const Rounded &n) {
  Value *twice = integer(n.bits->getType(), 2 * n.offset);
  return {b.CreateFNeg(n.value), b.CreateSub(twice, n.bits), n.offset};
}

/// AVX-512's vscalef for the type of \p x, or none.
static Intrinsic::ID findScaleInstr(KernelBuilder &b, Value *x) {
  if (!b.getTarget().hasAVX512)
    return Intrinsic::not_intrinsic;
  bool wide = isDouble(x);
  switch (x->getType()->getPrimitiveSizeInBits()) {
  case 128:
    return wide ? Intrinsic::x86_avx512_mask_scalef_pd_128
                : Intrinsic::x86_avx512_mask_scalef_ps_128;
  case 256:
    return wide ? Intrinsic::x86_avx512_mask_scalef_pd_256
                : Intrinsic::x86_avx512_mask_scalef_ps_256;
  case 512:
    return wide ? Intrinsic::x86_avx512_mask_scalef_pd_512
                : Intrinsic::x86_avx512_mask_scalef_ps_512;
  default:
    return Intrinsic::not_intrinsic;
  }
}

static Value *scaleByInstr(KernelBuilder &b, Intrinsic::ID instr, Value *x,
                           const Rounded &n) {
  unsigned maskBits = std::max(KernelBuilder::getLanes(x), 8u);
  Value *allLanes = llvm::ConstantInt::getAllOnesValue(b.getIntNTy(maskBits));
  Values operands = {x, n.value, x, allLanes};
  constexpr uint32_t roundAsSet = 4;
  if (x->getType()->getPrimitiveSizeInBits() == 512)
    operands.push_back(b.getInt32(roundAsSet));
  return b.CreateIntrinsic(instr, {}, operands);
}

/// In two steps where there is no instruction for it.
Value *vectormath::scale(KernelBuilder &b, Value *x, const Rounded &n) {
  if (Intrinsic::ID instr = findScaleInstr(b, x))
    return scaleByInstr(b, instr, x, n);
  llvm::Type *intTy = n.bits->getType();
  uint64_t bias = isDouble(x) ? 1023 : 127, shift = isDouble(x) ? 52 : 23;
  // Both exponents with their bias: n + 2 * bias in two halves.
  Value *both = b.CreateSub(n.bits, integer(intTy, n.offset - 2 * bias));
  Value *first = b.CreateLShr(both, 1);
  for (Value *exponent : {first, b.CreateSub(both, first)})
    x = b.CreateFMul(
        x, b.CreateBitCast(b.CreateShl(exponent, shift), x->getType()));
  return x;
}

namespace {

/// x = n ln 2 + r, and tail with e^r = 1 + r + r^2 tail.
struct ExpParts {
  Rounded n;
  Value *r, *tail;
};

} // namespace

/// Emits the parts of \p x, which has limits within which n is exact.
static ExpParts reduceExp(KernelBuilder &b, Value *x) {
  static const double narrowTail[] = {0.4999999345, 0.1666652063, 0.04166838815,
                                      0.008368717352, 0.001381459368};
  static const double wideTail[] = {
      0.500000000000001063,    0.166666666666664125,   0.0416666666665301308,
      0.0083333333334944618,   0.00138888889436369419, 0.000198412695066064961,
      0.000024801493092296505, 2.75575863319472303e-6, 2.76302505906888398e-7,
      2.50000787388871043e-8};
  bool wide = isDouble(x);
  Rounded n = roundScaled(b, x, 1.4426950408889634);
  // ln 2 in two parts: the first has so few bits that n times it is exact.
  double high = wide ? 0x1.62e42fee00000p-1 : 0x1.62e4p-1;
  double low = wide ? 1.90821492927058770002e-10 : 1.42860682e-06;
  Value *r = b.multiplyAdd(n.value, number(x, -high), x);
  r = b.multiplyAdd(n.value, number(x, -low), r);
  Value *tail =
      wide ? polynomial(b, r, wideTail) : polynomial(b, r, narrowTail);
  return {n, r, tail};
}

Value *vectormath::exp(KernelBuilder &b, Value *x) {
  // Beyond these the result is infinite, or 0.
  x = isDouble(x) ? limit(b, x, -750, 720) : limit(b, x, -106, 90);
  ExpParts parts = reduceExp(b, x);
  Value *p = b.multiplyAdd(parts.tail, parts.r, number(x, 1));
  p = b.multiplyAdd(p, parts.r, number(x, 1));
  return scale(b, p, parts.n);
}

Value *vectormath::expm1(KernelBuilder &b, Value *x) {
  if (isDouble(x))
    return doublemath::expm1(b, x);
  // Below the result is -1, above it is infinite.
  Value *limited = limit(b, x, -20, 90);
  ExpParts parts = reduceExp(b, limited);
  Value *square = b.CreateFMul(parts.r, parts.r);
  Value *p = b.multiplyAdd(square, parts.tail, parts.r);
  Value *one = number(x, 1);
  Value *inverse = scale(b, one, negate(b, parts.n));
  Value *sum = b.CreateFAdd(p, b.CreateFSub(one, inverse));
  return copySign(b, scale(b, sum, parts.n), x);
}

/// ln(1 + f) for 1 + f in [sqrt(1/2), sqrt(2)), without its first term f.
static Value *logTail(KernelBuilder &b, Value *f) {
  static const double tail[] = {0.333333126,   -0.2500000962, 0.2000211897,
                                -0.1666799517, 0.1421954636,  -0.1240559788,
                                0.1188821184,  -0.1167561529, 0.06746489722};
  Value *f2 = b.CreateFMul(f, f);
  Value *p = b.CreateFMul(b.CreateFMul(f2, f), polynomial(b, f, tail));
  return b.multiplyAdd(f2, number(f, -0.5), p);
}

/// The same of double.
static Value *logTailWide(KernelBuilder &b, Value *f) {
  // With s = f / (2 + f): 2 artanh(s) = f - s (f - s^2 series).
  static const double series[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,
                                  2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17,
                                  2.0 / 19, 2.0 / 21};
  Value *s = b.CreateFDiv(f, b.CreateFAdd(f, number(f, 2)));
  Value *s2 = b.CreateFMul(s, s);
  Value *rest = b.CreateFMul(s2, polynomial(b, s2, series));
  return b.CreateFMul(s, b.CreateFSub(rest, f));
}

namespace {

/// A number 2^e (1 + f), with 1 + f in [sqrt(1/2), sqrt(2)).
struct LogParts {
  Value *e, *f;
};

} // namespace

/// Emits the parts of \p x, which is positive and normal; the power of two of
/// \p isTiny's numbers is less by that which denormals are multiplied by. Null:
/// there are none.
static LogParts splitLog(KernelBuilder &b, Value *x, Value *isTiny) {
  bool wide = isDouble(x);
  llvm::Type *intTy = getIntLike(b, x->getType());
  int64_t shift = wide ? 52 : 23;
  Value *bits = b.CreateBitCast(x, intTy);
  uint64_t root = wide ? 0x3fe6a09e667f3bcdull : 0x3f3504f3ull;
  Value *exponent =
      b.CreateAShr(b.CreateSub(bits, integer(intTy, root)), shift);
  Value *mantissa = b.CreateBitCast(
      b.CreateSub(bits, b.CreateShl(exponent, shift)), x->getType());
  Value *e = b.CreateSIToFP(exponent, x->getType());
  if (isTiny)
    e = b.CreateSelect(isTiny, b.CreateFSub(e, number(x, wide ? 54 : 25)), e);
  return {e, b.CreateFSub(mantissa, number(x, 1))};
}

/// Emits e ln 2 + ln(1 + f), plus \p correction, which may be null for 0.
static Value *joinLog(KernelBuilder &b, const LogParts &parts,
                      Value *correction) {
  auto [e, f] = parts;
  bool wide = isDouble(f);
  double high = wide ? 0x1.62e42fee00000p-1 : 0x1.62e4p-1;
  double low = wide ? 1.90821492927058770002e-10 : 1.42860682e-06;
  Value *tail = wide ? logTailWide(b, f) : logTail(b, f);
  if (correction)
    tail = b.CreateFAdd(tail, correction);
  Value *result = b.CreateFAdd(f, b.multiplyAdd(e, number(f, low), tail));
  return b.multiplyAdd(e, number(f, high), result);
}

Value *vectormath::finishLog(KernelBuilder &b, Value *x, Value *result) {
  double inf = std::numeric_limits<double>::infinity();
  result = b.CreateSelect(b.CreateFCmpOEQ(x, number(x, inf)), x, result);
  result =
      b.CreateSelect(b.CreateFCmpOEQ(x, number(x, 0)), number(x, -inf), result);
  Value *isBad = b.CreateFCmpULT(x, number(x, 0)); // negative or NaN
  return b.CreateSelect(
      isBad, number(x, std::numeric_limits<double>::quiet_NaN()), result);
}

Value *vectormath::log(KernelBuilder &b, Value *x) {
  bool wide = isDouble(x);
  // Denormals are scaled up first.
  Value *isTiny = b.CreateFCmpOLT(x, number(x, wide ? 0x1p-1022 : 0x1p-126));
  Value *scaled = b.CreateSelect(
      isTiny, b.CreateFMul(x, number(x, wide ? 0x1p54 : 0x1p25)), x);
  return finishLog(b, x, joinLog(b, splitLog(b, scaled, isTiny), nullptr));
}

Value *vectormath::log1p(KernelBuilder &b, Value *x) {
  if (isDouble(x))
    return doublemath::log1p(b, x);
  Value *one = number(x, 1), *sum = b.CreateFAdd(x, one);
  Value *lost = b.CreateFSub(x, b.CreateFSub(sum, one));
  Value *correction = b.CreateFDiv(lost, sum);
  Value *result = joinLog(b, splitLog(b, sum, nullptr), correction);
  return copySign(b, finishLog(b, sum, result), x);
}

/// An odd function with values in [-1, 1]: x P(x^2) / Q(x^2) up to \p end, and
/// from there on exactly 1, so that 1 - f(x) comes out as 0.
static Value *oddQuotient(KernelBuilder &b, Value *x, double end,
                          llvm::ArrayRef<double> p, llvm::ArrayRef<double> q) {
  Value *near = limit(b, x, -end, end);
  Value *near2 = b.CreateFMul(near, near);
  Value *above = b.CreateFMul(near, polynomial(b, near2, p));
  Value *quotient = b.CreateFDiv(above, polynomial(b, near2, q));
  Value *isFar = b.CreateFCmpOGE(vectormath::abs(b, x), number(x, end));
  Value *far = copySign(b, number(x, 1), x);
  return b.CreateSelect(isFar, far, limit(b, quotient, -1, 1));
}

Value *vectormath::tanh(KernelBuilder &b, Value *x) {
  if (isDouble(x))
    return doublemath::tanh(b, x);
  return oddQuotient(
      b, x, 9.02,
      {0.9999999987, 0.1367990407, 0.003868313882, 2.800717519e-5,
       3.058432923e-8, -1.220294537e-11},
      {1, 0.4701323613, 0.02724578828, 0.0003938606517, 1.287346615e-6});
}

static Value *erfWide(KernelBuilder &b, Value *x) {
  Value *two = number(x, 2), *one = number(x, 1);
  Value *magnitude =
      limit(b, vectormath::abs(b, x), 0, errorfunction::doubleEnd);
  Value *x2 = b.CreateFMul(magnitude, magnitude);
  Value *small =
      b.CreateFMul(magnitude, polynomial(b, x2, errorfunction::doubleNear));
  Value *u =
      b.CreateFDiv(b.CreateFSub(magnitude, two), b.CreateFAdd(magnitude, two));
  Value *complement = b.CreateFMul(vectormath::exp(b, b.CreateFNeg(x2)),
                                   polynomial(b, u, errorfunction::doubleFar));
  Value *isSmall = b.CreateFCmpOLT(magnitude, one);
  return copySign(
      b, b.CreateSelect(isSmall, small, b.CreateFSub(one, complement)), x);
}

/// erf(x) / x by a polynomial of the distance from the nearest of 16 numbers,
/// the terms of which are looked up in registers of 16 floats. It comes to
/// exactly 1 at the end, and from there on.
static Value *erfBySegments(KernelBuilder &b, Value *x) {
  static const float terms[][16] = {
      {1.12837917, 1.10459276, 1.03845116, 0.943424076, 0.836023176,
       0.730512267, 0.635927865, 0.555912441, 0.490303597, 0.437068333,
       0.393716305, 0.358013959, 0.328199744, 0.302957658, 0.281318544,
       0.262564092},
      {2.41075244e-7, -0.183777907, -0.327992092, -0.409311521, -0.427110897,
       -0.398059915, -0.34470442, -0.285815245, -0.232410675, -0.188599435,
       -0.154359044, -0.128018532, -0.107682346, -0.0917772266, -0.0791390706,
       -0.0689397301},
      {-0.376140345, -0.334111306, -0.225988636, -0.0942861663, 0.0183002553,
       0.0883817115, 0.115470881, 0.112886922, 0.0961968521, 0.0764429844,
       0.0590048491, 0.0453740918, 0.0352370581, 0.0277837827, 0.0222579312,
       0.0181005331},
      {0.00026978565, 0.105378047, 0.166875957, 0.167384687, 0.122090438,
       0.0620236393, 0.0128324277, -0.0154286399, -0.0255114353, -0.0250041739,
       -0.0204420852, -0.0154564437, -0.0113807705, -0.00838699861,
       -0.00626458661, -0.00475768891},
      {0.111034303, 0.0877723508, 0.0302947607, -0.0267653475, -0.057183274,
       -0.0567792012, -0.0384132627, -0.0177011011, -0.00339351478,
       0.00334948481, 0.00507218593, 0.00454887253, 0.00345737085,
       0.00247357477, 0.00185893595, 0.00124664243}};
  constexpr double distance = 65.0 / 256;
  Value *end = number(x, 3.92), *one = number(x, 1);
  Value *magnitude = vectormath::abs(b, x);
  magnitude = b.CreateSelect(b.CreateFCmpOGT(magnitude, end), end, magnitude);
  Rounded segment = roundScaled(b, magnitude, 1 / distance);
  Value *r = b.multiplyAdd(segment.value, number(x, -distance), magnitude);
  Value *quotient = nullptr;
  for (llvm::ArrayRef<float> ofSegments : llvm::reverse(terms)) {
    // The bits' offset does not count: the instruction takes the last four.
    Value *term = b.CreateIntrinsic(
        Intrinsic::x86_avx512_permvar_sf_512, {},
        {llvm::ConstantDataVector::get(b.getContext(), ofSegments),
         segment.bits});
    quotient = quotient ? b.multiplyAdd(quotient, r, term) : term;
  }
  Value *result = b.CreateFMul(quotient, magnitude);
  result = b.CreateSelect(b.CreateFCmpOGT(result, one), one, result);
  return copySign(b, result, x);
}

Value *vectormath::erf(KernelBuilder &b, Value *x) {
  if (isDouble(x))
    return erfWide(b, x);
  if (b.getTarget().hasAVX512 && !b.getTarget().isReproducible)
    return b.mapParts(x, 16,
                      [&](Value *part) { return erfBySegments(b, part); });
  return oddQuotient(b, x, errorfunction::floatEnd, errorfunction::floatP,
                     errorfunction::floatQ);
}

/// \p x = n pi / 2 + rest, |rest| <= pi / 4. Of n only its last two bits count.
static Value *reduceAngle(KernelBuilder &b, Value *x, Value *&n) {
  bool wide = isDouble(x);
  Value *exact = x;
  if (!wide)
    exact = b.CreateFPExt(x, x->getType()->getWithNewType(b.getDoubleTy()));
  Rounded rounded = roundScaled(b, exact, 0.63661977236758134);
  // pi / 2 in parts; n times one of 33 bits is exact for n up to 2^20.
  static const double twoParts[] = {0x1.921fb544p+0, 0x1.0b4611a626331p-34};
  static const double threeParts[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34,
                                      0x1.3198a2e037073p-69};
  Value *rest = exact;
  for (double part :
       wide ? llvm::ArrayRef(threeParts) : llvm::ArrayRef(twoParts))
    rest = b.multiplyAdd(rounded.value, number(exact, -part), rest);
  Angle angle =
      emitLargeAngles(b, exact, {rounded.bits, {rest, number(rest, 0)}});
  n = b.CreateTrunc(angle.quarters, getIntLike(b, x->getType()));
  return b.CreateFPTrunc(angle.rest.high, x->getType());
}

/// sin(rest + n pi / 2).
static Value *sineOf(KernelBuilder &b, Value *rest, Value *n) {
  bool wide = isDouble(rest);
  Value *rest2 = b.CreateFMul(rest, rest);
  auto evaluate = [&](llvm::ArrayRef<double> ofFloat,
                      llvm::ArrayRef<double> ofDouble) {
    return polynomial(b, rest2, wide ? ofDouble : ofFloat);
  };
  Value *sine = b.CreateFMul(
      rest, evaluate({1, -0.1666665457, 0.008332158387, -0.0001951495521},
                     {1, -0.166666666666666305, 0.00833333333332205656,
                      -0.000198412698295389442, 2.75573136034434433e-6,
                      -2.5050744889266122e-8, 1.58960598032962002e-10}));
  Value *cosine =
      evaluate({1, -0.5, 0.04166664562, -0.001388731302, 2.443278089e-5},
               {1, -0.5, 0.0416666666666665924, -0.00138888888888729716,
                0.0000248015872887976842, -2.755731416337379e-7,
                2.0875698634339453e-9, -1.13584199950779506e-11});
  llvm::Type *intTy = n->getType();
  Value *isOdd =
      b.CreateICmpNE(b.CreateAnd(n, integer(intTy, 1)), integer(intTy, 0));
  Value *sign = b.CreateShl(b.CreateAnd(n, integer(intTy, 2)),
                            intTy->getScalarSizeInBits() - 2);
  Value *chosen = b.CreateSelect(isOdd, cosine, sine);
  return b.CreateBitCast(b.CreateXor(b.CreateBitCast(chosen, intTy), sign),
                         rest->getType());
}

Value *vectormath::sin(KernelBuilder &b, Value *x) {
  Value *n;
  Value *rest = reduceAngle(b, x, n);
  return sineOf(b, rest, n);
}

Value *vectormath::cos(KernelBuilder &b, Value *x) {
  Value *n;
  Value *rest = reduceAngle(b, x, n);
  return sineOf(b, rest, b.CreateAdd(n, integer(n->getType(), 1)));
}

Value *vectormath::erfc(KernelBuilder &b, Value *x) {
  if (isDouble(x))
    return doublemath::erfc(b, x);
  llvm::Type *narrow = x->getType();
  Value *wide = b.CreateFPExt(x, narrow->getWithNewType(b.getDoubleTy()));
  return b.CreateFPTrunc(doublemath::erfc(b, wide), narrow);
}

/// Emits x^y of floats, in double.
static Value *powOfFloats(KernelBuilder &b, Value *x, Value *y) {
  llvm::Type *narrow = x->getType();
  llvm::Type *wide = narrow->getWithNewType(b.getDoubleTy());
  x = b.CreateFPExt(x, wide);
  y = b.CreateFPExt(y, wide);
  Value *logarithm = log(b, abs(b, x));
  // x^0 and 1^y are 1 for infinity and NaN too.
  Value *isOne = b.CreateOr(b.CreateFCmpOEQ(y, number(y, 0)),
                            b.CreateFCmpOEQ(logarithm, number(x, 0)));
  Value *power =
      exp(b, b.CreateSelect(isOne, number(x, 0), b.CreateFMul(y, logarithm)));
  return b.CreateFPTrunc(finishPow(b, x, y, power), narrow);
}

Value *vectormath::finishPow(KernelBuilder &b, Value *x, Value *y,
                             Value *power) {
  Value *isIntegral = b.CreateFCmpOEQ(rint(b, y), y);
  Value *half = b.CreateFMul(y, number(y, 0.5));
  Value *isOdd = b.CreateAnd(isIntegral, b.CreateFCmpONE(floor(b, half), half));
  Value *result = b.CreateSelect(isOdd, copySign(b, power, x), power);
  double inf = std::numeric_limits<double>::infinity();
  Value *isNegative = b.CreateAnd(b.CreateFCmpOLT(x, number(x, 0)),
                                  b.CreateFCmpONE(abs(b, x), number(x, inf)));
  Value *isNaN = b.CreateAnd(isNegative, b.CreateNot(isIntegral));
  return b.CreateSelect(
      isNaN, number(x, std::numeric_limits<double>::quiet_NaN()), result);
}

Value *vectormath::pow(KernelBuilder &b, Value *x, Value *y) {
  return isDouble(x) ? doublemath::pow(b, x, y) : powOfFloats(b, x, y);
}
