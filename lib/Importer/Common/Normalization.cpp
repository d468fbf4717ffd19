//===- Normalization.cpp - Composed normalizations ------------------------===//

#include "Common/Normalization.h"
#include "Common/Axes.h"

using namespace glowish;

Moments glowish::getMoments(NodeBuilder &b, NodeValue x,
                            llvm::ArrayRef<int64_t> axes) {
  NodeValue mean = b.reduce(x, "mean", axes, /*keepDims=*/true);
  NodeValue centred = b.sub(x, mean);
  return {mean, centred,
          b.reduce(b.mul(centred, centred), "mean", axes, /*keepDims=*/true)};
}

Normalized glowish::normalize(NodeBuilder &b, NodeValue x,
                              llvm::ArrayRef<int64_t> axes, double epsilon,
                              bool subtractMean) {
  Moments moments;
  if (subtractMean)
    moments = getMoments(b, x, axes);
  else
    moments = {{}, x, b.reduce(b.mul(x, x), "mean", axes, /*keepDims=*/true)};
  NodeValue inverse = b.unary<ReciprocalNode>(
      b.unary<SqrtNode>(b.add(moments.variance, epsilon)));
  return {b.mul(moments.centred, inverse), moments.mean, inverse};
}

Normalized glowish::normalizeGroups(NodeBuilder &b, NodeValue x, int64_t groups,
                                    double epsilon) {
  if (!x)
    return {};
  DimsRef shape = x.getShape();
  Dims grouped = {shape[0], groups, shape[1] / groups};
  llvm::append_range(grouped, shape.drop_front(2));
  return normalize(b, b.reshape(x, grouped), getDimsFrom(2, grouped.size()),
                   epsilon);
}

NodeValue glowish::alongChannels(NodeBuilder &b, NodeValue parameter,
                                 unsigned rank) {
  if (!parameter)
    return parameter;
  Dims shape(rank > 1 ? rank - 1 : 1, 1);
  shape[0] = parameter.getType().getNumElements();
  return b.reshape(parameter, shape);
}

NodeValue glowish::scaleAndShift(NodeBuilder &b, NodeValue value,
                                 NodeValue scale, NodeValue bias) {
  if (scale)
    value = b.mul(value, scale);
  return bias ? b.add(value, bias) : value;
}

NodeValue glowish::makeLayerNorm(NodeBuilder &b, const LayerNorm &norm) {
  if (!norm.x)
    return norm.x;
  DimsRef normalized = norm.x.getShape().drop_front(norm.axis);
  auto fits = [&](NodeValue value) {
    return !value ||
           (value.getShape() == normalized && !value.getType().hasExtents() &&
            value.getElemKind() == norm.x.getElemKind());
  };
  bool takesScale = fits(norm.scale);
  bool takesBias = takesScale && fits(norm.bias);
  NodeValue value = b.make<LayerNormalizationNode>(
      norm.x, takesScale ? norm.scale : NodeValue(),
      takesBias ? norm.bias : NodeValue(), norm.axis, norm.epsilon,
      norm.subtractMean);
  return scaleAndShift(b, value, takesScale ? NodeValue() : norm.scale,
                       takesBias ? NodeValue() : norm.bias);
}
