//===- Images.cpp - Pooling and resizing as MLIR --------------------------===//

#include "MLIR/Writer.h"
#include "glowish/Ops/ResizeSource.h"

using namespace glowish;

static const MlirForm maxPool = [](MlirWriter &w, const MaxPoolNode &node) {
  MlirValue padded = w.padImages(w.get(node.getInput()), node.getPads(),
                                 getReductionIdentity("max"));
  return w.pool("max", padded, getWindows(node), node.getType());
};

static const MlirForm avgPool = [](MlirWriter &w, const AvgPoolNode &node) {
  MlirValue input = w.getWide(node.getInput());
  Windows window = getWindows(node);
  MlirValue sums = w.pool("sum", w.padImages(input, node.getPads(), 0), window,
                          node.getType().withKind(input.getKind()));
  return w.divideByTaps(sums, window, input.getShape().slice(1, 2),
                        node.getCountIncludePads());
};

//===- Resize -------------------------------------------------------------===//

/// One dimension of a Resize: gathers of the neighbours, and their mean.
static MlirValue resizeDim(MlirWriter &w, const ResizeNode &node, int64_t axis,
                           const MlirValue &x) {
  ResizeDim dim{.mode = node.getMode(),
                .coordinates = node.getCoordinates(),
                .nearestMode = node.getNearestMode(),
                .from = node.getInput().getShape()[axis],
                .to = node.getType().getShape()[axis],
                .scale = axis == 1 ? node.getScaleH() : node.getScaleW()};
  std::vector<int64_t> low, high;
  std::vector<double> weights;
  for (int64_t i = 0; i < dim.to; ++i) {
    ResizeSource source = getResizeSource(dim, i);
    low.push_back(source.low);
    high.push_back(source.high);
    weights.push_back(source.weight);
  }
  Dims result(x.getShape()), shape = {1, 1, 1};
  result[axis] = shape[axis - 1] = dim.to;
  auto gather = [&](IntsRef indices) {
    return w.gather(x, w.ints(indices), axis, x.type.withShape(result));
  };
  MlirValue first = gather(low);
  if (dim.mode == "nearest")
    return first;
  MlirValue second = gather(high);
  MlirValue weight = w.table(x.getKind(), shape,
                             [&](int64_t i) { return weights[size_t(i)]; });
  return w.map(x.getKind(), result, {first, second, weight}, [](auto elements) {
    const MlirScalar &weight = elements[2];
    return elements[0] * (weight.like(1) - weight) + elements[1] * weight;
  });
}

static const MlirForm resize = [](MlirWriter &w, const ResizeNode &node) {
  const Type &type = node.getType();
  if (type.getNumElements() == 0)
    return w.splat(type, 0);
  MlirValue x = w.get(node.getInput());
  // Means of integers are computed in double.
  if (node.getMode() == "linear")
    x = isFloatKind(x.getKind()) ? w.widen(x) : w.cast(x, ElemKind::Double);
  return resizeDim(w, node, 1, resizeDim(w, node, 2, x));
};
