//===- Normalization.cpp - Lowering of normalizations and pools -----------===//

#include "Lowering/Lowering.h"
#include <numeric>

using namespace glowish;

/// With statistics that are not constants; fold-arithmetic does the others.
NodeValue glowish::lowerBatchNormalization(BatchNormalizationNode &root,
                                           RewriteContext &context) {
  NodeValue input = root.getInput();
  Dims shape(input.getShape().size() - root.getAxis(), 1);
  shape[0] = input.getShape()[root.getAxis()];
  ElemKind kind = input.getElemKind();
  NodeValue variance = context.create<AddNode>(
      root.getVariance(), context.createScalar(kind, root.getEpsilon()));
  NodeValue factor = context.create<DivNode>(
      root.getScale(), context.create<SqrtNode>(variance));
  NodeValue centered =
      context.create<SubNode>(input, context.reshape(root.getMean(), shape));
  NodeValue scaled =
      context.create<MulNode>(centered, context.reshape(factor, shape));
  return context.create<AddNode>(scaled,
                                 context.reshape(root.getBias(), shape));
}

/// Without training.
NodeValue glowish::lowerDropout(DropoutNode &root,
                                RewriteContext & /*context*/) {
  return root.getInput();
}

/// Without training.
NodeValue glowish::lowerLoss(LossNode &root, RewriteContext & /*context*/) {
  return root.getInput();
}

NodeValue glowish::lowerGlobalAvgPool(GlobalAvgPoolNode &root,
                                      RewriteContext &context) {
  return context.create<ReduceNode>(root.getInput(), "mean",
                                    llvm::ArrayRef<int64_t>{1, 2}, true);
}

NodeValue glowish::lowerGlobalMaxPool(GlobalMaxPoolNode &root,
                                      RewriteContext &context) {
  return context.create<ReduceNode>(root.getInput(), "max",
                                    llvm::ArrayRef<int64_t>{1, 2}, true);
}

/// Over several dimensions: they become one.
NodeValue glowish::lowerLayerNormalization(LayerNormalizationNode &root,
                                           RewriteContext &context) {
  DimsRef shape = root.getInput().getShape();
  int64_t axis = root.getAxis();
  if (axis + 1 == int64_t(shape.size()))
    return {};
  int64_t length = 1;
  for (int64_t extent : shape.drop_front(axis))
    length *= extent;
  Dims flat(shape.take_front(axis));
  flat.push_back(length);
  auto flatten = [&](NodeValue value) {
    return value ? context.reshape(value, {length}) : value;
  };
  NodeValue result = context.create<LayerNormalizationNode>(
      context.reshape(root.getInput(), flat), flatten(root.getScale()),
      flatten(root.getBias()), axis, root.getEpsilon(), root.getSubtractMean());
  return context.reshape(result, shape);
}

/// Brings dimension \p axis of \p rank to the end, and back: it is its own
/// inverse.
static std::vector<int64_t> swapWithLast(int64_t axis, int64_t rank) {
  std::vector<int64_t> permutation(rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[axis], permutation[rank - 1]);
  return permutation;
}

/// The channels of a group and their pixels become one dimension, over which a
/// layer is normalized. Channels that are behind pixels go before them.
NodeValue glowish::lowerGroupNormalization(GroupNormalizationNode &root,
                                           RewriteContext &context) {
  // Nothing has no mean, and nothing to compute.
  if (root.getType().getNumElements() == 0)
    return root.getInput();
  DimsRef shape = root.getType().getShape();
  int64_t axis = root.getAxis(), images = shape[0], channels = shape[axis];
  int64_t before = countElements(shape.slice(1, axis - 1));
  int64_t after = countElements(shape.drop_front(axis + 1));
  int64_t pixels = before * after;
  NodeValue value = root.getInput();
  // Swapping two dimensions is its own inverse.
  const std::vector<int64_t> swap = {0, 2, 1, 3};
  if (before > 1)
    value = context.transpose(
        context.reshape(value, {images, before, channels, after}), swap);
  value = context.reshape(
      value, {images, root.getGroups(), channels / root.getGroups() * pixels});
  value = context.create<LayerNormalizationNode>(
      value, NodeValue(), NodeValue(), int64_t(2), root.getEpsilon(),
      /*subtractMean=*/true);
  value = context.reshape(value, {images, channels, pixels});
  if (NodeValue scale = root.getScale())
    value =
        context.create<MulNode>(value, context.reshape(scale, {channels, 1}));
  if (NodeValue bias = root.getBias())
    value =
        context.create<AddNode>(value, context.reshape(bias, {channels, 1}));
  if (before > 1)
    value = context.transpose(
        context.reshape(value, {images, channels, before, after}), swap);
  return context.reshape(value, shape);
}

/// Along another dimension than the last: that dimension goes last.
NodeValue glowish::lowerSoftmax(SoftmaxNode &root, RewriteContext &context) {
  int64_t rank = root.getType().getRank(), axis = root.getAxis();
  if (axis + 1 == rank)
    return {};
  std::vector<int64_t> permutation = swapWithLast(axis, rank);
  NodeValue moved = context.transpose(root.getInput(), permutation);
  NodeValue result = context.create<SoftmaxNode>(moved, rank - 1);
  // Not through transpose(), which drops identities that this can't be.
  return context.create<TransposeNode>(result, permutation);
}

/// (x - max) - log(sum(e^(x - max))).
NodeValue glowish::lowerLogSoftmax(LogSoftmaxNode &root,
                                   RewriteContext &context) {
  int64_t axis = root.getAxis();
  llvm::ArrayRef<int64_t> axes = axis;
  NodeValue input = root.getInput();
  // There is no largest element of nothing, and nothing to compute.
  if (root.getType().getNumElements() == 0)
    return input;
  NodeValue largest =
      context.create<ReduceNode>(input, "max", axes, /*keepDims=*/true);
  NodeValue shifted = context.create<SubNode>(input, largest);
  NodeValue sum = context.create<ReduceNode>(context.create<ExpNode>(shifted),
                                             "sum", axes, /*keepDims=*/true);
  return context.create<SubNode>(shifted, context.create<LogNode>(sum));
}
