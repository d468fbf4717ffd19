//===- Bitwise.cpp - Bitwise operators ------------------------------------===//

#include "ONNX/Extents.h"
#include "ONNX/ModelFile.h"

using namespace glowish;
using namespace glowish::onnximport;

template <typename T>
static llvm::Error importBits(OpContext &op, NodeValue x, NodeValue y) {
  return op.setOutput(0, op.create<T>(x, y));
}

static llvm::Error importBitwiseNot(OpContext &op, NodeValue x) {
  if (!isIntegerKind(x.getElemKind()))
    return op.refuseInput(0, "an integer kind");
  return op.setOutput(0, op.complement(x));
}

static llvm::Error importBitShift(OpContext &op, NodeValue x, NodeValue y) {
  std::string direction = op.getString("direction", "");
  if (isSignedIntegerKind(x.getElemKind()))
    return op.refuseInput(0, "an unsigned integer kind");
  if (direction == "LEFT")
    return op.setOutput(0, op.create<ShiftLeftNode>(x, y));
  if (direction == "RIGHT")
    return op.setOutput(0, op.create<ShiftRightNode>(x, y));
  return makeError("attribute 'direction' is '{0}'; accepted: LEFT, RIGHT",
                   direction);
}

/// The type rule refuses bool results: their bytes would have to be 0 or 1.
static llvm::Error importBitCast(OpContext &op, NodeValue input) {
  int64_t to = op.getInt("to", 0);
  GLOWISH_ASSIGN_OR_RETURN(ElemKind kind, getElemKind(to));
  return op.setOutput(0, op.create<BitCastNode>(input, kind));
}

static OnnxOperator bitwiseAndOp("BitwiseAnd", 18,
                                 elementWise<importBits<BitAndNode>>);
static OnnxOperator bitwiseOrOp("BitwiseOr", 18,
                                elementWise<importBits<BitOrNode>>);
static OnnxOperator bitwiseXorOp("BitwiseXor", 18,
                                 elementWise<importBits<BitXorNode>>);
static OnnxOperator bitwiseNotOp("BitwiseNot", 18,
                                 elementWise<importBitwiseNot>);
static OnnxOperator bitShiftOp("BitShift", 11, elementWise<importBitShift>);
static OnnxOperator bitCastOp("BitCast", 26, elementWise<importBitCast>);
