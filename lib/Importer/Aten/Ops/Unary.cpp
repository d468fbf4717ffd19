//===- Unary.cpp - Functions of one tensor --------------------------------===//

#include "Aten/AtenOp.h"
#include "Common/ElementWise.h"
#include "glowish/Base/ElemRange.h"
#include <cmath>
#include <limits>

using namespace glowish;
using namespace glowish::aten;

static constexpr double inf = std::numeric_limits<double>::infinity();

/// Numbers that wrap.
static llvm::Error importNeg(AtenOp &op) {
  NodeValue x = op.tensor("self");
  if (x.getElemKind() == ElemKind::UInt8)
    return op.setResult(op.sub(0, x));
  return op.setResult(op.unary<NegNode>(x));
}

/// A node of numbers with signs, which changes nothing of others.
template <typename T> static llvm::Error importSigned(AtenOp &op) {
  NodeValue x = op.tensor("self");
  return op.setResult(x.getElemKind() == ElemKind::UInt8 ? x : op.unary<T>(x));
}

static AtenOperators functions({"(Tensor self) -> Tensor"},
                               {{importNeg, {"neg"}},
                                {importSigned<ReluNode>, {"relu"}}},
                               AtenOrder::ElementWise);

//===- Signs and rounding -------------------------------------------------===//

static llvm::Error importSign(AtenOp &op) {
  NodeValue x = op.tensor("self");
  ElemKind kind = x.getElemKind();
  if (kind == ElemKind::Bool)
    return op.setResult(x);
  if (kind == ElemKind::UInt8)
    return op.setResult(op.cast(op.greater(x, 0), kind));
  // As opposed to the node's, that of NaN is 0.
  NodeValue sign = op.unary<SignNode>(x);
  return op.setResult(isFloatKind(kind)
                          ? op.select(op.equal(x, x), sign, op.number(x, 0))
                          : sign);
}

/// Integers stay what they are.
template <typename T> static llvm::Error importRounding(AtenOp &op) {
  NodeValue x = op.tensor("self");
  return op.setResult(isFloatKind(x.getElemKind()) ? op.unary<T>(x) : x);
}

static llvm::Error importTrunc(AtenOp &op) {
  NodeValue x = op.tensor("self");
  return op.setResult(isFloatKind(x.getElemKind()) ? truncate(op, x) : x);
}

static llvm::Error importFrac(AtenOp &op) {
  NodeValue x = op.floating("self");
  return op.setResult(op.sub(x, truncate(op, x)));
}

/// Rounds to `decimals` places, ties to even. Each step of bfloat16 is
/// rounded, too.
static llvm::Error importRoundDecimals(AtenOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("self"));
  NodeValue x = op.widenFloat16(op.tensor("self"));
  int64_t decimals = op.integer("decimals");
  double factor = std::pow(10.0, std::fabs(double(decimals)));
  NodeValue result =
      decimals < 0 ? op.mul(op.unary<RoundNode>(op.div(x, factor)), factor)
                   : op.div(op.unary<RoundNode>(op.mul(x, factor)), factor);
  return op.setResult(op.cast(result, op.tensor("self").getElemKind()));
}

static AtenOperators
    decimals({{importRoundDecimals,
               {"round.decimals(Tensor self, *, int decimals) -> Tensor"}}},
             AtenOrder::ElementWise);
static AtenOperators rounding({"(Tensor self) -> Tensor"},
                              {{importSigned<AbsNode>, {"abs"}},
                               {importSign, {"sign", "sgn"}},
                               {importRounding<FloorNode>, {"floor"}},
                               {importRounding<CeilNode>, {"ceil"}},
                               {importRounding<RoundNode>, {"round"}},
                               {importTrunc, {"trunc", "fix"}},
                               {importFrac, {"frac"}}},
                              AtenOrder::ElementWise);

//===- Powers and logarithms ----------------------------------------------===//

static llvm::Error importSquare(AtenOp &op) {
  NodeValue x = op.tensor("self");
  if (x.getElemKind() == ElemKind::Bool)
    x = op.cast(x, ElemKind::Int64);
  return op.setResult(op.mul(x, x));
}

static llvm::Error importRsqrt(AtenOp &op) {
  return op.setResult(
      op.unary<ReciprocalNode>(op.unary<SqrtNode>(op.floating("self"))));
}

static llvm::Error importExp2(AtenOp &op) {
  return op.setResult(op.pow(2.0, op.floating("self")));
}

template <int Base> static llvm::Error importLog(AtenOp &op) {
  return op.setResult(op.mul(op.unary<LogNode>(op.floating("self")),
                             1 / std::log(double(Base))));
}

static AtenOperators powers({"(Tensor self) -> Tensor"},
                            {
                                {importSquare, {"square"}},
                                {importRsqrt, {"rsqrt"}},
                                {importExp2, {"exp2"}},
                                {importLog<2>, {"log2"}},
                                {importLog<10>, {"log10"}},
                            },
                            AtenOrder::ElementWise);

//===- Tests --------------------------------------------------------------===//

static llvm::Error importIsNan(AtenOp &op) {
  NodeValue x = op.floating("self");
  return op.setResult(op.unary<NotNode>(op.equal(x, x)));
}

static llvm::Error importIsInf(AtenOp &op) {
  return op.setResult(op.equal(op.unary<AbsNode>(op.floating("self")), inf));
}

static llvm::Error importIsFinite(AtenOp &op) {
  return op.setResult(op.less(op.unary<AbsNode>(op.floating("self")), inf));
}

static llvm::Error importLogicalNot(AtenOp &op) {
  return op.setResult(
      op.unary<NotNode>(op.cast(op.tensor("self"), ElemKind::Bool)));
}

static llvm::Error importBitwiseNot(AtenOp &op) {
  NodeValue x = op.tensor("self");
  return op.setResult(x.getElemKind() == ElemKind::Bool ? op.unary<NotNode>(x)
                                                        : op.complement(x));
}

static AtenOperators tests({"(Tensor self) -> Tensor"},
                           {{importIsNan, {"isnan"}},
                            {importIsInf, {"isinf"}},
                            {importIsFinite, {"isfinite"}},
                            {importLogicalNot, {"logical_not"}},
                            {importBitwiseNot, {"bitwise_not"}}},
                           AtenOrder::ElementWise);

//===- Bounds -------------------------------------------------------------===//

/// Bounds are numbers or tensors, each of which may be None.
static llvm::Error importClamp(AtenOp &op) {
  std::vector<llvm::StringRef> operands = {"self"};
  for (llvm::StringRef bound : {"min", "max"})
    if (op.isStated(bound))
      operands.push_back(bound);
  ElemKind kind = op.promote(operands);
  NodeValue x = op.operand("self", kind);
  auto isNumber = [&](llvm::StringRef bound) {
    return op.get(bound).isNumber();
  };
  // One bound that is NaN is none; of two each makes everything NaN.
  if (operands.size() == 2 && isNumber(operands[1]) &&
      op.getSchema().arguments.size() == 3 &&
      std::isnan(op.get(operands[1]).getNumber()))
    return op.setResult(x);
  if (operands.size() == 3 && isNumber("min") && isNumber("max") &&
      isFloatKind(kind))
    return op.setResult(
        op.clip(x, op.get("min").getNumber(), op.get("max").getNumber()));
  for (llvm::StringRef bound : llvm::ArrayRef(operands).drop_front()) {
    NodeValue y = op.operand(bound, kind);
    if (kind == ElemKind::Bool)
      x = bound == "min" ? op.logicalOr(x, y) : op.logicalAnd(x, y);
    else
      x = bound == "min" ? op.max(x, y) : op.min(x, y);
  }
  return op.setResult(x);
}

static llvm::Error importNanToNum(AtenOp &op) {
  NodeValue x = op.tensor("self");
  ElemKind kind = x.getElemKind();
  if (!isFloatKind(kind))
    return op.setResult(x);
  double most = getFiniteRange(kind).high;
  NodeValue result =
      op.select(op.equal(x, x), x, op.number(x, op.number("nan", 0)));
  result = op.select(op.equal(x, inf), op.number(x, op.number("posinf", most)),
                     result);
  result = op.select(op.equal(x, -inf),
                     op.number(x, op.number("neginf", -most)), result);
  return op.setResult(result);
}

static AtenOperators bounds(
    {{importClamp,
      {"clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
       "clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> "
       "Tensor",
       "clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
       "clamp_min(Tensor self, Scalar min) -> Tensor",
       "clamp_min.Tensor(Tensor self, Tensor min) -> Tensor",
       "clamp_max(Tensor self, Scalar max) -> Tensor",
       "clamp_max.Tensor(Tensor self, Tensor max) -> Tensor"}},
     {importNanToNum,
      {"nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? "
       "neginf=None) -> Tensor"}}},
    AtenOrder::ElementWise);
