//===- Logic.cpp - Comparisons, logic and selection -----------------------===//

#include "Aten/AtenOp.h"

using namespace glowish;
using namespace glowish::aten;

//===- Operators that records name ----------------------------------------===//

/// Imports a function of floats; integers become floats.
static llvm::Error importFunction(AtenOp &op, NodeKind kind,
                                  llvm::ArrayRef<double> defaults) {
  return op.setResult(op.makeRecorded(kind, {op.floating("self")}, defaults));
}

/// Compares `self` and `other`, promoted; bools, which have no order, as
/// integers.
static NodeValue compare(AtenOp &op, NodeKind kind) {
  ElemKind common = op.promote({"self", "other"});
  if (common == ElemKind::Bool)
    common = ElemKind::Int32;
  return op.makeRecorded(
      kind, {op.operand("self", common), op.operand("other", common)}, {});
}

/// Imports a function of two bools, to which numbers are converted.
static llvm::Error importConnective(AtenOp &op, NodeKind kind) {
  return op.setResult(op.makeRecorded(
      kind,
      {op.operand("self", ElemKind::Bool), op.operand("other", ElemKind::Bool)},
      {}));
}

static llvm::Error importRecord(AtenOp &op, NodeKind kind,
                                llvm::StringRef kinds,
                                llvm::ArrayRef<double> defaults) {
  if (!op.has("other"))
    return importFunction(op, kind, defaults);
  return kinds == "Bool" ? importConnective(op, kind)
                         : op.setResult(compare(op, kind));
}

static llvm::Error importNotEqual(AtenOp &op) {
  return op.setResult(op.unary<NotNode>(compare(op, NodeKind::Equal)));
}

static AtenOperators
    differences({".Tensor(Tensor self, Tensor other) -> Tensor",
                 ".Scalar(Tensor self, Scalar other) -> Tensor"},
                {{importNotEqual, {"ne", "not_equal"}}},
                AtenOrder::ElementWise);

static AtenRecords sameOperators = {
#define ATEN_ELEMENT_WISE(NAME, ATEN, NUM_OPERANDS, KINDS, ...)                \
  {NodeKind::NAME, ATEN, NUM_OPERANDS, KINDS, [](AtenOp &op) {                 \
     return importRecord(op, NodeKind::NAME, KINDS, {__VA_ARGS__});            \
   }},
#define GET_ATEN_ELEMENT_WISE_LIST
#include "glowish/Graph/NodeFunctions.inc"
};

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

static llvm::Error importLogicalXor(AtenOp &op) {
  return op.setResult(exclusiveOr(op, op.operand("self", ElemKind::Bool),
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

static AtenOperators logic(
    {{importLogicalXor, {"logical_xor(Tensor self, Tensor other) -> Tensor"}}},
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
