//===- Scalar.cpp - Formulas that write MLIR ------------------------------===//

#include "MLIR/Scalar.h"
#include "MLIR/Writer.h"
#include "glowish/Ops/Scalar.h"
#include <cmath>

using namespace glowish;

MlirScalar MlirScalar::like(double value) const {
  return writer->literal(*this, kind, value);
}

MlirScalar glowish::applyPrimitive(ScalarPrimitive primitive,
                                   llvm::ArrayRef<MlirScalar> args) {
  return args.back().writer->applyPrimitive(primitive, args);
}

MlirScalar glowish::lookup(const MlirScalar &x, llvm::ArrayRef<double> table) {
  return x.writer->lookup(x, table);
}

MlirScalar glowish::bitCastScalar(const MlirScalar &x, ElemKind to) {
  return x.writer->bitCastScalar(x, to);
}

//===- Functions ----------------------------------------------------------===//

MlirScalar glowish::erfc(const MlirScalar &x) { return 1.0 - erf(x); }
#define GLOWISH_MLIR_COMPOSED(FN, FORMULA)                                     \
  MlirScalar glowish::FN(const MlirScalar &x) { return FORMULA(x); }
GLOWISH_MLIR_COMPOSED(tan, tangent)
GLOWISH_MLIR_COMPOSED(asin, inverseSine)
GLOWISH_MLIR_COMPOSED(acos, inverseCosine)
GLOWISH_MLIR_COMPOSED(sinh, hyperbolicSine)
GLOWISH_MLIR_COMPOSED(cosh, hyperbolicCosine)
GLOWISH_MLIR_COMPOSED(asinh, inverseHyperbolicSine)
GLOWISH_MLIR_COMPOSED(acosh, inverseHyperbolicCosine)
GLOWISH_MLIR_COMPOSED(atanh, inverseHyperbolicTangent)
#undef GLOWISH_MLIR_COMPOSED

/// x^y of integers: squares of x, one a bit of y. Of negative y, 1 / x^-y
/// truncated towards 0, which is 0 for all x but 1 and -1.
static MlirScalar powOfIntegers(const MlirScalar &x, const MlirScalar &y) {
  MlirScalar one = x.like(1), zero = x.like(0);
  bool isSigned = isSignedIntegerKind(x.kind);
  unsigned bits = 8 * getElemSize(x.kind) - isSigned;
  MlirScalar result = one, square = x;
  for (unsigned bit = 0; bit < bits; ++bit) {
    MlirScalar isClear = (y & y.like(std::ldexp(1, int(bit)))) == zero;
    result = select(isClear, result, result * square);
    if (bit + 1 < bits)
      square = square * square;
  }
  if (!isSigned)
    return result;
  MlirScalar minusOne = x.like(-1);
  MlirScalar ofMinusOne = select((y & one) == zero, one, minusOne);
  MlirScalar inverse = select(x == minusOne, ofMinusOne, zero);
  inverse = select(x == one, one, inverse);
  return select(y < zero, inverse, result);
}

MlirScalar glowish::pow(const MlirScalar &x, const MlirScalar &y) {
  return isFloatKind(x.kind) ? applyPrimitive(ScalarPrimitive::Pow, {x, y})
                             : powOfIntegers(x, y);
}

//===- Conversions --------------------------------------------------------===//

namespace {
/// The words that the formulas of low precision compute with.
struct Word {
  MlirScalar value;

  Word like(uint32_t literal) const { return {value.like(literal)}; }
};

Word like(const Word &x, uint32_t literal) { return x.like(literal); }
Word select(const MlirScalar &condition, const Word &x, const Word &y) {
  return {select(condition, x.value, y.value)};
}

#define GLOWISH_WORD_OPERATOR(OP, FN)                                          \
  Word operator OP(const Word &x, const Word &y) {                             \
    return {FN(x.value, y.value)};                                             \
  }                                                                            \
  Word operator OP(const Word &x, uint32_t y) { return x OP x.like(y); }
GLOWISH_WORD_OPERATOR(+, operator+)
GLOWISH_WORD_OPERATOR(-, operator-)
GLOWISH_WORD_OPERATOR(&, operator&)
GLOWISH_WORD_OPERATOR(|, operator|)
GLOWISH_WORD_OPERATOR(<<, shiftLeft)
GLOWISH_WORD_OPERATOR(>>, shiftRight)
#undef GLOWISH_WORD_OPERATOR
Word operator-(uint32_t x, const Word &y) { return y.like(x) - y; }
Word operator^(const Word &x, const Word &y) { return {x.value ^ y.value}; }
MlirScalar operator<(const Word &x, uint32_t y) {
  return x.value < x.value.like(y);
}
MlirScalar operator<(uint32_t x, const Word &y) {
  return y.value.like(x) < y.value;
}
MlirScalar operator==(const Word &x, uint32_t y) {
  return x.value == x.value.like(y);
}
} // namespace

/// The format of a float kind of 8 bits and fewer.
static const LowFloatFormat *findLowFormat(ElemKind kind) {
  return dispatchElemKind(kind, [](auto zero) -> const LowFloatFormat * {
    if constexpr (isLowFloat<decltype(zero)>)
      return &decltype(zero)::format;
    else
      return nullptr;
  });
}

/// Doubles as floats: see lowfloat::roundToOdd.
static MlirScalar roundToOdd(const MlirScalar &x) {
  MlirScalar rounded = x.writer->castScalar(x, ElemKind::Float);
  MlirScalar back = x.writer->castScalar(rounded, ElemKind::Double);
  MlirScalar bits = bitCastScalar(rounded, ElemKind::UInt32);
  // The neighbour towards 0, if rounding went away from it.
  MlirScalar magnitude = max(x, -x), backMagnitude = max(back, -back);
  MlirScalar down = select(magnitude < backMagnitude, bits - 1.0, bits);
  MlirScalar odd = down | down.like(1);
  MlirScalar isExact = x == back;
  // NaN stays.
  MlirScalar keeps = isExact || !(x == x);
  return bitCastScalar(select(keeps, bits, odd), ElemKind::Float);
}

/// The low bits of the integer \p x as the byte that stores \p to.
static MlirScalar keepLowBits(const MlirScalar &x, ElemKind to) {
  MlirScalar byte = x.writer->castScalar(x, ElemKind::UInt8);
  unsigned bits = getElemBits(to);
  MlirScalar low = byte & byte.like((1u << bits) - 1);
  if (getValueKind(to) == ElemKind::Int8) {
    // Of a negative number the bits above are ones.
    double sign = 1u << (bits - 1);
    low = (low ^ low.like(sign)) - low.like(sign);
    low = x.writer->castScalar(low, ElemKind::Int8);
  }
  return low;
}

/// Float \p x as an integer kind: what is out of range saturates, NaN becomes
/// 0.
static MlirScalar saturate(const MlirScalar &x, ElemKind to) {
  int bits = 8 * int(getElemSize(to));
  bool isSigned = isSignedIntegerKind(to);
  // Both are powers of two, which floats have exactly.
  MlirScalar low = x.like(isSigned ? -std::ldexp(1, bits - 1) : 0);
  MlirScalar end = x.like(std::ldexp(1, isSigned ? bits - 1 : bits));
  MlirScalar isInside = low <= x && x < end;
  MlirScalar inside = select(isInside, x, x.like(0));
  MlirScalar integer = x.writer->castScalar(inside, to);
  using Limits = std::numeric_limits<double>;
  integer = select(x < low, integer.like(-Limits::infinity()), integer);
  return select(x >= end, integer.like(Limits::infinity()), integer);
}

MlirScalar glowish::loadScalar(const MlirScalar &element) {
  if (const LowFloatFormat *format = findLowFormat(element.kind)) {
    MlirScalar byte = element;
    byte.kind = ElemKind::UInt8;
    Word code = {byte.writer->castScalar(byte, ElemKind::UInt32)};
    return bitCastScalar(lowfloat::decode(code, *format).value,
                         ElemKind::Float);
  }
  MlirScalar value = element;
  if (isLowPrecisionKind(element.kind)) {
    value.kind = getValueKind(element.kind);
    return value;
  }
  return element.writer->castScalar(element, getValueKind(element.kind));
}

MlirScalar glowish::convertScalar(const MlirScalar &x, ElemKind to) {
  MlirWriter &w = *x.writer;
  bool isFloat = isFloatKind(x.kind);
  if (x.kind == to)
    return x;
  if (to == ElemKind::Bool)
    return !(x == x.like(0));
  if (isLowIntegerKind(to))
    return keepLowBits(isFloat ? saturate(x, ElemKind::Int32) : x, to);
  if (const LowFloatFormat *format = findLowFormat(to)) {
    MlirScalar value = x.kind == ElemKind::Double
                           ? roundToOdd(x)
                           : w.castScalar(x, ElemKind::Float);
    Word word = {bitCastScalar(value, ElemKind::UInt32)};
    MlirScalar code =
        w.castScalar(lowfloat::encode(word, *format).value, ElemKind::UInt8);
    code.kind = to;
    return code;
  }
  if (isFloat && !isFloatKind(to))
    return saturate(x, to);
  // Half precisions are made of floats.
  ElemKind value = getValueKind(to);
  return w.castScalar(w.castScalar(x, value), to);
}

//===- Integers -----------------------------------------------------------===//

using PrimitiveWriter = llvm::function_ref<MlirScalar(
    ScalarPrimitive primitive, const MlirScalar &x, const MlirScalar &y)>;

/// Returns 0 where \p y is 0, and \p x times -1 where it is -1; no dialect
/// leaves other quotients open.
static MlirScalar divideIntegers(const MlirScalar &x, const MlirScalar &y,
                                 PrimitiveWriter write) {
  auto divide = [&](const MlirScalar &divisor) {
    return write(ScalarPrimitive::Div, x, divisor);
  };
  MlirScalar zero = x.like(0), one = x.like(1);
  MlirScalar isZero = y == zero;
  if (!isSignedIntegerKind(x.kind))
    return select(isZero, zero, divide(select(isZero, one, y)));
  MlirScalar isMinusOne = y == x.like(-1);
  MlirScalar quotient = divide(select(isZero || isMinusOne, one, y));
  return select(isZero, zero, select(isMinusOne, zero - x, quotient));
}

/// Returns 0 where \p y is not one of the bits that there are.
static MlirScalar shiftInside(ScalarPrimitive primitive, const MlirScalar &x,
                              const MlirScalar &y, PrimitiveWriter write) {
  double last = 8 * getElemSize(x.kind) - 1;
  MlirScalar isInside = y >= 0.0 && y <= last;
  MlirScalar near = select(isInside, y, y.like(0));
  return select(isInside, write(primitive, x, near), x.like(0));
}

static MlirScalar multiplyHigh(const MlirScalar &x, const MlirScalar &y,
                               PrimitiveWriter write) {
  MlirWriter &w = *x.writer;
  MlirScalar full =
      w.castScalar(x, ElemKind::Int64) * w.castScalar(y, ElemKind::Int64);
  full = full + double(1 << 30);
  return w.castScalar(
      write(ScalarPrimitive::ArithmeticShiftRight, full, full.like(31)),
      ElemKind::Int32);
}

std::optional<MlirScalar> glowish::composePrimitive(ScalarPrimitive primitive,
                                                    const MlirScalar &x,
                                                    const MlirScalar &y,
                                                    PrimitiveWriter write) {
  switch (primitive) {
  case ScalarPrimitive::Div:
    if (isFloatKind(y.kind))
      return std::nullopt;
    return divideIntegers(x, y, write);
  case ScalarPrimitive::ShiftLeft:
  case ScalarPrimitive::ShiftRight:
    return shiftInside(primitive, x, y, write);
  case ScalarPrimitive::ArithmeticShiftRight:
    return write(primitive, x, y & y.like(31));
  case ScalarPrimitive::RoundedMultiplyHigh:
    return multiplyHigh(x, y, write);
  default:
    return std::nullopt;
  }
}

MlirScalar glowish::countFromStart(const MlirScalar &index, int64_t length) {
  return select(index < 0.0, index + double(length), index);
}

MlirScalar glowish::combineElements(llvm::StringRef mode,
                                    const MlirScalar &element,
                                    const MlirScalar &value) {
  if (mode == "replace")
    return value;
  if (mode == "max")
    return max(element, value);
  if (mode == "min")
    return min(element, value);
  bool multiplies = mode == "mul" || mode == "prod";
  return multiplies ? element * value : element + value;
}

//===- Orders -------------------------------------------------------------===//

MlirScalar glowish::isAbove(const MlirScalar &x, const MlirScalar &y) {
  MlirScalar isLarger = y < x;
  if (!isFloatKind(x.kind))
    return isLarger;
  return isLarger || (!(x == x) && y == y);
}

MlirScalar glowish::isRankedBefore(const MlirScalar &other, const MlirScalar &x,
                                   const MlirScalar &isEarlier, bool largest) {
  MlirScalar otherIsAbove = isAbove(other, x), xIsAbove = isAbove(x, other);
  MlirScalar isTie = !otherIsAbove && !xIsAbove;
  return (isTie && isEarlier) || (largest ? otherIsAbove : xIsAbove);
}

//===- Steps --------------------------------------------------------------===//

template <typename Formula, size_t... Args>
static MlirScalar evaluate(const ScalarStep &step,
                           llvm::ArrayRef<MlirScalar> args,
                           std::index_sequence<Args...>) {
  return Formula::eval(args[Args]..., step.params);
}

MlirScalar glowish::applyStep(const ScalarStep &step,
                              llvm::ArrayRef<MlirScalar> args) {
  return dispatchScalarOp(step.op, [&](auto formula) {
    using Formula = decltype(formula);
    return evaluate<Formula>(step, args,
                             std::make_index_sequence<Formula::numArgs>());
  });
}
