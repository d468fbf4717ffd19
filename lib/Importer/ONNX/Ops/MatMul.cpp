//===- MatMul.cpp - Matrix products ---------------------------------------===//

#include "ONNX/MatMul.h"

using namespace glowish;

/// A vector on the left is a row, one on the right a column; the dimension
/// that this adds is taken away from the result.
llvm::Expected<NodeValue> glowish::makeMatMul(OpContext &op, NodeValue lhs,
                                              NodeValue rhs) {
  bool isRow = lhs.getShape().size() == 1;
  bool isColumn = rhs.getShape().size() == 1;
  if (isRow) {
    GLOWISH_TRY(lhs, op.reshape(lhs, {1, lhs.getShape()[0]}));
  }
  if (isColumn) {
    GLOWISH_TRY(rhs, op.reshape(rhs, {rhs.getShape()[0], 1}));
  }
  GLOWISH_TRY(NodeValue result, op.create<MatMulNode>(lhs, rhs));
  Dims shape(result.getShape());
  if (isColumn)
    shape.pop_back();
  if (isRow)
    shape.erase(shape.end() - (isColumn ? 1 : 2));
  return op.reshape(result, shape);
}

static llvm::Error importMatMul(OpContext &op) {
  GLOWISH_TRY(NodeValue lhs, op.getInput(0));
  GLOWISH_TRY(NodeValue rhs, op.getInput(1));
  return op.setOutput(0, makeMatMul(op, lhs, rhs));
}

static llvm::Error importGemm(OpContext &op) {
  GLOWISH_TRY(NodeValue a, op.getInput(0));
  GLOWISH_TRY(NodeValue b, op.getInput(1));
  NodeValue c = op.getOptionalInput(2);
  // Before opset 7 it tells whether c may broadcast; that shows by itself.
  if (op.getOpset() < 7)
    op.ignoreAttrs({"broadcast"});
  GLOWISH_TRY(double alpha, op.getFloat("alpha", 1));
  GLOWISH_TRY(double beta, op.getFloat("beta", 1));
  GLOWISH_TRY(int64_t transA, op.getInt("transA", 0));
  GLOWISH_TRY(int64_t transB, op.getInt("transB", 0));
  return op.setOutput(
      0, op.create<GemmNode>(a, b, c, alpha, beta, transA != 0, transB != 0));
}

static OnnxOperator matMulOp("MatMul", 1, importMatMul);
static OnnxOperator gemmOp("Gemm", 1, importGemm);
