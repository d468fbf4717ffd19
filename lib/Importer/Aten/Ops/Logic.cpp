//===- Logic.cpp - Comparisons, logic and selection -----------------------===//

#include "Aten/AtenOp.h"

using namespace glowish;
using namespace glowish::aten;

//===- Comparisons --------------------------------------------------------===//

/// Compares `self` and `other`, promoted; bools, which have no order, as
/// integers.
template <typename T, bool IsNegated = false>
static llvm::Error importTensorComparison(AtenOp &op) {
  ElemKind kind = op.promote({"self", "other"});
  if (kind == ElemKind::Bool)
    kind = ElemKind::Int32;
  NodeValue result =
      op.make<T>(op.operand("self", kind), op.operand("other", kind));
  return op.setResult(IsNegated ? op.unary<NotNode>(result) : result);
}

static AtenOperators eqOp(importTensorComparison<EqualNode>,
                          {"eq.Tensor(Tensor self, Tensor other) -> Tensor",
                           "eq.Scalar(Tensor self, Scalar other) -> Tensor"},
                          AtenOrder::ElementWise);
static AtenOperators neOp(importTensorComparison<EqualNode, true>,
                          {"ne.Tensor(Tensor self, Tensor other) -> Tensor",
                           "ne.Scalar(Tensor self, Scalar other) -> Tensor",
                           "not_equal.Tensor(Tensor self, Tensor other) -> "
                           "Tensor",
                           "not_equal.Scalar(Tensor self, Scalar other) -> "
                           "Tensor"},
                          AtenOrder::ElementWise);
static AtenOperators ltOp(importTensorComparison<LessNode>,
                          {"lt.Tensor(Tensor self, Tensor other) -> Tensor",
                           "lt.Scalar(Tensor self, Scalar other) -> Tensor",
                           "less.Tensor(Tensor self, Tensor other) -> Tensor",
                           "less.Scalar(Tensor self, Scalar other) -> Tensor"},
                          AtenOrder::ElementWise);
static AtenOperators
    gtOp(importTensorComparison<GreaterNode>,
         {"gt.Tensor(Tensor self, Tensor other) -> Tensor",
          "gt.Scalar(Tensor self, Scalar other) -> Tensor",
          "greater.Tensor(Tensor self, Tensor other) -> Tensor",
          "greater.Scalar(Tensor self, Scalar other) -> "
          "Tensor"},
         AtenOrder::ElementWise);
static AtenOperators
    leOp(importTensorComparison<LessOrEqualNode>,
         {"le.Tensor(Tensor self, Tensor other) -> Tensor",
          "le.Scalar(Tensor self, Scalar other) -> Tensor",
          "less_equal.Tensor(Tensor self, Tensor other) -> Tensor",
          "less_equal.Scalar(Tensor self, Scalar other) -> Tensor"},
         AtenOrder::ElementWise);
static AtenOperators
    geOp(importTensorComparison<GreaterOrEqualNode>,
         {"ge.Tensor(Tensor self, Tensor other) -> Tensor",
          "ge.Scalar(Tensor self, Scalar other) -> Tensor",
          "greater_equal.Tensor(Tensor self, Tensor other) -> Tensor",
          "greater_equal.Scalar(Tensor self, Scalar other) -> Tensor"},
         AtenOrder::ElementWise);

//===- Logic --------------------------------------------------------------===//

static NodeValue exclusiveOr(AtenOp &op, NodeValue x, NodeValue y) {
  return op.unary<NotNode>(op.equal(x, y));
}

enum class Connective { And, Or, Xor };

static NodeValue connect(AtenOp &op, Connective connective, NodeValue x,
                         NodeValue y) {
  switch (connective) {
  case Connective::And:
    return op.logicalAnd(x, y);
  case Connective::Or:
    return op.logicalOr(x, y);
  case Connective::Xor:
    return exclusiveOr(op, x, y);
  }
  llvm_unreachable("not a connective");
}

template <Connective C> static llvm::Error importLogical(AtenOp &op) {
  return op.setResult(connect(op, C, op.operand("self", ElemKind::Bool),
                              op.operand("other", ElemKind::Bool)));
}

/// Of integers bit by bit.
template <Connective C, typename T>
static llvm::Error importBitwise(AtenOp &op) {
  ElemKind kind = op.promote({"self", "other"});
  NodeValue x = op.operand("self", kind), y = op.operand("other", kind);
  if (kind == ElemKind::Bool)
    return op.setResult(connect(op, C, x, y));
  if (!isIntegerKind(kind))
    return op.refuse("self", "integers and bools");
  return op.setResult(op.make<T>(x, y));
}

static AtenOperators
    logicalAndOp(importLogical<Connective::And>,
                 {"logical_and(Tensor self, Tensor other) -> Tensor"},
                 AtenOrder::ElementWise);
static AtenOperators
    logicalOrOp(importLogical<Connective::Or>,
                {"logical_or(Tensor self, Tensor other) -> Tensor"},
                AtenOrder::ElementWise);
static AtenOperators
    logicalXorOp(importLogical<Connective::Xor>,
                 {"logical_xor(Tensor self, Tensor other) -> Tensor"},
                 AtenOrder::ElementWise);
static AtenOperators
    bitwiseAndOp(importBitwise<Connective::And, BitAndNode>,
                 {"bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor",
                  "bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor",
                  "__and__.Tensor(Tensor self, Tensor other) -> Tensor",
                  "__and__.Scalar(Tensor self, Scalar other) -> Tensor"},
                 AtenOrder::ElementWise);
static AtenOperators
    bitwiseOrOp(importBitwise<Connective::Or, BitOrNode>,
                {"bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor",
                 "bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor",
                 "__or__.Tensor(Tensor self, Tensor other) -> Tensor",
                 "__or__.Scalar(Tensor self, Scalar other) -> Tensor"},
                AtenOrder::ElementWise);
static AtenOperators
    bitwiseXorOp(importBitwise<Connective::Xor, BitXorNode>,
                 {"bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor",
                  "bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor",
                  "__xor__.Tensor(Tensor self, Tensor other) -> Tensor",
                  "__xor__.Scalar(Tensor self, Scalar other) -> Tensor"},
                 AtenOrder::ElementWise);

/// x * 2^y; to the right rounded down, as of signed integers.
template <bool IsLeft> static llvm::Error importShift(AtenOp &op) {
  ElemKind kind = op.promote({"self", "other"});
  if (!isIntegerKind(kind))
    return op.refuse("self", "integers");
  NodeValue x = op.operand("self", kind), y = op.operand("other", kind);
  if (IsLeft)
    return op.setResult(op.make<ShiftLeftNode>(x, y));
  // Of negative numbers the complement is shifted.
  if (!isSignedIntegerKind(kind))
    return op.setResult(op.make<ShiftRightNode>(x, y));
  NodeValue isNegative = op.less(x, 0);
  NodeValue magnitude = op.select(isNegative, op.complement(x), x);
  NodeValue shifted = op.make<ShiftRightNode>(magnitude, y);
  return op.setResult(op.select(isNegative, op.complement(shifted), shifted));
}

static AtenOperators shiftLeftOp(
    importShift<true>,
    {"__lshift__.Scalar(Tensor self, Scalar other) -> Tensor",
     "__lshift__.Tensor(Tensor self, Tensor other) -> Tensor",
     "bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor",
     "bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor"},
    AtenOrder::ElementWise);
static AtenOperators shiftRightOp(
    importShift<false>,
    {"__rshift__.Scalar(Tensor self, Scalar other) -> Tensor",
     "__rshift__.Tensor(Tensor self, Tensor other) -> Tensor",
     "bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor",
     "bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> "
     "Tensor"},
    AtenOrder::ElementWise);

//===- Selection ----------------------------------------------------------===//

static llvm::Error importWhere(AtenOp &op) {
  ElemKind kind = op.promote({"self", "other"});
  return op.setResult(op.select(op.operand("condition", ElemKind::Bool),
                                op.operand("self", kind),
                                op.operand("other", kind)));
}

/// `value` where the mask is true; the kind stays.
static llvm::Error importMaskedFill(AtenOp &op) {
  NodeValue x = op.tensor("self");
  return op.setResult(op.select(op.operand("mask", ElemKind::Bool),
                                op.operand("value", x.getElemKind()), x));
}

static AtenOperators whereOp(
    importWhere,
    {"where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
     "where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> "
     "Tensor",
     "where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> "
     "Tensor",
     "where.Scalar(Tensor condition, Scalar self, Scalar other) -> "
     "Tensor"},
    AtenOrder::ElementWise);
static AtenOperators maskedFillOp(
    importMaskedFill,
    {"masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> "
     "Tensor",
     "masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> "
     "Tensor"},
    AtenOrder::RowMajor);
