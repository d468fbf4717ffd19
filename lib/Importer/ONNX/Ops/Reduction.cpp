//===- Reduction.cpp - Reductions and ArgMax ------------------------------===//

#include "Common/ElementWise.h"
#include "Common/Reductions.h"
#include "ONNX/Extents.h"

using namespace glowish;
using namespace glowish::onnximport;

namespace {
/// The reduced axes; empty if there are none and noop_with_empty_axes is set.
struct Reduction {
  std::vector<int64_t> axes;
  bool keepDims = true;
};
} // namespace

/// The axes are an attribute before opset 18 (of ReduceSum before opset 13).
static llvm::Expected<Reduction> readReduction(OpContext &op, unsigned rank) {
  Reduction result;
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> axes,
                           op.getIntsOrInput("axes", 1, {}));
  int64_t keepDims = op.getInt("keepdims", 1);
  int64_t emptyMeansNone = op.getInt("noop_with_empty_axes", 0);
  result.keepDims = keepDims != 0;
  if (axes.empty() && !emptyMeansNone)
    axes = getAllDims(rank);
  GLOWISH_ASSIGN_OR_RETURN(result.axes, normalizeAxes(std::move(axes), rank));
  return result;
}

static llvm::Expected<NodeValue> reduce(OpContext &op, NodeValue input,
                                        llvm::StringRef mode) {
  GLOWISH_ASSIGN_OR_RETURN(Reduction reduction,
                           readReduction(op, input.getShape().size()));
  if (reduction.axes.empty())
    return input;
  return op.create<ReduceNode>(input, mode, reduction.axes, reduction.keepDims);
}

/// Returns the kind to compute a reduction of \p kind in, if it is another one.
static std::optional<ElemKind> getInnerKind(ElemKind kind,
                                            llvm::StringRef mode) {
  // Since opset 20, with true greater than false.
  if (kind == ElemKind::Bool && (mode == "max" || mode == "min"))
    return ElemKind::UInt8;
  // The sum of a mean must not wrap.
  if (mode == "mean" && isIntegerKind(kind) && getElemSize(kind) < 8)
    return ElemKind::Int64;
  return std::nullopt;
}

/// "ReduceMean" -> "mean".
static llvm::Error importReduce(OpContext &op, NodeValue input) {
  std::string mode = op.getOpType().drop_front(6).lower();
  ElemKind kind = input.getElemKind();
  std::optional<ElemKind> inner = getInnerKind(kind, mode);
  if (!inner)
    return op.setOutput(0, reduce(op, input, mode));
  GLOWISH_ASSIGN_OR_RETURN(input,
                           op.createHelper<CastNode>(".cast", input, *inner));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue result, reduce(op, input, mode));
  return op.setOutput(0, op.createHelper<CastNode>(".back", result, kind));
}

static llvm::Error importReduceSumSquare(OpContext &op, NodeValue input) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue square, op.create<MulNode>(input, input));
  return op.setOutput(0, reduce(op, square, "sum"));
}

static llvm::Error importReduceL1(OpContext &op, NodeValue input) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue magnitude, op.create<AbsNode>(input));
  return op.setOutput(0, reduce(op, magnitude, "sum"));
}

static llvm::Error importReduceL2(OpContext &op, NodeValue input) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue square, op.create<MulNode>(input, input));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue sum, reduce(op, square, "sum"));
  return op.setOutput(0, op.create<SqrtNode>(sum));
}

static llvm::Error importReduceLogSum(OpContext &op, NodeValue input) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue sum, reduce(op, input, "sum"));
  return op.setOutput(0, op.create<LogNode>(sum));
}

static llvm::Error importReduceLogSumExp(OpContext &op, NodeValue input) {
  GLOWISH_ASSIGN_OR_RETURN(Reduction reduction,
                           readReduction(op, input.getShape().size()));
  return op.setOutput(
      0, makeLogSumExp(op, input, reduction.axes, reduction.keepDims));
}

static llvm::Error importArg(OpContext &op, NodeValue input) {
  unsigned rank = input.getShape().size();
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.getAxis("axis", 0, rank));
  int64_t keepDims = op.getInt("keepdims", 1);
  int64_t selectLast = op.getInt("select_last_index", 0);
  if (op.getOpType() == "ArgMin")
    input = turnOrder(op, input);
  GLOWISH_ASSIGN_OR_RETURN(input, op.finish(input));
  return op.setOutput(
      0, op.create<ArgMaxNode>(input, axis, keepDims != 0, selectLast != 0));
}

static OnnxOperator reduceSumOp("ReduceSum", 1, withExtents<importReduce>);
static OnnxOperator reduceMeanOp("ReduceMean", 1, withExtents<importReduce>);
static OnnxOperator reduceMaxOp("ReduceMax", 1, withExtents<importReduce>);
static OnnxOperator reduceMinOp("ReduceMin", 1, withExtents<importReduce>);
static OnnxOperator reduceProdOp("ReduceProd", 1, withExtents<importReduce>);
static OnnxOperator reduceSumSquareOp("ReduceSumSquare", 1,
                                      withExtents<importReduceSumSquare>);
static OnnxOperator reduceL1Op("ReduceL1", 1, withExtents<importReduceL1>);
static OnnxOperator reduceL2Op("ReduceL2", 1, withExtents<importReduceL2>);
static OnnxOperator reduceLogSumOp("ReduceLogSum", 1,
                                   withExtents<importReduceLogSum>);
static OnnxOperator reduceLogSumExpOp("ReduceLogSumExp", 1,
                                      withExtents<importReduceLogSumExp>);
static OnnxOperator argMaxOp("ArgMax", 1, withExtents<importArg>);
static OnnxOperator argMinOp("ArgMin", 1, withExtents<importArg>);
