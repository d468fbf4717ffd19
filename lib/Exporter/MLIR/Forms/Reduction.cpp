//===- Reduction.cpp - Reductions and normalizations as MLIR --------------===//

#include "MLIR/Writer.h"

using namespace glowish;

/// The mean of \p x along \p axes, which are kept, in the kind of \p x.
static MlirValue takeMean(MlirWriter &w, const MlirValue &x, IntsRef axes) {
  double count = 1;
  for (int64_t axis : axes)
    count *= double(x.getShape()[axis]);
  MlirValue sums = w.reduce("sum", x, axes, /*keepDims=*/true);
  return w.mapSame(x.getKind(), {sums}, [&](auto elements) {
    return elements[0] / elements[0].like(count);
  });
}

static const MlirForm reduce = [](MlirWriter &w, const ReduceNode &node) {
  MlirValue input = w.getWide(node.getInput());
  if (node.getMode() == "mean")
    return w.reshape(takeMean(w, input, node.getAxes()),
                     node.getType().getShape());
  return w.reduce(node.getMode(), input, node.getAxes(), node.getKeepDims());
};

static MlirValue writeReduceInteger(MlirWriter &w,
                                    const ReduceIntegerNode &node) {
  MlirValue input = w.cast(w.get(node.getInput()), ElemKind::Int32);
  return w.reduce("sum", input, node.getAxes(), node.getKeepDims());
}
static const MlirForm reduceInteger = writeReduceInteger;

static const MlirForm argMax = [](MlirWriter &w, const ArgMaxNode &node) {
  MlirValue input = w.getWide(node.getInput());
  return w.argMax(input, node.getAxis(), node.getSelectLast(), node.getType());
};

static const MlirForm softmax = [](MlirWriter &w, const SoftmaxNode &node) {
  int64_t axis = node.getAxis();
  MlirValue input = w.getWide(node.getInput());
  MlirValue largest = w.reduce("max", input, axis, /*keepDims=*/true);
  MlirValue powers =
      w.mapSame(input.getKind(), {input, largest},
                [](auto elements) { return exp(elements[0] - elements[1]); });
  MlirValue sum = w.reduce("sum", powers, axis, /*keepDims=*/true);
  return w.div(powers, sum);
};

static MlirValue writeLayerNormalization(MlirWriter &w,
                                         const LayerNormalizationNode &node) {
  const Type &type = node.getType();
  MlirValue x = w.getWide(node.getInput());
  std::vector<int64_t> axes;
  for (int64_t d = node.getAxis(); d < int64_t(type.getRank()); ++d)
    axes.push_back(d);
  if (node.getSubtractMean())
    x = w.sub(x, takeMean(w, x, axes));
  MlirValue variance = takeMean(w, w.mul(x, x), axes);
  x = w.mapSame(x.getKind(), {x, variance}, [&](auto elements) {
    return elements[0] / sqrt(elements[1] + node.getEpsilon());
  });
  if (node.getScale())
    x = w.mul(x, w.getWide(node.getScale()));
  if (node.getBias())
    x = w.add(x, w.getWide(node.getBias()));
  return x;
}
static const MlirForm layerNormalization = writeLayerNormalization;

/// The sums over neighbouring channels are those of the windows of images whose
/// height is that of all other dimensions, and whose width the channels.
static MlirValue
writeLocalResponseNormalization(MlirWriter &w,
                                const LocalResponseNormalizationNode &node) {
  const Type &type = node.getType();
  MlirValue x = w.getWide(node.getInput());
  int64_t size = node.getSize(), before = (size - 1) / 2;
  int64_t channels = type.getShape().back();
  int64_t others = type.getNumElements() / std::max<int64_t>(channels, 1);
  MlirValue squares = w.reshape(w.mul(x, x), {1, others, channels, 1});
  squares = w.padImages(squares, {0, before, 0, size - 1 - before}, 0);
  const int64_t kernels[] = {1, size}, ones[] = {1, 1}, zeros[] = {0, 0, 0, 0};
  MlirValue sums = w.pool("sum", squares, {kernels, ones, zeros, ones},
                          Type(x.getKind(), {1, others, channels, 1}));
  sums = w.reshape(sums, type.getShape());
  return w.mapSame(x.getKind(), {x, sums}, [&](auto elements) {
    MlirScalar base =
        elements[1] * (node.getAlpha() / double(size)) + node.getBias();
    return elements[0] / pow(base, base.like(node.getBeta()));
  });
}
static const MlirForm localResponse = writeLocalResponseNormalization;
