//===- Scalars.cpp - Formulas in StableHLO --------------------------------===//

#include "MLIR/StableHlo/StableHloWriter.h"
#include "glowish/Ops/ErrorFunction.h"
#include "glowish/Ops/Scalar.h"

using namespace glowish;

MlirValues StableHloWriter::expand(llvm::ArrayRef<MlirScalar> args) {
  Dims shape = getCommonShape(args);
  MlirValues operands;
  for (const MlirScalar &arg : args)
    operands.push_back(broadcast(getTensor(arg), shape));
  return operands;
}

MlirScalar StableHloWriter::elementOp(llvm::StringRef operation,
                                      llvm::ArrayRef<MlirScalar> args) {
  MlirValues operands = expand(args);
  const Type &type = operands.back().type;
  std::string types = getHloType(type);
  // A selection states that of its condition, too.
  if (args.size() == 3)
    types = getHloType(operands.front().type) + ", " + types;
  return getScalar(
      op(type, operation + " " + joinNames(operands) + " : " + types));
}

MlirScalar StableHloWriter::compare(llvm::StringRef direction,
                                    const MlirScalar &x, const MlirScalar &y) {
  llvm::StringRef type = "UNSIGNED";
  if (isFloatKind(x.kind))
    type = "FLOAT";
  else if (isSignedIntegerKind(x.kind))
    type = "SIGNED";
  MlirValues operands = expand({x, y});
  return getScalar(
      tensorOp(("stablehlo.compare " + direction + ",").str(), operands,
               operands.front().type.withKind(ElemKind::Bool), ", " + type));
}

MlirScalar StableHloWriter::literal(const MlirScalar &like, ElemKind kind,
                                    double value) {
  Type type(kind, like.shape);
  if (!isInComputation)
    return getScalar(splat(type, value));
  return getScalar(
      op(type, "stablehlo.constant dense<" +
                   formatLiteral(kind, value, TextStyle::StableHlo) +
                   "> : " + getHloType(type)));
}

//===- Conversions --------------------------------------------------------===//

MlirScalar StableHloWriter::castScalar(const MlirScalar &x, ElemKind kind) {
  if (x.kind == kind)
    return x;
  bool areIntegers = isIntegerKind(x.kind) && isIntegerKind(kind);
  if (areIntegers && getElemSize(x.kind) == getElemSize(kind))
    return bitCastScalar(x, kind);
  // StableHLO leaves open what numbers out of range become: integers that are
  // narrowed keep the low bits in all implementations, but negative numbers
  // become unsigned ones as these say.
  if (areIntegers && isSignedIntegerKind(x.kind) && isUnsignedKind(kind))
    return bitCastScalar(castScalar(x, getOtherSign(kind)), kind);
  return getScalar(
      tensorOp("stablehlo.convert", getTensor(x), Type(kind, x.shape)));
}

MlirScalar StableHloWriter::bitCastScalar(const MlirScalar &x, ElemKind kind) {
  if (x.kind == ElemKind::Bool)
    return castScalar(x, kind);
  Type type(kind, x.shape);
  if (getHloType(type) == getHloType(getTensor(x).type)) {
    MlirScalar renamed = x;
    renamed.kind = kind;
    return renamed;
  }
  return getScalar(tensorOp("stablehlo.bitcast_convert", getTensor(x), type));
}

//===- erf ----------------------------------------------------------------===//

/// c[0] + c[1] x + c[2] x^2 + ..., by Horner's rule.
static MlirScalar computePolynomial(const MlirScalar &x,
                                    llvm::ArrayRef<double> coefficients) {
  MlirScalar result = x.like(coefficients.back());
  for (double c : llvm::reverse(coefficients.drop_back()))
    result = result * x + c;
  return result;
}

static MlirScalar computeErfOfDouble(const MlirScalar &x) {
  using namespace errorfunction;
  MlirScalar magnitude = min(max(x, -x), doubleEnd);
  MlirScalar square = magnitude * magnitude;
  MlirScalar small = magnitude * computePolynomial(square, doubleNear);
  MlirScalar u = (magnitude - 2.0) / (magnitude + 2.0);
  MlirScalar large = 1.0 - exp(-square) * computePolynomial(u, doubleFar);
  return withSign(select(magnitude < 1.0, small, large), x);
}

/// StableHLO has no erf.
static MlirScalar computeErf(const MlirScalar &x) {
  using namespace errorfunction;
  if (x.kind == ElemKind::Double)
    return computeErfOfDouble(x);
  MlirScalar near = max(min(x, floatEnd), -floatEnd);
  MlirScalar square = near * near;
  MlirScalar quotient = near * computePolynomial(square, floatP) /
                        computePolynomial(square, floatQ);
  // Exactly 1 far from 0, so that 1 - erf(x) comes out as 0 there.
  MlirScalar isFar = max(x, -x) >= floatEnd;
  MlirScalar far = select(x < 0.0, x.like(-1), x.like(1));
  return select(isFar, far, max(min(quotient, 1.0), -1.0));
}

//===- Primitives ---------------------------------------------------------===//

/// The operation that is \p primitive of all kinds that have it; empty where it
/// is composed.
static llvm::StringRef findHloOperation(ScalarPrimitive primitive) {
  using enum ScalarPrimitive;
  static constexpr std::pair<ScalarPrimitive, llvm::StringLiteral> all[] = {
      {Add, "stablehlo.add"},
      {Sub, "stablehlo.subtract"},
      {Mul, "stablehlo.multiply"},
      {Neg, "stablehlo.negate"},
      {Max, "stablehlo.maximum"},
      {Min, "stablehlo.minimum"},
      {Not, "stablehlo.not"},
      {And, "stablehlo.and"},
      {Or, "stablehlo.or"},
      {BitAnd, "stablehlo.and"},
      {BitOr, "stablehlo.or"},
      {BitXor, "stablehlo.xor"},
      {Select, "stablehlo.select"},
      {Exp, "stablehlo.exponential"},
      {Expm1, "stablehlo.exponential_minus_one"},
      {Log, "stablehlo.log"},
      {Log1p, "stablehlo.log_plus_one"},
      {Sqrt, "stablehlo.sqrt"},
      {Floor, "stablehlo.floor"},
      {Ceil, "stablehlo.ceil"},
      {Rint, "stablehlo.round_nearest_even"},
      {Tanh, "stablehlo.tanh"},
      {Sin, "stablehlo.sine"},
      {Cos, "stablehlo.cosine"},
      {Pow, "stablehlo.power"},
      {Div, "stablehlo.divide"},
      {ShiftLeft, "stablehlo.shift_left"},
      {ShiftRight, "stablehlo.shift_right_logical"},
      {ArithmeticShiftRight, "stablehlo.shift_right_arithmetic"},
  };
  auto found = llvm::find_if(
      all, [&](const auto &each) { return each.first == primitive; });
  return found == std::end(all) ? "" : llvm::StringRef(found->second);
}

MlirScalar StableHloWriter::applyPrimitive(ScalarPrimitive primitive,
                                           llvm::ArrayRef<MlirScalar> args) {
  using enum ScalarPrimitive;
  const MlirScalar &x = args[0], &y = args.back();
  auto write = [&](ScalarPrimitive part, const MlirScalar &left,
                   const MlirScalar &right) {
    return elementOp(findHloOperation(part), {left, right});
  };
  if (auto composed = composePrimitive(primitive, x, y, write))
    return *composed;
  llvm::StringRef operation = findHloOperation(primitive);
  if (!operation.empty())
    return elementOp(operation, args);
  switch (primitive) {
  case Less:
    return compare("LT", x, y);
  case LessOrEqual:
    return compare("LE", x, y);
  case Equal:
    return compare("EQ", x, y);
  case Atan:
    return elementOp("stablehlo.atan2", {x, x.like(1)});
  case Erf:
    return computeErf(x);
  default:
    llvm_unreachable("all others have an operation");
  }
}
