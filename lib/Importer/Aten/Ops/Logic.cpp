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

static AtenOperators comparisons(
    {".Tensor(Tensor self, Tensor other) -> Tensor",
     ".Scalar(Tensor self, Scalar other) -> Tensor"},
    {{importTensorComparison<EqualNode>, {"eq"}},
     {importTensorComparison<EqualNode, true>, {"ne", "not_equal"}},
     {importTensorComparison<LessNode>, {"lt", "less"}},
     {importTensorComparison<GreaterNode>, {"gt", "greater"}},
     {importTensorComparison<LessOrEqualNode>, {"le", "less_equal"}},
     {importTensorComparison<GreaterOrEqualNode>, {"ge", "greater_equal"}}},
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
    logic({{importLogical<Connective::And>,
            {"logical_and(Tensor self, Tensor other) -> Tensor"}},
           {importLogical<Connective::Or>,
            {"logical_or(Tensor self, Tensor other) -> Tensor"}},
           {importLogical<Connective::Xor>,
            {"logical_xor(Tensor self, Tensor other) -> Tensor"}}},
          AtenOrder::ElementWise);
static AtenOperators bits(
    {".Tensor(Tensor self, Tensor other) -> Tensor",
     ".Scalar(Tensor self, Scalar other) -> Tensor"},
    {{importBitwise<Connective::And, BitAndNode>, {"bitwise_and", "__and__"}},
     {importBitwise<Connective::Or, BitOrNode>, {"bitwise_or", "__or__"}},
     {importBitwise<Connective::Xor, BitXorNode>, {"bitwise_xor", "__xor__"}}},
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

static AtenOperators namedShifts(
    {{importShift<true>,
      {"bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor",
       "bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> "
       "Tensor"}},
     {importShift<false>,
      {"bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor",
       "bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> "
       "Tensor"}}},
    AtenOrder::ElementWise);
static AtenOperators shifts({".Tensor(Tensor self, Tensor other) -> Tensor",
                             ".Scalar(Tensor self, Scalar other) -> Tensor"},
                            {{importShift<true>, {"__lshift__"}},
                             {importShift<false>, {"__rshift__"}}},
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

static AtenOperators selection(
    {{importWhere,
      {"where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
       "where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> "
       "Tensor",
       "where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> "
       "Tensor",
       "where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor"}}},
    AtenOrder::ElementWise);
static AtenOperators maskedFill(
    {{importMaskedFill,
      {"masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
       "masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> "
       "Tensor"}}},
    AtenOrder::RowMajor);
