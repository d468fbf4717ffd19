//===- Normalization.cpp - Normalizations ---------------------------------===//

#include "Common/Normalization.h"
#include "Aten/AtenOp.h"

using namespace glowish;
using namespace glowish::aten;

/// \p value * weight + bias, one of each per channel, whatever of these there
/// is.
static NodeValue scaleChannels(AtenOp &op, NodeValue value) {
  unsigned rank = value ? value.getType().getRank() : 0;
  return scaleAndShift(op, value, alongChannels(op, op.tensor("weight"), rank),
                       alongChannels(op, op.tensor("bias"), rank));
}

//===- By given statistics ------------------------------------------------===//

/// By the statistics of the batch, as of an instance normalization whose
/// instances are made channels. Statistics that a model keeps are not changed.
static llvm::Error normalizeBatch(AtenOp &op) {
  NodeValue x = op.tensor("input");
  std::vector<int64_t> axes = getDimsFrom(2, x.getType().getRank());
  axes.insert(axes.begin(), 0);
  NodeValue value = normalize(op, x, axes, op.number("eps", 1e-5)).value;
  return op.setResult(scaleChannels(op, value));
}

/// Other results, statistics of training, are not there.
static llvm::Error importBatchNorm(AtenOp &op) {
  NodeValue x = op.tensor("input");
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("input"));
  if (x.getShape().size() < 2)
    return op.refuse("input", "rank 2 and more");
  bool isTraining = op.has("training") && op.flag("training");
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

static AtenOperators ofBatches(
    {{normalizeBatch,
      {"_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, "
       "Tensor? bias, bool training, float momentum, float eps) -> (Tensor, "
       "Tensor, Tensor)"}},
     {importBatchNorm,
      {"batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? "
       "running_mean, Tensor? running_var, bool training, float momentum, "
       "float eps, bool cudnn_enabled) -> Tensor",
       "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? "
       "running_mean, Tensor? running_var, bool training, float momentum, "
       "float eps) -> (Tensor, Tensor, Tensor)",
       "_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, "
       "Tensor running_mean, Tensor running_var, bool training, float "
       "momentum, float eps) -> (Tensor, Tensor, Tensor)",
       "_native_batch_norm_legit_functional(Tensor input, Tensor? weight, "
       "Tensor? bias, Tensor running_mean, Tensor running_var, bool training, "
       "float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
       "_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, "
       "Tensor? bias, Tensor running_mean, Tensor running_var, float momentum, "
       "float eps) -> (Tensor, Tensor, Tensor)"}}},
    AtenOrder::Images);

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
  NodeValue result =
      makeLayerNorm(op, {.x = x,
                         .scale = op.tensor("weight"),
                         .bias = SubtractMean ? op.tensor("bias") : NodeValue(),
                         .axis = axis,
                         .epsilon = epsilon,
                         .subtractMean = SubtractMean});
  if (op.getSchema().results.size() == 3) {
    Normalized parts =
        normalize(op, x, getDimsFrom(axis, shape.size()), epsilon);
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
  Normalized parts = normalizeGroups(op, x, groups, op.number("eps", 1e-5));
  NodeValue result = scaleChannels(op, op.reshape(parts.value, shape));
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
  if (!op.flag("use_input_stats")) {
    if (op.isNone("running_mean") || op.isNone("running_var"))
      return op.refuse("use_input_stats", "True, or running statistics");
    return importBatchNorm(op);
  }
  size_t rank = x.getShape().size();
  if (rank < 3)
    return op.refuse("input", "rank 3 and more");
  NodeValue value =
      normalize(op, x, getDimsFrom(2, rank), op.number("eps", 1e-5)).value;
  return op.setResult(scaleChannels(op, value));
}

static AtenOperators others(
    {{importLayerNorm<true>,
      {"layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, "
       "Tensor? bias=None, float eps=1e-05, bool cudnn_enable=True) -> Tensor",
       "native_layer_norm(Tensor input, int[] normalized_shape, Tensor? "
       "weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)"}},
     {importLayerNorm<false>,
      {"rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, "
       "float? eps=None) -> Tensor"}},
     {importGroupNorm,
      {"group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? "
       "bias=None, float eps=1e-05, bool cudnn_enabled=True) -> Tensor",
       "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, "
       "int C, int HxW, int group, float eps) -> (Tensor, Tensor, Tensor)"}},
     {importInstanceNorm,
      {"instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? "
       "running_mean, Tensor? running_var, bool use_input_stats, float "
       "momentum, float eps, bool cudnn_enabled) -> Tensor"}}});
