//===- Reduction.cpp - Reductions and ArgMax ------------------------------===//

#include "ONNX/OpContext.h"

using namespace glowish;

/// Dimensions as they are in the file: any order, negative ones from the end.
static llvm::Expected<std::vector<int64_t>>
normalizeAxes(std::vector<int64_t> axes, unsigned rank) {
  for (int64_t &axis : axes) {
    if (axis < -int64_t(rank) || axis >= int64_t(rank))
      return makeError("axis {0} does not exist in rank {1}", axis, rank);
    if (axis < 0)
      axis += rank;
  }
  llvm::sort(axes);
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

static llvm::Expected<NodeValue> reduce(OpContext &op, NodeValue input,
                                        llvm::StringRef mode) {
  unsigned rank = input.getShape().size();
  GLOWISH_TRY(std::vector<int64_t> axes, op.getIntsOrInput("axes", 1, {}));
  GLOWISH_TRY(int64_t keepDims, op.getInt("keepdims", 1));
  GLOWISH_TRY(int64_t emptyMeansNone, op.getInt("noop_with_empty_axes", 0));
  if (axes.empty() && emptyMeansNone)
    return input;
  if (axes.empty())
    for (unsigned d = 0; d < rank; ++d)
      axes.push_back(d);
  GLOWISH_TRY(axes, normalizeAxes(axes, rank));
  return op.create<ReduceNode>(input, mode, axes, keepDims != 0);
}

/// "ReduceMean" -> "mean".
static llvm::Error importReduce(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  return op.setOutput(
      0, reduce(op, input, op.getOpType().drop_front(6).lower()));
}

static llvm::Error importReduceSumSquare(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  GLOWISH_TRY(NodeValue square, op.create<MulNode>(input, input));
  return op.setOutput(0, reduce(op, square, "sum"));
}

static llvm::Error importReduceL1(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  GLOWISH_TRY(NodeValue magnitude, op.create<AbsNode>(input));
  return op.setOutput(0, reduce(op, magnitude, "sum"));
}

static llvm::Error importReduceL2(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  GLOWISH_TRY(NodeValue square, op.create<MulNode>(input, input));
  GLOWISH_TRY(NodeValue sum, reduce(op, square, "sum"));
  return op.setOutput(0, op.create<SqrtNode>(sum));
}

static llvm::Error importArg(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  unsigned rank = input.getShape().size();
  GLOWISH_TRY(int64_t axis, op.getAxis("axis", 0, rank));
  GLOWISH_TRY(int64_t keepDims, op.getInt("keepdims", 1));
  GLOWISH_TRY(int64_t selectLast, op.getInt("select_last_index", 0));
  if (op.getOpType() == "ArgMin") {
    GLOWISH_TRY(input, op.create<NegNode>(input));
  }
  return op.setOutput(0, op.create<ArgMaxNode>(input, axis, keepDims != 0,
                                               selectLast != 0));
}

static OnnxOperator reduceSumOp("ReduceSum", 1, importReduce);
static OnnxOperator reduceMeanOp("ReduceMean", 1, importReduce);
static OnnxOperator reduceMaxOp("ReduceMax", 1, importReduce);
static OnnxOperator reduceMinOp("ReduceMin", 1, importReduce);
static OnnxOperator reduceProdOp("ReduceProd", 1, importReduce);
static OnnxOperator reduceSumSquareOp("ReduceSumSquare", 1,
                                      importReduceSumSquare);
static OnnxOperator reduceL1Op("ReduceL1", 1, importReduceL1);
static OnnxOperator reduceL2Op("ReduceL2", 1, importReduceL2);
static OnnxOperator argMaxOp("ArgMax", 1, importArg);
static OnnxOperator argMinOp("ArgMin", 1, importArg);
