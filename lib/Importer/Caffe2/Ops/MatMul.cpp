//===- MatMul.cpp - Matrix multiplication ---------------------------------===//

#include "Common/MatMul.h"
#include "Caffe2/Matrix.h"

using namespace glowish;
using namespace glowish::caffe2;

/// The weights are [N, K], or [K, N] if \p isTransposed. K covers the
/// dimensions of the input from `axis` on.
template <bool isTransposed> static llvm::Error importFC(NetOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(Matrix input, readMatrix(op, 0, "axis"));
  GLOWISH_ASSIGN_OR_RETURN(Matrix weights, readMatrix(op, 1, "axis_w"));
  int64_t numOutputs =
      isTransposed ? weights.value.getShape()[1] : weights.value.getShape()[0];
  NodeValue x = input.value, w = op.cast(weights.value, x.getElemKind());
  NodeValue bias = op.weight(2, {numOutputs});
  NodeValue result =
      makeFullyConnected(op, x, isTransposed ? w : op.transposeLast(w),
                         op.cast(bias, x.getElemKind()));
  return op.setOutput(0, input.unflatten(op, result));
}

/// Matrix multiplication of inputs flattened at `axis_a` and `axis_b`.
static llvm::Error importMatMul(NetOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(Matrix a, readMatrix(op, 0, "axis_a"));
  GLOWISH_ASSIGN_OR_RETURN(Matrix b, readMatrix(op, 1, "axis_b"));
  bool transA = op.getInt("trans_a", 0), transB = op.getInt("trans_b", 0);
  op.ignoreArgs({"broadcast"});
  return op.setOutput(0,
                      makeGemm(op, a.value, b.value, NodeValue(),
                               {.transposesX = transA, .transposesY = transB}));
}

/// Matrix multiplication by NumPy's rules: vectors are a row or a column, and
/// leading dimensions broadcast.
static llvm::Error importBatchMatMul(NetOp &op) {
  bool transA = op.getInt("trans_a", 0), transB = op.getInt("trans_b", 0);
  op.ignoreArgs({"broadcast", "use_scratch"});
  NodeValue a = op.input(0), b = op.input(1);
  size_t rankA = a.getShape().size(), rankB = b.getShape().size();
  if (!rankA || !rankB)
    return op.refuseInput(rankA ? 1 : 0, "rank 1 or more");
  if (transA && rankA > 1)
    a = op.transposeLast(a);
  if (transB && rankB > 1)
    b = op.transposeLast(b);
  return op.setOutput(0, makeMatMul(op, a, b));
}

/// The dot product of corresponding rows; of vectors, x * y.
static llvm::Error importDotProduct(NetOp &op) {
  NodeValue x = op.input(0), y = op.input(1);
  DimsRef shape = x.getShape();
  if (y.getShape() != shape || shape.empty())
    return op.refuseInput(1, "the same type as input 0");
  return op.setOutput(0,
                      op.reduce(op.mul(x, y), "sum",
                                getDimsFrom(1, unsigned(shape.size())), false));
}

static constexpr NetOpTraits fcTraits{
    .inputs = 3, .firstWeight = 1, .firstImplied = 2};

static const Caffe2Operators operators = {
    {"FC", importFC<false>, fcTraits},
    {"FbFCPacked", importFC<false>, fcTraits},
    {"FCTransposed", importFC<true>, fcTraits},
    {"MatMul", importMatMul, {.inputs = 2}},
    {"BatchMatMul", importBatchMatMul, {.inputs = 2}},
    {"DotProduct", importDotProduct, {.inputs = 2}}};
