//===- Normalization.cpp - Normalizations and softmax ---------------------===//

#include "Common/Normalization.h"
#include "Caffe2/Matrix.h"

using namespace glowish;
using namespace glowish::caffe2;

static llvm::Error importSoftmax(NetOp &op) {
  // Caffe2 flattens the dimensions from the axis on.
  GLOWISH_ASSIGN_OR_RETURN(Matrix matrix, readMatrix(op, 0, "axis"));
  NodeValue result = op.make<SoftmaxNode>(matrix.value, 1);
  return op.setOutput(0, op.repack(result, op.input(0).getType()));
}

static llvm::Error importSpatialBN(NetOp &op) {
  NodeValue x = op.input(0);
  GLOWISH_ASSIGN_OR_RETURN(bool isNHWC, op.isNHWC());
  if (x.getShape().size() < 2)
    return op.refuseInput(0, "rank 2 or more");
  int64_t axis = isNHWC ? int64_t(x.getShape().size()) - 1 : 1;
  double epsilon = op.getFloat("epsilon", 1e-5);
  op.ignoreArgs({"momentum", "num_batches"});
  int64_t channels = x.getShape()[axis];
  NodeValue scale = op.weight(1, {channels}), bias = op.weight(2, {channels});
  NodeValue mean = op.weight(3, {channels});
  NodeValue variance = op.weight(4, {channels});
  return op.setOutput(0, op.make<BatchNormalizationNode>(
                             x, scale, bias, mean, variance, axis, epsilon));
}

/// Normalizes over \p size channels.
static llvm::Error importLRN(NetOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 4));
  GLOWISH_ASSIGN_OR_RETURN(bool isNHWC, op.isNHWC());
  NodeValue x = op.input(0);
  if (!isNHWC)
    x = op.transpose(x, {0, 2, 3, 1});
  x = op.make<LocalResponseNormalizationNode>(
      x, op.getInt("size", 0), op.getFloat("alpha", 0), op.getFloat("beta", 0),
      op.getFloat("bias", 1));
  return op.setOutput(0, isNHWC ? x : op.transpose(x, {0, 3, 1, 2}));
}

/// Returns an error if a run decides an extent of input 0 from \p axis on.
static llvm::Error checkNormalized(NetOp &op, unsigned axis) {
  return op.checkKnown(
      0, getDimsFrom(axis, op.input(0).getType().getRank()),
      "there is a scale or bias for each element that is normalized");
}

/// Outputs 1 and 2 are mean and standard deviation, with extent 1 in place of
/// the normalized dimensions.
static llvm::Error importLayerNorm(NetOp &op) {
  NodeValue x = op.input(0);
  DimsRef shape = x.getShape();
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.getAxis("axis", 1, shape.size()));
  double epsilon = op.getFloat("epsilon", 1e-5);
  op.ignoreArgs({"elementwise_affine"});
  if (op.hasInput(1))
    GLOWISH_RETURN_IF_ERROR(checkNormalized(op, unsigned(axis)));
  Dims inner(shape.drop_front(axis));
  NodeValue scale, bias;
  if (op.hasInput(1)) {
    scale = op.weight(1, inner);
    scale = op.reshape(scale, inner);
  }
  if (op.hasInput(2)) {
    bias = op.weight(2, inner);
    bias = op.reshape(bias, inner);
  }
  GLOWISH_RETURN_IF_ERROR(op.setOutput(
      0, op.make<LayerNormalizationNode>(x, scale, bias, axis, epsilon, true)));
  if (op.getNumOutputs() < 2)
    return llvm::Error::success();
  Dims outer(shape.take_front(axis));
  outer.push_back(1);
  Moments moments = getMoments(op, x, getDimsFrom(axis, shape.size()));
  NodeValue deviation = op.unary<SqrtNode>(op.add(moments.variance, epsilon));
  GLOWISH_RETURN_IF_ERROR(op.setOutput(1, op.reshape(moments.mean, outer)));
  return op.setOutput(2, op.reshape(deviation, outer));
}

/// Normalizes each row: x / sqrt(mean of squares + eps) * gamma + beta. Output
/// 1 is the factor.
static llvm::Error importRMSNorm(NetOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(Matrix x, readMatrix(op, 0, "axis"));
  GLOWISH_RETURN_IF_ERROR(checkNormalized(op, x.rows.getRank()));
  double eps = op.getFloat("eps", 0);
  int64_t columns = x.getNumColumns();
  NodeValue gamma = op.reshape(op.weight(1, {columns}), {columns});
  NodeValue beta = op.reshape(op.weight(2, {columns}), {columns});
  Normalized normal = normalize(op, x.value, {1}, eps, /*subtractMean=*/false);
  NodeValue y = scaleAndShift(op, normal.value, gamma, beta);
  GLOWISH_RETURN_IF_ERROR(op.setOutput(0, op.repack(y, op.input(0).getType())));
  return op.setOutput(1, op.repack(normal.inverseDeviation, x.rows));
}

static const Caffe2Operators operators = {
    {"Softmax", importSoftmax},
    {"SpatialBN",
     importSpatialBN,
     {.inputs = 5,
      .firstWeight = 1,
      .firstImplied = 1,
      .limit = "fixed statistics"}},
    {"LRN", importLRN},
    {"LayerNorm",
     importLayerNorm,
     {.inputs = {1, 3}, .firstWeight = 1, .firstImplied = 1}},
    {"RMSNorm",
     importRMSNorm,
     {.inputs = 3, .firstWeight = 1, .firstImplied = 1}}};
