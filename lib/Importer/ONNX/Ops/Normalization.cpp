//===- Normalization.cpp - Normalizations and softmax ---------------------===//

#include "ONNX/Extents.h"
#include "ONNX/Images.h"
#include "ONNX/LayerNorm.h"
#include "ONNX/Ops/Statistics.h"
#include "glowish/Importer/OperatorNotes.h"
#include <cmath>
#include <numeric>

using namespace glowish;

/// Inference: `is_test` (before opset 7) tells, or the statistics that training
/// would update being read.
static llvm::Error checkInference(const OpContext &op) {
  for (unsigned i = 1; i < op.getNumOutputs(); ++i)
    if (op.wantsOutput(i))
      return makeError(
          "output {0}, a statistic of training, is read; accepted: "
          "inference",
          i);
  op.ignoreAttrs({"is_test", "momentum"});
  return llvm::Error::success();
}

static llvm::Error importBatchNormalization(OpContext &op) {
  GLOWISH_TRY(int64_t training, op.getInt("training_mode", 0));
  // What is trained gets its statistics later, as it is without training.
  if (training && !op.isTraining())
    return importTrainingBatchNormalization(op);
  NodeValue operands[5];
  for (unsigned i = 0; i < 5; ++i) {
    GLOWISH_TRY(operands[i], op.getInput(i));
  }
  GLOWISH_TRY(double epsilon, op.getFloat("epsilon", 1e-5));
  GLOWISH_CHECK(checkInference(op));
  // Statistics of each element instead of each channel: the same where a
  // channel has one element.
  GLOWISH_TRY(int64_t spatial, op.getInt("spatial", 1));
  unsigned rank = operands[0].getShape().size();
  if (!spatial && rank > 2)
    return makeError("attribute 'spatial' is 0; accepted for rank {0}: 1",
                     rank);
  if (rank < 2)
    return makeError("input 0 is {0}; accepted: rank 2 or more",
                     operands[0].getType().str());
  return op.setOutput(0, op.create<BatchNormalizationNode>(
                             operands[0], operands[1], operands[2], operands[3],
                             operands[4], /*axis=*/1, epsilon));
}

static llvm::Error importLRN(OpContext &op) {
  GLOWISH_TRY(int64_t size, op.getInt("size", 0));
  GLOWISH_TRY(double alpha, op.getFloat("alpha", 1e-4));
  GLOWISH_TRY(double beta, op.getFloat("beta", 0.75));
  GLOWISH_TRY(double bias, op.getFloat("bias", 1));
  GLOWISH_TRY(Images images, readImages(op, 0));
  GLOWISH_TRY(NodeValue result, op.create<LocalResponseNormalizationNode>(
                                    images.value, size, alpha, beta, bias));
  return setImages(op, result, images.isOneDimensional);
}

/// \p input along dimension \p axis.
using AlongAxis = llvm::Expected<NodeValue> (*)(OpContext &op, NodeValue input,
                                                int64_t axis);

template <typename T>
static llvm::Expected<NodeValue> makeSoftmax(OpContext &op, NodeValue input,
                                             int64_t axis) {
  return op.create<T>(input, axis);
}

/// 1 at the first largest element, 0 elsewhere.
static llvm::Expected<NodeValue> makeHardmax(OpContext &op, NodeValue input,
                                             int64_t axis) {
  DimsRef shape = input.getShape();
  GLOWISH_TRY(NodeValue largest,
              op.create<ArgMaxNode>(input, axis, /*keepDims=*/true,
                                    /*selectLast=*/false));
  GLOWISH_CHECK(op.checkBudget(shape[axis] * int64_t(sizeof(int64_t))));
  std::vector<int64_t> indices(shape[axis]);
  std::iota(indices.begin(), indices.end(), 0);
  Dims column(shape.size() - axis, 1);
  column[0] = shape[axis];
  GLOWISH_TRY(NodeValue index,
              op.reshape(op.createInt64s(indices), column, ".indices"));
  GLOWISH_TRY(NodeValue isLargest, op.create<EqualNode>(largest, index));
  return op.create<CastNode>(isLargest, input.getElemKind());
}

/// Before opset 13 the dimensions from `axis` on are one.
template <AlongAxis Make> static llvm::Error importAlongAxis(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  unsigned rank = input.getShape().size();
  bool isFlat = op.getOpset() < 13;
  if (rank == 0)
    return makeError("input 0 is a scalar; accepted: rank 1 or more");
  GLOWISH_TRY(int64_t axis,
              op.getAxis("axis", isFlat ? std::min(1u, rank - 1) : -1, rank));
  bool isOne = !isFlat || axis + 1 == int64_t(rank);
  SizedValue x = {input, op.getExtents(0)};
  std::vector<int64_t> dims = getAllDims(isOne ? axis + 1 : rank);
  Composer c(op);
  input = fillOutside(c, x, llvm::ArrayRef(dims).drop_front(axis), -HUGE_VAL);
  GLOWISH_TRY(input, c.finish(input));
  if (isOne) {
    GLOWISH_CHECK(op.setOutput(0, Make(op, input, axis)));
    return passOuterExtents(op, anyDims);
  }
  Dims shape(input.getShape());
  Dims flat(shape.begin(), shape.begin() + axis);
  flat.push_back(
      Type(ElemKind::Bool, DimsRef(shape).drop_front(axis)).getNumElements());
  GLOWISH_TRY(NodeValue value, op.reshape(input, flat, ".flat"));
  GLOWISH_TRY(value, Make(op, value, axis));
  GLOWISH_CHECK(op.setOutput(0, op.reshape(value, shape, ".shaped")));
  return passOuterExtents(op, anyDims);
}

//===- Statistics of the input itself -------------------------------------===//

static llvm::Expected<NodeValue> makeMean(OpContext &op, NodeValue value,
                                          llvm::ArrayRef<int64_t> axes) {
  return op.createHelper<ReduceNode>(".mean", value, "mean", axes,
                                     /*keepDims=*/true);
}

namespace {
/// x, its mean subtracted, and 1 / sqrt(variance + epsilon).
struct Normalized {
  NodeValue value, mean, inverseDeviation;
};
} // namespace

/// Normalizes over \p axes, with the mean of squares instead of the variance
/// where the mean is not subtracted.
static llvm::Expected<Normalized> normalize(OpContext &op, NodeValue x,
                                            llvm::ArrayRef<int64_t> axes,
                                            double epsilon, bool subtractMean) {
  Normalized result;
  if (subtractMean) {
    GLOWISH_TRY(result.mean, makeMean(op, x, axes));
    GLOWISH_TRY(x, op.create<SubNode>(x, result.mean));
  }
  GLOWISH_TRY(NodeValue square, op.create<MulNode>(x, x));
  GLOWISH_TRY(NodeValue variance, makeMean(op, square, axes));
  NodeValue bias = op.createScalar(x.getElemKind(), epsilon);
  GLOWISH_TRY(variance, op.create<AddNode>(variance, bias));
  GLOWISH_TRY(NodeValue deviation, op.create<SqrtNode>(variance));
  GLOWISH_TRY(result.inverseDeviation, op.create<ReciprocalNode>(deviation));
  GLOWISH_TRY(result.value, op.create<MulNode>(x, result.inverseDeviation));
  return result;
}

static std::vector<int64_t> dimsFrom(int64_t first, unsigned rank) {
  std::vector<int64_t> dims;
  for (int64_t d = first; d < int64_t(rank); ++d)
    dims.push_back(d);
  return dims;
}

/// \p value * scale + bias, one of each a channel (dimension 1).
static llvm::Expected<NodeValue> scaleChannels(OpContext &op, NodeValue value) {
  unsigned rank = value.getShape().size();
  NodeValue factors[2];
  for (unsigned i = 0; i < 2; ++i) {
    GLOWISH_TRY(NodeValue factor, op.getInput(i + 1));
    if (factor.getShape() != value.getShape().slice(1, 1))
      return makeError(
          "input {0} is {1}; accepted: one element for each of {2} "
          "channels",
          i + 1, factor.getType().str(), value.getShape()[1]);
    Dims shape(rank - 1, 1);
    shape[0] = factor.getShape()[0];
    GLOWISH_TRY(factors[i], op.reshape(factor, shape, ".channels"));
  }
  GLOWISH_TRY(value, op.create<MulNode>(value, factors[0]));
  return op.create<AddNode>(value, factors[1]);
}

static llvm::Error importInstanceNormalization(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  GLOWISH_TRY(double epsilon, op.getFloat("epsilon", 1e-5));
  unsigned rank = x.getShape().size();
  if (rank < 3)
    return makeError("input 0 is {0}; accepted: rank 3 or more",
                     x.getType().str());
  GLOWISH_TRY(Normalized normal, normalize(op, x, dimsFrom(2, rank), epsilon,
                                           /*subtractMean=*/true));
  return op.setOutput(0, scaleChannels(op, normal.value));
}

/// Groups of channels are normalized together; before opset 21 scale and bias
/// have one element a group.
static llvm::Error importGroupNormalization(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  GLOWISH_TRY(double epsilon, op.getFloat("epsilon", 1e-5));
  GLOWISH_TRY(int64_t groups, op.getInt("num_groups", 0));
  op.ignoreAttrs({"stash_type"});
  Dims shape(x.getShape());
  if (shape.size() < 2 || groups < 1 || shape[1] % groups)
    return makeError("input 0 is {0} and 'num_groups' {1}; accepted: a number "
                     "that divides the channels",
                     x.getType().str(), groups);
  Dims grouped = {shape[0], groups, shape[1] / groups};
  grouped.append(shape.begin() + 2, shape.end());
  GLOWISH_TRY(x, op.reshape(x, grouped, ".groups"));
  GLOWISH_TRY(Normalized normal,
              normalize(op, x, dimsFrom(2, grouped.size()), epsilon,
                        /*subtractMean=*/true));
  NodeValue value = normal.value;
  if (op.getOpset() < 21) {
    GLOWISH_TRY(value, scaleChannels(op, value));
    return op.setOutput(0, op.reshape(value, shape, ".shaped"));
  }
  GLOWISH_TRY(value, op.reshape(value, shape, ".shaped"));
  return op.setOutput(0, scaleChannels(op, value));
}

/// One node, and what it can't take as scale and bias because it broadcasts.
llvm::Expected<NodeValue> glowish::makeLayerNorm(OpContext &op,
                                                 const LayerNorm &norm) {
  DimsRef normalized = norm.x.getShape().drop_front(norm.axis);
  auto fits = [&](NodeValue value) {
    return !value || (value.getShape() == normalized &&
                      value.getElemKind() == norm.x.getElemKind());
  };
  bool takesScale = fits(norm.scale);
  bool takesBias = takesScale && fits(norm.bias);
  GLOWISH_TRY(NodeValue value,
              op.create<LayerNormalizationNode>(
                  norm.x, takesScale ? norm.scale : NodeValue(),
                  takesBias ? norm.bias : NodeValue(), norm.axis, norm.epsilon,
                  norm.subtractMean));
  if (!takesScale) {
    GLOWISH_TRY(value, op.create<MulNode>(value, norm.scale));
  }
  if (!takesBias) {
    GLOWISH_TRY(value, op.create<AddNode>(value, norm.bias));
  }
  return value;
}

/// LayerNormalization has outputs mean and 1 / deviation;
/// SimplifiedLayerNormalization has neither mean nor bias, and RMSNormalization
/// no further output.
template <bool SubtractMean>
static llvm::Error importLayerNormalization(OpContext &op) {
  LayerNorm norm;
  GLOWISH_TRY(norm.x, op.getInput(0));
  GLOWISH_TRY(norm.scale, op.getInput(1));
  norm.bias = SubtractMean ? op.getOptionalInput(2) : NodeValue();
  unsigned rank = norm.x.getShape().size();
  GLOWISH_TRY(norm.axis, op.getAxis("axis", -1, rank));
  GLOWISH_TRY(norm.epsilon, op.getFloat("epsilon", 1e-5));
  norm.subtractMean = SubtractMean;
  op.ignoreAttrs({"stash_type"});
  GLOWISH_CHECK(op.setOutput(0, makeLayerNorm(op, norm)));
  if (!op.wantsOutput(1) && !op.wantsOutput(2))
    return passOuterExtents(op, norm.axis);
  GLOWISH_TRY(Normalized statistics,
              normalize(op, norm.x, dimsFrom(norm.axis, rank), norm.epsilon,
                        SubtractMean));
  unsigned next = 1;
  if (SubtractMean)
    GLOWISH_CHECK(op.setOutput(next++, statistics.mean));
  GLOWISH_CHECK(op.setOutput(next, statistics.inverseDeviation));
  return passOuterExtents(op, norm.axis);
}

static llvm::Error importMeanVarianceNormalization(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  unsigned rank = x.getShape().size();
  // Before opset 9 `across_channels` tells whether channels are one.
  std::vector<int64_t> axes = {0, 2, 3};
  if (op.getOpset() < 9) {
    GLOWISH_TRY(int64_t acrossChannels, op.getInt("across_channels", 0));
    GLOWISH_TRY(int64_t hasVariance, op.getInt("normalize_variance", 1));
    if (!hasVariance)
      return makeError("attribute 'normalize_variance' is 0; accepted: 1");
    if (acrossChannels)
      axes = {0, 1, 2, 3};
  } else {
    GLOWISH_TRY(axes, op.getInts("axes", axes));
  }
  GLOWISH_TRY(axes, normalizeAxes(axes, rank));
  GLOWISH_TRY(NodeValue mean, makeMean(op, x, axes));
  GLOWISH_TRY(NodeValue centred, op.create<SubNode>(x, mean));
  GLOWISH_TRY(NodeValue square, op.create<MulNode>(centred, centred));
  GLOWISH_TRY(NodeValue variance, makeMean(op, square, axes));
  GLOWISH_TRY(NodeValue deviation, op.create<SqrtNode>(variance));
  NodeValue tiny = op.createScalar(x.getElemKind(), 1e-9);
  GLOWISH_TRY(deviation, op.create<AddNode>(deviation, tiny));
  return op.setOutput(0, op.create<DivNode>(centred, deviation));
}

/// x / |x| along one dimension; where the norm is 0 the result is 0 too.
static llvm::Error importLpNormalization(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  GLOWISH_TRY(int64_t axis, op.getAxis("axis", -1, x.getShape().size()));
  GLOWISH_TRY(int64_t p, op.getInt("p", 2));
  if (p != 1 && p != 2)
    return makeError("attribute 'p' is {0}; accepted: 1, 2", p);
  GLOWISH_TRY(NodeValue power,
              p == 1 ? op.create<AbsNode>(x) : op.create<MulNode>(x, x));
  GLOWISH_TRY(NodeValue norm,
              op.create<ReduceNode>(power, "sum", std::vector<int64_t>{axis},
                                    /*keepDims=*/true));
  if (p == 2) {
    GLOWISH_TRY(norm, op.create<SqrtNode>(norm));
  }
  NodeValue zero = op.createScalar(x.getElemKind(), 0);
  NodeValue one = op.createScalar(x.getElemKind(), 1);
  GLOWISH_TRY(NodeValue isZero, op.create<EqualNode>(norm, zero));
  GLOWISH_TRY(norm, op.create<SelectNode>(isZero, one, norm));
  return op.setOutput(0, op.create<DivNode>(x, norm));
}

static OnnxOperator
    batchNormalizationOp("BatchNormalization", 1,
                         alongOuter<1, importBatchNormalization>);
static OnnxOperatorNotes
    batchNormalizationNotes("BatchNormalization",
                            {.limit = "training since opset 14 only"});
static OnnxOperator lrnOp("LRN", 1, importLRN);
static OnnxOperator softmaxOp("Softmax", 1,
                              importAlongAxis<makeSoftmax<SoftmaxNode>>);
static OnnxOperator logSoftmaxOp("LogSoftmax", 1,
                                 importAlongAxis<makeSoftmax<LogSoftmaxNode>>);
static OnnxOperator hardmaxOp("Hardmax", 1, importAlongAxis<makeHardmax>);
static OnnxOperator instanceNormalizationOp("InstanceNormalization", 1,
                                            importInstanceNormalization);
static OnnxOperator groupNormalizationOp("GroupNormalization", 18,
                                         importGroupNormalization);
// ONNX Runtime has it in models of any opset.
static OnnxOperator layerNormalizationOp("LayerNormalization", 1,
                                         importLayerNormalization<true>);
static OnnxOperator rmsNormalizationOp("RMSNormalization", 23,
                                       importLayerNormalization<false>);
static OnnxOperator
    simplifiedLayerNormalizationOp("SimplifiedLayerNormalization", 1,
                                   importLayerNormalization<false>);
static OnnxOperator
    meanVarianceNormalizationOp("MeanVarianceNormalization", 1,
                                importMeanVarianceNormalization);
static OnnxOperator lpNormalizationOp("LpNormalization", 1,
                                      importLpNormalization);
