//===- Scalars.cpp - Formulas in TOSA -------------------------------------===//

#include "MLIR/Tosa/TosaWriter.h"
#include <cmath>

using namespace glowish;

MlirScalar TosaWriter::elementOp(llvm::StringRef operation,
                                 llvm::ArrayRef<MlirScalar> args, ElemKind kind,
                                 const llvm::Twine &attributes) {
  MlirValues operands;
  for (const MlirScalar &arg : args)
    operands.push_back(getTensor(arg));
  return getScalar(tensorOp(operation, operands,
                            Type(kind, getCommonShape(args)), attributes));
}

MlirScalar TosaWriter::literal(const MlirScalar &like, ElemKind kind,
                               double value) {
  Dims ones(like.shape.size(), 1);
  return getScalar(getConstants().getSplat(Type(kind, ones), value));
}

//===- Conversions --------------------------------------------------------===//

/// Whether \p kind is uint8 or uint16: bits that TOSA takes for signed ones.
static bool isNarrowUnsigned(ElemKind kind) {
  return isUnsignedKind(kind) && getElemSize(kind) <= 2;
}
static bool isWideUnsigned(ElemKind kind) {
  return isUnsignedKind(kind) && getElemSize(kind) > 2;
}

/// Rounds \p x, a float, towards 0.
static MlirScalar truncate(const MlirScalar &x) {
  return select(x < 0.0, ceil(x), floor(x));
}

/// Casts \p whole, a number without a fraction that an int64 has, in parts that
/// an int32 has: LLVM 19 makes the largest int64 of all that tosa.cast gets.
MlirScalar TosaWriter::castToInt64(const MlirScalar &whole) {
  MlirScalar x =
      getElemSize(whole.kind) < 4 ? castScalar(whole, ElemKind::Float) : whole;
  // Each part has the sign of x, and no more bits than it.
  MlirScalar high = truncate(x * 0x1p-32), rest = x - high * 0x1p32;
  MlirScalar middle = truncate(rest * 0x1p-16), low = rest - middle * 0x1p16;
  auto widen = [&](const MlirScalar &part) {
    return castScalar(elementOp("tosa.cast", part, ElemKind::Int32),
                      ElemKind::Int64);
  };
  return widen(high) * 0x1p32 + widen(middle) * 0x1p16 + widen(low);
}

MlirScalar TosaWriter::castScalar(const MlirScalar &x, ElemKind kind) {
  if (x.kind == kind)
    return x;
  bool fromFloat = isFloatKind(x.kind), toFloat = isFloatKind(kind);
  bool isSameWidth = getElemSize(x.kind) == getElemSize(kind);
  MlirScalar renamed = x;
  renamed.kind = kind;
  if (isIntegerKind(x.kind) && isIntegerKind(kind) && isSameWidth)
    return renamed;
  if (isWideUnsigned(x.kind) && (toFloat || getElemSize(kind) == 8))
    return refuseScalar("conversion of " + getElemKindName(x.kind), x, kind);
  if (isNarrowUnsigned(x.kind) && getElemSize(kind) > getElemSize(x.kind)) {
    MlirScalar wide = elementOp("tosa.cast", x, ElemKind::Int32);
    double mask = std::ldexp(1, 8 * int(getElemSize(x.kind))) - 1;
    return castScalar(wide & wide.like(mask), kind);
  }
  if (fromFloat && isWideUnsigned(kind))
    return refuseScalar("conversion to " + getElemKindName(kind), x, kind);
  if (!fromFloat || toFloat)
    return elementOp("tosa.cast", x, kind);
  // It rounds to the nearest; narrow integers are those of the low bits.
  MlirScalar whole = truncate(x);
  if (kind == ElemKind::Int64)
    return castToInt64(whole);
  if (getElemSize(kind) < 4)
    return castScalar(elementOp("tosa.cast", whole, ElemKind::Int32), kind);
  return elementOp("tosa.cast", whole, kind);
}

MlirScalar TosaWriter::bitCastScalar(const MlirScalar &x, ElemKind kind) {
  if (x.kind == ElemKind::Bool)
    return castScalar(x, kind);
  if (getElementType(x.kind) != getElementType(kind))
    return refuseScalar("operation on the bits of " + getElemKindName(x.kind),
                        x, kind);
  MlirScalar renamed = x;
  renamed.kind = kind;
  return renamed;
}

/// Its table begins with the result for -128.
MlirScalar TosaWriter::lookup(const MlirScalar &x,
                              llvm::ArrayRef<double> table) {
  std::vector<double> numbers(table);
  std::rotate(numbers.begin(), numbers.begin() + 128, numbers.end());
  return getScalar(tensorOp("tosa.table",
                            {getTensor(x), makeLookupTable(x.kind, numbers)},
                            Type(x.kind, x.shape)));
}

//===- Primitives ---------------------------------------------------------===//

MlirScalar TosaWriter::roundToEven(const MlirScalar &x) {
  MlirScalar low = floor(x);
  MlirScalar fraction = x - low, half = low * 0.5;
  MlirScalar isEven = floor(half) == half;
  MlirScalar staysLow = fraction < 0.5 || (fraction == 0.5 && isEven);
  // What is infinite has no fraction.
  return select(staysLow || low == x, low, low + 1.0);
}

/// Returns e^x - 1: near 0 by t = tanh(x / 2), with which it is 2 t / (1 - t).
static MlirScalar computeExpm1(const MlirScalar &x) {
  MlirScalar t = tanh(x * 0.5);
  MlirScalar isNear = max(x, -x) < 0.5;
  return select(isNear, t * 2.0 / (1.0 - t), exp(x) - 1.0);
}

/// Returns ln(1 + x). The ratio of x and what 1 + x keeps of it makes up for
/// the rounding (Higham, Accuracy and Stability of Numerical Algorithms,
/// 1.14.1); there is none where nothing is kept, or all is infinite.
static MlirScalar computeLog1p(const MlirScalar &x) {
  MlirScalar sum = x + 1.0, kept = sum - 1.0;
  MlirScalar isPlain = kept == 0.0 || kept == HUGE_VAL;
  return select(isPlain, x, log(sum) * (x / kept));
}

namespace {
struct TosaPrimitive {
  ScalarPrimitive primitive;
  llvm::StringLiteral operation;
  bool isOfFloats = true, isOfIntegers = true;
};
} // namespace

/// The operation that is \p primitive of \p kind; empty where it is composed,
/// or there is none.
static llvm::StringRef findTosaOperation(ScalarPrimitive primitive,
                                         ElemKind kind) {
  using enum ScalarPrimitive;
  static constexpr TosaPrimitive all[] = {
      {Add, "tosa.add"},
      {Sub, "tosa.sub"},
      {Mul, "tosa.mul"},
      {Equal, "tosa.equal"},
      {Max, "tosa.maximum"},
      {Min, "tosa.minimum"},
      {Not, "tosa.logical_not"},
      {And, "tosa.logical_and"},
      {Or, "tosa.logical_or"},
      {BitAnd, "tosa.bitwise_and"},
      {BitOr, "tosa.bitwise_or"},
      {BitXor, "tosa.bitwise_xor"},
      {Exp, "tosa.exp"},
      {Log, "tosa.log"},
      {Floor, "tosa.floor"},
      {Ceil, "tosa.ceil"},
      {Tanh, "tosa.tanh"},
      {Erf, "tosa.erf"},
      {Pow, "tosa.pow"},
      {Neg, "tosa.negate", true, false},
      {Select, "tosa.select"},
      {Div, "tosa.int_div", false},
      {ShiftLeft, "tosa.logical_left_shift"},
      {ShiftRight, "tosa.logical_right_shift"},
      {ArithmeticShiftRight, "tosa.arithmetic_right_shift"},
  };
  for (const TosaPrimitive &each : all)
    if (each.primitive == primitive)
      return (isFloatKind(kind) ? each.isOfFloats : each.isOfIntegers)
                 ? each.operation
                 : "";
  return "";
}

/// Whether signed and unsigned operands of the same bits give the same bits.
static bool hasNoSign(ScalarPrimitive primitive) {
  using enum ScalarPrimitive;
  return llvm::is_contained(
      {Add, Sub, Mul, Neg, Equal, BitAnd, BitOr, BitXor, Select, ShiftLeft},
      primitive);
}

MlirScalar TosaWriter::applyPrimitive(ScalarPrimitive primitive,
                                      llvm::ArrayRef<MlirScalar> args) {
  using enum ScalarPrimitive;
  const MlirScalar &x = args[0], &y = args.back();
  ElemKind kind = y.kind;
  bool isComparison =
      primitive == Less || primitive == LessOrEqual || primitive == Equal;
  ElemKind result = isComparison ? ElemKind::Bool : kind;
  if (!hasNoSign(primitive) && isWideUnsigned(kind))
    return refuseScalar("arithmetic of " + getElemKindName(kind), y, result);
  bool isNarrowDivision =
      primitive == Div && isIntegerKind(kind) && getElemSize(kind) < 4;
  if ((!hasNoSign(primitive) && isNarrowUnsigned(kind)) || isNarrowDivision) {
    MlirScalar wide =
        applyPrimitive(primitive, {castScalar(x, ElemKind::Int32),
                                   castScalar(y, ElemKind::Int32)});
    return isComparison ? wide : castScalar(wide, kind);
  }
  if (primitive == Div && isIntegerKind(kind) && kind != ElemKind::Int32)
    return refuseScalar("division of " + getElemKindName(kind), x, kind);
  auto write = [&](ScalarPrimitive part, const MlirScalar &left,
                   const MlirScalar &right) {
    return elementOp(findTosaOperation(part, left.kind), {left, right},
                     left.kind,
                     part == ArithmeticShiftRight ? " {round = false}" : "");
  };
  if (auto composed = composePrimitive(primitive, x, y, write))
    return *composed;
  // mlir-opt replaces such a one by the operand, whose shape may be another.
  if (primitive == Select && args[1].name == y.name)
    return y;
  llvm::StringRef operation = findTosaOperation(primitive, kind);
  if (!operation.empty())
    return elementOp(operation, args, result,
                     primitive == Mul ? " {shift = 0 : i8}" : "");
  switch (primitive) {
  case Less:
    return elementOp("tosa.greater", {y, x}, result);
  case LessOrEqual:
    return elementOp("tosa.greater_equal", {y, x}, result);
  case Neg:
    return x.like(0) - x;
  case Div:
    return x * elementOp("tosa.reciprocal", y, kind);
  case Expm1:
    return computeExpm1(x);
  case Log1p:
    return computeLog1p(x);
  case Sqrt:
    return elementOp("tosa.reciprocal", elementOp("tosa.rsqrt", x, kind), kind);
  case Rint:
    return roundToEven(x);
  case Sin:
    return refuseScalar("sine", x, kind);
  case Cos:
    return refuseScalar("cosine", x, kind);
  case Atan:
    return refuseScalar("inverse tangent", x, kind);
  default:
    llvm_unreachable("type rules refuse this kind");
  }
}
