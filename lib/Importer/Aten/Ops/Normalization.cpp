//===- Normalization.cpp - Normalizations ---------------------------------===//

#include "Aten/AtenOp.h"

using namespace glowish;

/// \p parameter [C] for the channels, dimension 1, of a tensor of \p rank.
static NodeValue alongChannels(AtenOp &op, NodeValue parameter, size_t rank) {
  if (!parameter)
    return parameter;
  Dims shape(rank > 1 ? rank - 1 : 1, 1);
  shape[0] = parameter.getType().getNumElements();
  return op.reshape(parameter, shape);
}

/// \p value * weight + bias, whatever of these there is.
static NodeValue scaleAndShift(AtenOp &op, NodeValue value, NodeValue weight,
                               NodeValue bias) {
  if (weight)
    value = op.mul(value, weight);
  return bias ? op.add(value, bias) : value;
}

namespace {

/// Normalized x, its mean, and 1 / sqrt(variance + epsilon).
struct Normalized {
  NodeValue value, mean, inverseDeviation;
};

} // namespace

static Normalized normalize(AtenOp &op, NodeValue x,
                            llvm::ArrayRef<int64_t> axes, double epsilon) {
  Normalized result;
  result.mean = op.reduce(x, "mean", axes, /*keepDims=*/true);
  NodeValue centred = op.sub(x, result.mean);
  NodeValue variance =
      op.reduce(op.mul(centred, centred), "mean", axes, /*keepDims=*/true);
  result.inverseDeviation =
      op.unary<ReciprocalNode>(op.unary<SqrtNode>(op.add(variance, epsilon)));
  result.value = op.mul(centred, result.inverseDeviation);
  return result;
}

static std::vector<int64_t> dimsFrom(int64_t first, size_t rank) {
  std::vector<int64_t> dims;
  for (int64_t d = first; d < int64_t(rank); ++d)
    dims.push_back(d);
  return dims;
}

//===- By given statistics ------------------------------------------------===//

/// By the statistics of the batch, as of an instance normalization whose
/// instances are made channels. Statistics that a model keeps are not changed.
static llvm::Error normalizeBatch(AtenOp &op) {
  NodeValue x = op.tensor("input");
  size_t rank = x.getShape().size();
  std::vector<int64_t> axes = dimsFrom(2, rank);
  axes.insert(axes.begin(), 0);
  NodeValue value = normalize(op, x, axes, op.number("eps", 1e-5)).value;
  return op.setResult(
      scaleAndShift(op, value, alongChannels(op, op.tensor("weight"), rank),
                    alongChannels(op, op.tensor("bias"), rank)));
}

/// Other results, statistics of training, are not there.
static llvm::Error importBatchNorm(AtenOp &op) {
  NodeValue x = op.tensor("input");
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("input"));
  if (x.getShape().size() < 2)
    return op.refuse("input", "rank 2 and more");
  bool isTraining =
      op.getSchema().findArgument("training") && op.flag("training");
  if (isTraining || op.isNone("running_mean") || op.isNone("running_var"))
    return normalizeBatch(op);
  int64_t channels = x.getShape()[1];
  ElemKind kind = x.getElemKind();
  auto parameter = [&](llvm::StringRef name, double ifNone) {
    return op.isNone(name) ? op.splat(kind, {channels}, ifNone)
                           : op.cast(op.tensor(name), kind);
  };
  NodeValue scale = parameter("weight", 1), bias = parameter("bias", 0);
  return op.setResult(op.make<BatchNormalizationNode>(
      x, scale, bias, parameter("running_mean", 0), parameter("running_var", 1),
      /*axis=*/1, op.number("eps", 1e-5)));
}

static AtenOperators batchStatisticsOp(
    normalizeBatch,
    {"_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? "
     "bias, bool training, float momentum, float eps) -> (Tensor, Tensor, "
     "Tensor)"});
static AtenOperators batchNormOp(
    importBatchNorm,
    {"batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? "
     "running_mean, Tensor? running_var, bool training, float momentum, float "
     "eps, bool cudnn_enabled) -> Tensor",
     "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? "
     "running_mean, Tensor? running_var, bool training, float momentum, float "
     "eps) -> (Tensor, Tensor, Tensor)",
     "_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, "
     "Tensor running_mean, Tensor running_var, bool training, float momentum, "
     "float eps) -> (Tensor, Tensor, Tensor)",
     "_native_batch_norm_legit_functional(Tensor input, Tensor? weight, "
     "Tensor? bias, Tensor running_mean, Tensor running_var, bool training, "
     "float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
     "_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, "
     "Tensor? bias, Tensor running_mean, Tensor running_var, float momentum, "
     "float eps) -> (Tensor, Tensor, Tensor)"});

//===- By computed statistics ---------------------------------------------===//

/// A LayerNormalization over the last dimensions; those with three results also
/// give mean and 1 / deviation.
template <bool SubtractMean> static llvm::Error importLayerNorm(AtenOp &op) {
  NodeValue x = op.tensor("input");
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("input"));
  std::vector<int64_t> normalized = op.integers("normalized_shape");
  DimsRef shape = x.getShape();
  if (normalized.empty() || normalized.size() > shape.size() ||
      shape.take_back(normalized.size()) != DimsRef(normalized))
    return op.refuse("normalized_shape", "the last extents of 'input'");
  int64_t axis = int64_t(shape.size() - normalized.size());
  double epsilon =
      op.number("eps", x.getElemKind() == ElemKind::Double ? 0x1p-52 : 0x1p-23);
  NodeValue weight = op.tensor("weight"), bias;
  if (SubtractMean)
    bias = op.tensor("bias");
  auto fits = [&](NodeValue parameter) {
    return !parameter || (parameter.getShape() == DimsRef(normalized) &&
                          parameter.getElemKind() == x.getElemKind());
  };
  bool takesBoth = fits(weight) && fits(bias);
  NodeValue result = op.make<LayerNormalizationNode>(
      x, takesBoth ? weight : NodeValue(), takesBoth ? bias : NodeValue(), axis,
      epsilon, SubtractMean);
  if (!takesBoth)
    result = scaleAndShift(op, result, weight, bias);
  if (op.getSchema().results.size() == 3) {
    Normalized parts = normalize(op, x, dimsFrom(axis, shape.size()), epsilon);
    GLOWISH_RETURN_IF_ERROR(op.setResult(parts.mean, 1));
    GLOWISH_RETURN_IF_ERROR(op.setResult(parts.inverseDeviation, 2));
  }
  return op.setResult(result);
}

/// Over each group of channels and all further dimensions.
static llvm::Error importGroupNorm(AtenOp &op) {
  NodeValue x = op.tensor("input");
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("input"));
  bool isNative = op.getSchema().results.size() == 3;
  int64_t groups = op.integer(isNative ? "group" : "num_groups");
  Dims shape(x.getShape());
  if (shape.size() < 2 || groups < 1 || shape[1] % groups)
    return op.refuse("input", "a number of channels that the groups divide");
  Dims grouped = {shape[0], groups, shape[1] / groups};
  grouped.append(shape.begin() + 2, shape.end());
  Normalized parts =
      normalize(op, op.reshape(x, grouped), dimsFrom(2, grouped.size()),
                op.number("eps", 1e-5));
  NodeValue result =
      scaleAndShift(op, op.reshape(parts.value, shape),
                    alongChannels(op, op.tensor("weight"), shape.size()),
                    alongChannels(op, op.tensor("bias"), shape.size()));
  if (isNative) {
    Dims rows = {shape[0], groups};
    GLOWISH_RETURN_IF_ERROR(op.setResult(op.reshape(parts.mean, rows), 1));
    GLOWISH_RETURN_IF_ERROR(
        op.setResult(op.reshape(parts.inverseDeviation, rows), 2));
  }
  return op.setResult(result);
}

static llvm::Error importInstanceNorm(AtenOp &op) {
  NodeValue x = op.tensor("input");
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("input"));
  if (!op.flag("use_input_stats"))
    return op.refuse("use_input_stats", "True");
  size_t rank = x.getShape().size();
  if (rank < 3)
    return op.refuse("input", "rank 3 and more");
  NodeValue value =
      normalize(op, x, dimsFrom(2, rank), op.number("eps", 1e-5)).value;
  return op.setResult(
      scaleAndShift(op, value, alongChannels(op, op.tensor("weight"), rank),
                    alongChannels(op, op.tensor("bias"), rank)));
}

static AtenOperators layerNormOp(
    importLayerNorm<true>,
    {"layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, "
     "Tensor? bias=None, float eps=1e-05, bool cudnn_enable=True) -> Tensor",
     "native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, "
     "Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)"});
static AtenOperators
    rmsNormOp(importLayerNorm<false>,
              {"rms_norm(Tensor input, int[] normalized_shape, Tensor? "
               "weight=None, float? eps=None) -> Tensor"});
static AtenOperators groupNormOp(
    importGroupNorm,
    {"group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? "
     "bias=None, float eps=1e-05, bool cudnn_enabled=True) -> Tensor",
     "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, int "
     "C, int HxW, int group, float eps) -> (Tensor, Tensor, Tensor)"});
static AtenOperators instanceNormOp(
    importInstanceNorm,
    {"instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? "
     "running_mean, Tensor? running_var, bool use_input_stats, float "
     "momentum, float eps, bool cudnn_enabled) -> Tensor"});
