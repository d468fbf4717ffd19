//===- Normalization.cpp - Gradients of normalizations --------------------===//

#include "../GradientContext.h"
#include "llvm/ADT/Sequence.h"

using namespace glowish;

/// The inference form, the identity: makeTrainingForm() has replaced the
/// Dropouts of training by masks.
void glowish::differentiateDropout(DropoutNode &node, GradientContext &g) {
  g.accumulate(node.inputIdx, g.getGradient());
}

/// The inference form, the identity: makeTrainingStep() has replaced the losses
/// of training.
void glowish::differentiateLoss(LossNode &node, GradientContext &g) {
  g.accumulate(node.inputIdx, g.getGradient());
}

void glowish::differentiateSoftmax(SoftmaxNode &node, GradientContext &g) {
  NodeValue gradient = g.getGradient(), result = node.getResult();
  NodeValue mean = g.reduce(g.mul(gradient, result), "sum", {node.getAxis()},
                            /*keepDims=*/true);
  g.accumulate(node.inputIdx, g.mul(result, g.sub(gradient, mean)));
}

void glowish::differentiateLogSoftmax(LogSoftmaxNode &node,
                                      GradientContext &g) {
  NodeValue gradient = g.getGradient();
  NodeValue sum =
      g.reduce(gradient, "sum", {node.getAxis()}, /*keepDims=*/true);
  NodeValue shares = g.unary<ExpNode>(node.getResult());
  g.accumulate(node.inputIdx, g.sub(gradient, g.mul(shares, sum)));
}

/// Whether \p value is the mean of \p input over all dimensions but \p axis.
static bool isMeanOf(NodeValue value, NodeValue input, int64_t axis) {
  if (auto *reshape = value.getNodeAs<ReshapeNode>())
    value = reshape->getInput();
  auto *mean = value.getNodeAs<ReduceNode>();
  return mean && mean->getMode() == "mean" && mean->getInput() == input &&
         mean->getAxes() == llvm::ArrayRef<int64_t>(
                                getOtherAxes(input.getShape().size(), axis));
}

/// Whether the statistics of \p node are those of its own input, as built by
/// makeTrainingForm().
static bool usesBatchStatistics(BatchNormalizationNode &node) {
  NodeValue input = node.getInput(), variance = node.getVariance();
  int64_t axis = node.getAxis();
  if (!isMeanOf(node.getMean(), input, axis))
    return false;
  auto *reduce = variance.getNodeAs<ReduceNode>();
  auto *squares = reduce ? reduce->getInput().getNodeAs<MulNode>() : nullptr;
  if (!squares || squares->getX() != squares->getY() ||
      !isMeanOf(variance, squares->getResult(), axis))
    return false;
  auto *centered = squares->getX().getNodeAs<SubNode>();
  return centered && centered->getX() == input &&
         isMeanOf(centered->getY(), input, axis);
}

/// With x' = (x - mean) / sqrt(variance + epsilon) and n elements per channel:
/// factor * (g - sum(g) / n - x' * sum(g * x') / n). This includes the
/// dependence of the statistics on the input; their own adjoints are zero.
static void differentiateBatchStatistics(BatchNormalizationNode &node,
                                         GradientContext &g) {
  NodeValue gradient = g.getGradient(), input = node.getInput();
  int64_t axis = node.getAxis(), channels = input.getShape()[axis];
  Dims shape(input.getShape().size(), 1);
  shape[axis] = channels;
  double count =
      double(std::max<int64_t>(input.getType().getNumElements(), 1)) /
      double(std::max<int64_t>(channels, 1));
  NodeValue inverse = g.unary<ReciprocalNode>(
      g.unary<SqrtNode>(g.add(node.getVariance(), node.getEpsilon())));
  NodeValue normalized = g.mul(g.sub(input, g.reshape(node.getMean(), shape)),
                               g.reshape(inverse, shape));
  NodeValue sum = g.sumToAxis(gradient, axis);
  NodeValue dots = g.sumToAxis(g.mul(gradient, normalized), axis);
  g.accumulate(node.biasIdx, sum);
  g.accumulate(node.scaleIdx, dots);
  if (!g.needsGradient(node.inputIdx))
    return;
  NodeValue means = g.reshape(g.mul(sum, 1 / count), shape);
  NodeValue slopes = g.reshape(g.mul(dots, 1 / count), shape);
  NodeValue adjoint = g.sub(g.sub(gradient, means), g.mul(normalized, slopes));
  g.accumulate(
      node.inputIdx,
      g.mul(adjoint, g.reshape(g.mul(node.getScale(), inverse), shape)));
}

/// Unless the statistics are those of the input, they are independent operands
/// with gradients of their own.
void glowish::differentiateBatchNormalization(BatchNormalizationNode &node,
                                              GradientContext &g) {
  if (usesBatchStatistics(node)) {
    differentiateBatchStatistics(node, g);
    return;
  }
  NodeValue gradient = g.getGradient(), input = node.getInput();
  int64_t axis = node.getAxis();
  Dims shape(input.getShape().size(), 1);
  shape[axis] = input.getShape()[axis];
  NodeValue variance = g.add(node.getVariance(), node.getEpsilon());
  NodeValue inverse = g.unary<ReciprocalNode>(g.unary<SqrtNode>(variance));
  NodeValue factor = g.mul(node.getScale(), inverse);
  if (g.needsGradient(node.inputIdx))
    g.accumulate(node.inputIdx, g.mul(gradient, g.reshape(factor, shape)));
  NodeValue sum = g.sumToAxis(gradient, axis);
  g.accumulate(node.biasIdx, sum);
  if (g.needsGradient(node.meanIdx))
    g.accumulate(node.meanIdx, g.unary<NegNode>(g.mul(sum, factor)));
  if (!g.needsGradient(node.scaleIdx) && !g.needsGradient(node.varianceIdx))
    return;
  NodeValue centered = g.sub(input, g.reshape(node.getMean(), shape));
  NodeValue dots = g.sumToAxis(g.mul(gradient, centered), axis);
  g.accumulate(node.scaleIdx, g.mul(dots, inverse));
  if (g.needsGradient(node.varianceIdx))
    g.accumulate(node.varianceIdx,
                 g.mul(g.div(g.mul(dots, factor), variance), -0.5));
}

/// Sums over windows of \p size channels that begin \p before channels before
/// the element.
static NodeValue sumChannels(GradientContext &g, NodeValue value, int64_t size,
                             int64_t before) {
  if (!value)
    return value;
  // An average pooling with the channels as the height of images of width 1.
  Dims shape(value.getShape());
  int64_t channels = shape.back();
  int64_t rows = channels ? value.getType().getNumElements() / channels : 0;
  NodeValue images = g.reshape(value, {rows, channels, 1, 1});
  NodeValue means = g.make<AvgPoolNode>(
      images, std::vector<int64_t>{size, 1}, std::vector<int64_t>{1, 1},
      std::vector<int64_t>{before, 0, size - 1 - before, 0},
      std::vector<int64_t>{1, 1}, /*countIncludePads=*/true);
  return g.reshape(g.mul(means, double(size)), shape);
}

/// With d = bias + alpha / size * sum of squares: the direct dependence on the
/// element, and that through the sums that it is part of.
void glowish::differentiateLocalResponseNormalization(
    LocalResponseNormalizationNode &node, GradientContext &g) {
  NodeValue gradient = g.getGradient(), input = node.getInput();
  if (input.getType().getNumElements() == 0) {
    g.accumulate(node.inputIdx, gradient);
    return;
  }
  int64_t size = node.getSize(), before = (size - 1) / 2;
  double share = node.getAlpha() / double(size), beta = node.getBeta();
  NodeValue squares = sumChannels(g, g.mul(input, input), size, before);
  NodeValue base = g.add(g.mul(squares, share), node.getBias());
  NodeValue direct = g.mul(gradient, g.pow(base, -beta));
  NodeValue windows = sumChannels(g, g.div(g.mul(direct, input), base), size,
                                  size - 1 - before);
  NodeValue indirect = g.mul(g.mul(input, windows), 2 * share * beta);
  g.accumulate(node.inputIdx, g.sub(direct, indirect));
}

namespace {
/// The normalized input of a layer normalization, before scale and bias.
struct Normalized {
  NodeValue value, inverse;
};
} // namespace

static Normalized normalize(LayerNormalizationNode &node,
                            llvm::ArrayRef<int64_t> axes, GradientContext &g) {
  NodeValue centered = node.getInput();
  if (node.getSubtractMean())
    centered = g.sub(centered, g.reduce(centered, "mean", axes, true));
  NodeValue variance = g.reduce(g.mul(centered, centered), "mean", axes, true);
  NodeValue inverse = g.unary<ReciprocalNode>(
      g.unary<SqrtNode>(g.add(variance, node.getEpsilon())));
  return {g.mul(centered, inverse), inverse};
}

void glowish::differentiateLayerNormalization(LayerNormalizationNode &node,
                                              GradientContext &g) {
  NodeValue gradient = g.getGradient(), input = node.getInput();
  if (input.getType().getNumElements() == 0) {
    g.accumulate(node.inputIdx, gradient);
    for (unsigned index : {node.scaleIdx, node.biasIdx})
      if (NodeValue operand = node.getOperand(index))
        g.accumulate(index, g.zeros(operand.getType()));
    return;
  }
  auto axes = llvm::to_vector(
      llvm::seq<int64_t>(node.getAxis(), input.getType().getRank()));
  auto [normalized, inverse] = normalize(node, axes, g);
  if (node.getBias())
    g.addBroadcast(node.biasIdx, gradient);
  if (node.getScale())
    g.addBroadcast(node.scaleIdx, g.mul(gradient, normalized));
  if (!g.needsGradient(node.inputIdx))
    return;
  NodeValue scaled =
      node.getScale() ? g.mul(gradient, node.getScale()) : gradient;
  NodeValue meanDot = g.reduce(g.mul(scaled, normalized), "mean", axes, true);
  NodeValue adjoint = g.sub(scaled, g.mul(normalized, meanDot));
  if (node.getSubtractMean())
    adjoint = g.sub(adjoint, g.reduce(scaled, "mean", axes, true));
  g.accumulate(node.inputIdx, g.mul(adjoint, inverse));
}
