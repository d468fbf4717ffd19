//===- Arithmetic.cpp - Arithmetic of two and more tensors ----------------===//

#include "Aten/AtenOp.h"
#include "Common/ElementWise.h"
#include <cmath>

using namespace glowish;
using namespace glowish::aten;

namespace {

/// Operands of one kind.
struct Pair {
  ElemKind kind;
  NodeValue x, y;
};

} // namespace

/// `self` and `other`, promoted; bools become \p boolKind.
static Pair promoteOperands(AtenOp &op, ElemKind boolKind = ElemKind::Bool) {
  ElemKind kind = op.promote({"self", "other"});
  if (kind == ElemKind::Bool)
    kind = boolKind;
  return {kind, op.operand("self", kind), op.operand("other", kind)};
}

static llvm::Error importAdd(AtenOp &op) {
  auto [kind, x, y] = promoteOperands(op);
  if (kind == ElemKind::Bool)
    return op.setResult(op.logicalOr(x, y));
  return op.setResult(op.add(x, op.scale(y, "alpha")));
}

static llvm::Error importAddRelu(AtenOp &op) {
  auto [kind, x, y] = promoteOperands(op);
  if (kind == ElemKind::Bool)
    return makeError("its operands are bools; accepted: numbers");
  return op.setResult(op.unary<ReluNode>(op.add(x, op.scale(y, "alpha"))));
}

static llvm::Error importSub(AtenOp &op) {
  auto [kind, x, y] = promoteOperands(op);
  return op.setResult(op.sub(x, op.scale(y, "alpha")));
}

static llvm::Error importRsub(AtenOp &op) {
  auto [kind, x, y] = promoteOperands(op);
  return op.setResult(op.sub(y, op.scale(x, "alpha")));
}

static llvm::Error importMul(AtenOp &op) {
  auto [kind, x, y] = promoteOperands(op);
  return op.setResult(kind == ElemKind::Bool ? op.logicalAnd(x, y)
                                             : op.mul(x, y));
}

static AtenOperators
    addition({".Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
              ".Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"},
             {{importAdd, {"add"}},
              {importAddRelu, {"_add_relu"}},
              {importSub, {"sub"}},
              {importRsub, {"rsub"}}},
             AtenOrder::ElementWise);
static AtenOperators
    multiplication({{importMul,
                     {"mul.Tensor(Tensor self, Tensor other) -> Tensor",
                      "mul.Scalar(Tensor self, Scalar other) -> Tensor",
                      "multiply.Tensor(Tensor self, Tensor other) -> Tensor"}}},
                   AtenOrder::ElementWise);

//===- Division -----------------------------------------------------------===//

static llvm::Error importDiv(AtenOp &op) {
  ElemKind kind = op.promoteToFloat({"self", "other"});
  return op.setResult(
      op.div(op.operand("self", kind), op.operand("other", kind)));
}

/// The quotient rounded down. Of floats it is that of what the rest leaves of
/// \p x, which is a whole number but for one rounding error.
static llvm::Error setFloored(AtenOp &op) {
  auto [kind, x, y] = promoteOperands(op, ElemKind::Int64);
  if (!isFloatKind(kind))
    return op.setResult(divideDown(op, x, y));
  x = op.widen(x), y = op.widen(y);
  NodeValue rest = getTruncatedRest(op, x, y);
  NodeValue quotient = op.div(op.sub(x, rest), y);
  NodeValue hasSign = op.equal(op.less(rest, 0), op.less(y, 0));
  NodeValue isFinal = op.logicalOr(hasSign, op.equal(rest, 0));
  quotient = op.select(isFinal, quotient, op.sub(quotient, 1));
  NodeValue whole = op.unary<FloorNode>(op.add(quotient, 0.5));
  whole = op.select(op.equal(y, 0), op.div(x, y), whole);
  return op.setResult(op.cast(whole, kind));
}

static llvm::Error importDivMode(AtenOp &op) {
  if (op.isNone("rounding_mode"))
    return importDiv(op);
  std::string mode = op.text("rounding_mode");
  if (mode == "floor")
    return setFloored(op);
  auto [kind, x, y] = promoteOperands(op, ElemKind::Int64);
  if (mode == "trunc")
    return op.setResult(divideTowardsZero(op, x, y));
  return op.refuse("rounding_mode", "None, 'floor' and 'trunc'");
}

/// The remainder of a division that is rounded down, as Python has it, or
/// towards 0.
template <auto GetRest> static llvm::Error importRest(AtenOp &op) {
  auto [kind, x, y] = promoteOperands(op, ElemKind::Int64);
  return op.setResult(GetRest(op, x, y));
}

static AtenOperators roundedDivision(
    {{importDivMode,
      {"div.Tensor_mode(Tensor self, Tensor other, *, str? "
       "rounding_mode) -> Tensor",
       "div.Scalar_mode(Tensor self, Scalar other, *, str? "
       "rounding_mode) -> Tensor"}},
     {setFloored,
      {"floor_divide(Tensor self, Tensor other) -> Tensor",
       "floor_divide.Scalar(Tensor self, Scalar other) -> Tensor"}}},
    AtenOrder::ElementWise);
static AtenOperators division({".Tensor(Tensor self, Tensor other) -> Tensor",
                               ".Scalar(Tensor self, Scalar other) -> Tensor"},
                              {{importDiv, {"div", "true_divide", "divide"}},
                               {importRest<getFlooredRest>, {"remainder"}},
                               {importRest<getTruncatedRest>, {"fmod"}}},
                              AtenOrder::ElementWise);

//===- Powers, maxima -----------------------------------------------------===//

/// \p x to the power \p exponent, an int of at least 0, by multiplications.
static NodeValue raise(AtenOp &op, NodeValue x, int64_t exponent) {
  NodeValue result;
  for (NodeValue square = x;; square = op.mul(square, square)) {
    if (exponent & 1)
      result = result ? op.mul(result, square) : square;
    exponent >>= 1;
    if (exponent == 0)
      return result;
  }
}

/// The powers that other nodes compute; null if it is none of these.
static NodeValue raiseByNumber(AtenOp &op, NodeValue x, double exponent) {
  if (exponent == 0.5)
    return op.unary<SqrtNode>(x);
  if (exponent == -0.5)
    return op.unary<ReciprocalNode>(op.unary<SqrtNode>(x));
  if (exponent == -1)
    return op.unary<ReciprocalNode>(x);
  if (exponent == 1 || exponent == 2 || exponent == 3)
    return raise(op, x, int64_t(exponent));
  return {};
}

static llvm::Error importPow(AtenOp &op) {
  ElemKind kind = op.promote({"self", "exponent"});
  const AtenValue &exponent = op.get("exponent");
  if (isFloatKind(kind)) {
    NodeValue x = op.operand("self", kind);
    NodeValue result;
    if (exponent.isNumber())
      result = raiseByNumber(op, x, exponent.getNumber());
    if (!result)
      result = op.pow(x, op.operand("exponent", kind));
    return op.setResult(result);
  }
  if (kind == ElemKind::Bool)
    kind = ElemKind::Int64;
  if (exponent.is<int64_t>() && exponent.get<int64_t>() > 0)
    return op.setResult(
        raise(op, op.operand("self", kind), exponent.get<int64_t>()));
  return op.setResult(
      op.pow(op.operand("self", kind), op.operand("exponent", kind)));
}

template <bool IsMax> static llvm::Error importLarger(AtenOp &op) {
  auto [kind, x, y] = promoteOperands(op);
  if (kind == ElemKind::Bool)
    return op.setResult(IsMax ? op.logicalOr(x, y) : op.logicalAnd(x, y));
  return op.setResult(IsMax ? op.max(x, y) : op.min(x, y));
}

static AtenOperators
    powers({{importPow,
             {"pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
              "pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
              "pow.Scalar(Scalar self, Tensor exponent) -> Tensor"}},
            {importLarger<true>,
             {"maximum(Tensor self, Tensor other) -> Tensor",
              "max.other(Tensor self, Tensor other) -> Tensor"}},
            {importLarger<false>,
             {"minimum(Tensor self, Tensor other) -> Tensor",
              "min.other(Tensor self, Tensor other) -> Tensor"}}},
           AtenOrder::ElementWise);

//===- Angles -------------------------------------------------------------===//

static llvm::Error importAtan2(AtenOp &op) {
  ElemKind kind = op.promoteToFloat({"self", "other"});
  NodeValue y = op.widen(op.operand("self", kind)),
            x = op.widen(op.operand("other", kind));
  return op.setResult(op.cast(getAngle(op, y, x), kind));
}

/// The root of x^2 + y^2, of numbers whose squares may be too large.
static llvm::Error importHypot(AtenOp &op) {
  ElemKind kind = op.promote({"self", "other"});
  if (!isFloatKind(kind))
    return op.refuse("self", "floats");
  NodeValue x = op.unary<AbsNode>(op.widen(op.operand("self", kind))),
            y = op.unary<AbsNode>(op.widen(op.operand("other", kind)));
  NodeValue most = op.max(x, y), ratio = op.div(op.min(x, y), most);
  NodeValue length =
      op.mul(most, op.unary<SqrtNode>(op.add(op.mul(ratio, ratio), 1)));
  length = op.select(op.equal(most, 0), most, length);
  // Infinite is also what has NaN at its side.
  NodeValue isInfinite =
      op.logicalOr(op.equal(x, INFINITY), op.equal(y, INFINITY));
  length = op.select(isInfinite, op.number(x, INFINITY), length);
  return op.setResult(op.cast(length, kind));
}

static AtenOperators
    angles({{importAtan2,
             {"atan2(Tensor self, Tensor other) -> Tensor",
              "arctan2(Tensor self, Tensor other) -> Tensor"}},
            {importHypot, {"hypot(Tensor self, Tensor other) -> Tensor"}}},
           AtenOrder::ElementWise);

//===- Three operands -----------------------------------------------------===//

/// self + value * (tensor1 * tensor2), or tensor1 / tensor2.
template <bool IsMul> static llvm::Error importAddCombined(AtenOp &op) {
  auto promote = IsMul ? &AtenOp::promote : &AtenOp::promoteToFloat;
  ElemKind kind = (op.*promote)({"self", "tensor1", "tensor2"});
  NodeValue x = op.operand("tensor1", kind), y = op.operand("tensor2", kind);
  NodeValue part = IsMul ? op.mul(x, y) : op.div(x, y);
  part = op.scale(part, "value");
  return op.setResult(op.add(op.operand("self", kind), part));
}

/// self + weight * (end - self), from the end that is nearer.
static llvm::Error importLerp(AtenOp &op) {
  ElemKind kind = op.tensor("self").getElemKind();
  NodeValue x = op.widen(op.tensor("self")), end = op.widen(op.tensor("end")),
            weight = op.widen(op.operand("weight", kind));
  NodeValue step = op.sub(end, x);
  NodeValue fromStart = op.add(x, op.mul(weight, step)),
            fromEnd = op.sub(end, op.mul(step, op.sub(1, weight)));
  const AtenValue &number = op.get("weight");
  NodeValue result = !number.isNumber()
                         ? op.select(op.less(op.unary<AbsNode>(weight), 0.5),
                                     fromStart, fromEnd)
                     : std::fabs(number.getNumber()) < 0.5 ? fromStart
                                                           : fromEnd;
  return op.setResult(op.cast(result, kind));
}

static AtenOperators ofThree(
    {{importAddCombined<true>,
      {"addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar "
       "value=1) -> Tensor"}},
     {importAddCombined<false>,
      {"addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar "
       "value=1) -> Tensor"}},
     {importLerp,
      {"lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor",
       "lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor"}}},
    AtenOrder::ElementWise);

//===- Losses -------------------------------------------------------------===//

/// The mean, the sum, or what they are of, as `reduction` says.
static llvm::Error setLoss(AtenOp &op, NodeValue loss) {
  if (!loss)
    return op.setResult(loss);
  std::vector<int64_t> axes = getAllDims(loss.getShape().size());
  switch (op.integer("reduction")) {
  case 0:
    return op.setResult(loss);
  case 1:
    return op.setResult(op.reduce(loss, "mean", axes, /*keepDims=*/false));
  default:
    return op.setResult(op.reduce(loss, "sum", axes, /*keepDims=*/false));
  }
}

/// self - target, promoted.
static NodeValue getDifference(AtenOp &op) {
  ElemKind kind = op.promote({"self", "target"});
  return op.sub(op.operand("self", kind), op.operand("target", kind));
}

static llvm::Error importMseLoss(AtenOp &op) {
  NodeValue difference = getDifference(op);
  return setLoss(op, op.mul(difference, difference));
}

static llvm::Error importL1Loss(AtenOp &op) {
  return setLoss(op, op.unary<AbsNode>(getDifference(op)));
}

static AtenOperators losses(
    {{importMseLoss,
      {"mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor"}},
     {importL1Loss,
      {"l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor"}}});
