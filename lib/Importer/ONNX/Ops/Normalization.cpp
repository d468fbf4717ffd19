//===- Normalization.cpp - Normalizations and softmax ---------------------===//

#include "Common/Normalization.h"
#include "Common/Positions.h"
#include "ONNX/Extents.h"
#include "ONNX/Images.h"
#include "ONNX/Ops/Statistics.h"
#include "ONNX/Softmax.h"
#include "glowish/Importer/OperatorNotes.h"
#include <cmath>

using namespace glowish;
using namespace glowish::onnximport;

/// Checks that the operator is used for inference: `is_test` (before opset 7)
/// may be absent if the statistics of training are not used.
static llvm::Error checkInference(const OpContext &op) {
  for (unsigned i = 1; i < op.getNumOutputs(); ++i)
    if (op.wantsOutput(i))
      return makeError(
          "output {0}, a statistic of training, is used; accepted: "
          "inference",
          i);
  op.ignoreAttrs({"is_test", "momentum"});
  return llvm::Error::success();
}

/// With `spatial` = 0 each element of a sample has its own scale, bias, mean
/// and variance.
static llvm::Error normalizeElements(OpContext &op,
                                     llvm::ArrayRef<NodeValue> operands,
                                     double epsilon) {
  NodeValue x = operands[0];
  for (unsigned i = 1; i < 5; ++i)
    if (operands[i].getShape() != x.getShape().drop_front())
      return makeError("input {0} is {1}; accepted, as attribute 'spatial' is "
                       "0: the shape of a sample, {2}",
                       i, operands[i].getType().str(),
                       formatShape(x.getShape().drop_front()));
  NodeValue deviation = op.unary<SqrtNode>(op.add(operands[4], epsilon));
  NodeValue normal = op.div(op.sub(x, operands[3]), deviation);
  return op.setOutput(0, op.add(op.mul(normal, operands[1]), operands[2]));
}

static llvm::Error importBatchNormalization(OpContext &op) {
  int64_t training = op.getInt("training_mode", 0);
  // Statistics are replaced later for training, so the inference form is
  // imported.
  if (training && !op.isTraining())
    return importTrainingBatchNormalization(op);
  NodeValue operands[5];
  for (unsigned i = 0; i < 5; ++i) {
    GLOWISH_ASSIGN_OR_RETURN(operands[i], op.getInput(i));
  }
  double epsilon = op.getFloat("epsilon", 1e-5);
  GLOWISH_RETURN_IF_ERROR(checkInference(op));
  int64_t spatial = op.getInt("spatial", 1);
  unsigned rank = operands[0].getShape().size();
  if (rank == 0)
    return op.refuseInput(0, "rank 1 or more");
  // With one element a channel, it makes no difference.
  if (!spatial && rank > 2)
    return normalizeElements(op, operands, epsilon);
  // Rank 1 has one channel.
  Dims shape(operands[0].getShape());
  NodeValue x = rank == 1 ? op.unsqueeze(operands[0], 1) : operands[0];
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  NodeValue result =
      op.make<BatchNormalizationNode>(x, operands[1], operands[2], operands[3],
                                      operands[4], /*axis=*/1, epsilon);
  return op.setOutput(0, op.reshape(result, shape));
}

static llvm::Error importLRN(OpContext &op) {
  int64_t size = op.getInt("size", 0);
  double alpha = op.getFloat("alpha", 1e-4);
  double beta = op.getFloat("beta", 0.75);
  double bias = op.getFloat("bias", 1);
  GLOWISH_ASSIGN_OR_RETURN(Images images, readImages(op, 0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue result,
                           op.create<LocalResponseNormalizationNode>(
                               images.value, size, alpha, beta, bias));
  return setImages(op, result, images.isOneDimensional);
}

/// Builds an operator along dimension \p axis of \p input.
using AlongAxis = llvm::Expected<NodeValue> (*)(OpContext &op, NodeValue input,
                                                int64_t axis);

template <typename T>
static llvm::Expected<NodeValue> makeSoftmax(OpContext &op, NodeValue input,
                                             int64_t axis) {
  return op.create<T>(input, axis);
}

/// 1 at the first maximum, 0 elsewhere.
static llvm::Expected<NodeValue> makeHardmax(OpContext &op, NodeValue input,
                                             int64_t axis) {
  NodeValue largest = op.make<ArgMaxNode>(input, axis, /*keepDims=*/true,
                                          /*selectLast=*/false);
  NodeValue index = numberAlong(op, input, unsigned(axis));
  return op.finish(op.cast(op.equal(largest, index), input.getElemKind()));
}

/// Applies \p make to \p input along the attribute `axis`. If \p isFlat, as
/// before opset 13, the dimensions from there on are flattened.
static llvm::Expected<NodeValue> makeAlongAxis(OpContext &op, NodeValue input,
                                               int64_t defaultAxis, bool isFlat,
                                               AlongAxis make) {
  unsigned rank = input.getShape().size();
  if (rank == 0)
    return makeError("input 0 is a scalar; accepted: rank 1 or more");
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.getAxis("axis", defaultAxis, rank));
  bool isOne = !isFlat || axis + 1 == int64_t(rank);
  if (isOne)
    return make(op, input, axis);
  Type type = input.getType();
  Dims flat(type.getShape().take_front(axis));
  flat.push_back(countElements(type.getShape().drop_front(axis)));
  input = op.fillOutside(input, getDimsFrom(axis, rank), -HUGE_VAL);
  input = op.dropExtents(input);
  GLOWISH_ASSIGN_OR_RETURN(input, op.finish(input));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value, op.reshape(input, flat, ".flat"));
  GLOWISH_ASSIGN_OR_RETURN(value, make(op, value, axis));
  GLOWISH_ASSIGN_OR_RETURN(value,
                           op.reshape(value, type.getShape(), ".shaped"));
  return op.finish(op.declareExtents(value, type));
}

llvm::Expected<NodeValue> onnximport::makeSoftmaxAlongAxis(OpContext &op,
                                                           NodeValue input,
                                                           int64_t defaultAxis,
                                                           bool isFlat) {
  return makeAlongAxis(op, input, defaultAxis, isFlat,
                       makeSoftmax<SoftmaxNode>);
}

template <AlongAxis Make>
static llvm::Error importAlongAxis(OpContext &op, NodeValue input) {
  bool isFlat = op.getOpset() < 13;
  int64_t defaultAxis =
      !isFlat ? -1 : std::min<int64_t>(1, int64_t(input.getShape().size()) - 1);
  return op.setOutput(0, makeAlongAxis(op, input, defaultAxis, isFlat, Make));
}

//===- Normalization by computed statistics -------------------------------===//

/// Sets output 0 to \p value * scale + bias, one of each per channel (dimension
/// 1), with \p shape.
static llvm::Error setScaledChannels(OpContext &op, NodeValue value,
                                     DimsRef shape) {
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  unsigned rank = value.getShape().size();
  NodeValue factors[2];
  for (unsigned i = 0; i < 2; ++i) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue factor, op.getInput(i + 1));
    if (factor.getShape() != value.getShape().slice(1, 1))
      return makeError(
          "input {0} is {1}; accepted: one element for each of {2} "
          "channels",
          i + 1, factor.getType().str(), value.getShape()[1]);
    factors[i] = alongChannels(op, factor, rank);
  }
  value = scaleAndShift(op, value, factors[0], factors[1]);
  return op.setOutput(0, op.reshape(value, shape));
}

static llvm::Error importInstanceNormalization(OpContext &op, NodeValue x) {
  double epsilon = op.getFloat("epsilon", 1e-5);
  unsigned rank = x.getShape().size();
  if (rank < 3)
    return op.refuseInput(0, "rank 3 or more");
  NodeValue normal = normalize(op, x, getDimsFrom(2, rank), epsilon).value;
  return setScaledChannels(op, normal, x.getShape());
}

/// Normalizes groups of channels. Before opset 21 scale and bias have one
/// element per group.
static llvm::Error importGroupNormalization(OpContext &op, NodeValue x) {
  double epsilon = op.getFloat("epsilon", 1e-5);
  int64_t groups = op.getInt("num_groups", 0);
  op.ignoreAttrs({"stash_type"});
  DimsRef shape = x.getShape();
  if (shape.size() < 2 || groups < 1 || shape[1] % groups)
    return makeError("input 0 is {0} and 'num_groups' {1}; accepted: a number "
                     "that divides the channels",
                     x.getType().str(), groups);
  NodeValue value = normalizeGroups(op, x, groups, epsilon).value;
  if (op.getOpset() >= 21)
    value = op.reshape(value, shape);
  return setScaledChannels(op, value, shape);
}

/// LayerNormalization also outputs mean and 1 / deviation.
/// SimplifiedLayerNormalization has neither mean nor bias; RMSNormalization has
/// a single output.
template <bool SubtractMean>
static llvm::Error importLayerNormalization(OpContext &op) {
  LayerNorm norm;
  GLOWISH_ASSIGN_OR_RETURN(norm.x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(norm.scale, op.getInput(1));
  norm.bias = SubtractMean ? op.input(2) : NodeValue();
  unsigned rank = norm.x.getShape().size();
  GLOWISH_ASSIGN_OR_RETURN(norm.axis, op.getAxis("axis", -1, rank));
  norm.epsilon = op.getFloat("epsilon", 1e-5);
  norm.subtractMean = SubtractMean;
  op.ignoreAttrs({"stash_type"});
  GLOWISH_RETURN_IF_ERROR(op.setOutput(0, makeLayerNorm(op, norm)));
  if (!op.wantsOutput(1) && !op.wantsOutput(2))
    return llvm::Error::success();
  Normalized statistics = normalize(op, norm.x, getDimsFrom(norm.axis, rank),
                                    norm.epsilon, SubtractMean);
  unsigned next = 1;
  if (SubtractMean)
    GLOWISH_RETURN_IF_ERROR(op.setOutput(next++, statistics.mean));
  return op.setOutput(next, statistics.inverseDeviation);
}

static llvm::Error importMeanVarianceNormalization(OpContext &op, NodeValue x) {
  unsigned rank = x.getShape().size();
  // Before opset 9 `across_channels` includes the channels.
  std::vector<int64_t> axes = {0, 2, 3};
  bool dividesByDeviation = true;
  if (op.getOpset() < 9) {
    int64_t acrossChannels = op.getInt("across_channels", 0);
    dividesByDeviation = op.getInt("normalize_variance", 1) != 0;
    if (acrossChannels)
      axes = {0, 1, 2, 3};
  } else {
    axes = op.getInts("axes", axes);
  }
  GLOWISH_ASSIGN_OR_RETURN(axes, normalizeAxes(axes, rank));
  Moments moments = getMoments(op, x, axes);
  if (!dividesByDeviation)
    return op.setOutput(0, moments.centred);
  NodeValue deviation = op.add(op.unary<SqrtNode>(moments.variance), 1e-9);
  return op.setOutput(0, op.div(moments.centred, deviation));
}

/// x / |x| along one dimension, or 0 if the norm is 0.
static llvm::Error importLpNormalization(OpContext &op, NodeValue x) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis,
                           op.getAxis("axis", -1, x.getShape().size()));
  int64_t p = op.getInt("p", 2);
  if (p != 1 && p != 2)
    return makeError("attribute 'p' is {0}; accepted: 1, 2", p);
  NodeValue power = p == 1 ? op.unary<AbsNode>(x) : op.mul(x, x);
  NodeValue norm = op.reduce(power, "sum", {axis}, /*keepDims=*/true);
  if (p == 2)
    norm = op.unary<SqrtNode>(norm);
  norm = op.select(op.equal(norm, 0), op.number(x, 1), norm);
  return op.setOutput(0, op.div(x, norm));
}

static OnnxOperator batchNormalizationOp("BatchNormalization", 1,
                                         withExtents<importBatchNormalization>);
static OnnxOperatorNotes
    batchNormalizationNotes("BatchNormalization",
                            {.limit = "training since opset 14 only"});
static OnnxOperator lrnOp("LRN", 1, importLRN);
static OnnxOperator
    softmaxOp("Softmax", 1,
              withExtents<importAlongAxis<makeSoftmax<SoftmaxNode>>>);
static OnnxOperator
    logSoftmaxOp("LogSoftmax", 1,
                 withExtents<importAlongAxis<makeSoftmax<LogSoftmaxNode>>>);
static OnnxOperator hardmaxOp("Hardmax", 1,
                              withExtents<importAlongAxis<makeHardmax>>);
static OnnxOperator
    instanceNormalizationOp("InstanceNormalization", 1,
                            withExtents<importInstanceNormalization>);
static OnnxOperator groupNormalizationOp("GroupNormalization", 18,
                                         withExtents<importGroupNormalization>);
// ONNX Runtime accepts it in models of any opset.
static OnnxOperator
    layerNormalizationOp("LayerNormalization", 1,
                         withExtents<importLayerNormalization<true>>);
static OnnxOperator
    rmsNormalizationOp("RMSNormalization", 23,
                       withExtents<importLayerNormalization<false>>);
static OnnxOperator simplifiedLayerNormalizationOp(
    "SimplifiedLayerNormalization", 1,
    withExtents<importLayerNormalization<false>>);
static OnnxOperator
    meanVarianceNormalizationOp("MeanVarianceNormalization", 1,
                                withExtents<importMeanVarianceNormalization>);
static OnnxOperator lpNormalizationOp("LpNormalization", 1,
                                      withExtents<importLpNormalization>);
