//===- Images.cpp - Pooling and resizing as MLIR --------------------------===//

#include "MLIR/PoolDivisors.h"
#include "glowish/Ops/ResizeSource.h"

using namespace glowish;

static void writeMaxPool(MlirWriter &w, const MaxPoolNode &node) {
  MlirValue padded = w.padImages(w.get(node.getInput()), node.getPads(),
                                 getReductionIdentity("max"));
  w.setResult(node, w.pool("max", padded,
                           {node.getKernels(), node.getStrides(),
                            node.getPads(), node.getDilations()},
                           node.getType()));
}
static const MlirForm maxPoolForm(NodeKind::MaxPool, writeMaxPool);

static void writeAvgPool(MlirWriter &w, const AvgPoolNode &node) {
  const Type &type = node.getType();
  MlirValue input = w.widen(w.get(node.getInput()));
  MlirWindow window = {node.getKernels(), node.getStrides(), node.getPads(),
                       node.getDilations()};
  MlirValue sums = w.pool("sum", w.padImages(input, node.getPads(), 0), window,
                          type.withKind(input.getKind()));
  Tensor divisors = makePoolDivisors(
      Type(input.getKind(), {1, type.getDim(1), type.getDim(2), 1}), window,
      input.getShape().slice(1, 2), node.getCountIncludePads());
  MlirValue means = w.div(sums, w.constant(std::move(divisors)));
  w.setResult(node, w.cast(means, type.getKind()));
}
static const MlirForm avgPoolForm(NodeKind::AvgPool, writeAvgPool);

//===- Resize -------------------------------------------------------------===//

namespace {
/// One dimension of a Resize: gathers of the neighbours, and their mean.
class DimResizer {
public:
  DimResizer(MlirWriter &w, const ResizeNode &node, int64_t axis)
      : w(w), axis(axis),
        dim{.mode = node.getMode(),
            .coordinates = node.getCoordinates(),
            .nearestMode = node.getNearestMode(),
            .from = node.getInput().getShape()[axis],
            .to = node.getType().getShape()[axis],
            .scale = axis == 1 ? node.getScaleH() : node.getScaleW()} {}

  MlirValue resize(const MlirValue &x) {
    std::vector<int64_t> low, high;
    std::vector<double> weights;
    for (int64_t i = 0; i < dim.to; ++i) {
      ResizeSource source = getResizeSource(dim, i);
      low.push_back(source.low);
      high.push_back(source.high);
      weights.push_back(source.weight);
    }
    MlirValue first = gather(x, low);
    if (dim.mode == "nearest")
      return first;
    Dims shape = {1, 1, 1};
    shape[axis - 1] = dim.to;
    Tensor weight(Type(x.getKind(), shape));
    for (int64_t i = 0; i < dim.to; ++i)
      weight.setFromDouble(i, weights[i]);
    return w.map(x.getKind(), first.getShape(),
                 {first, gather(x, high), w.constant(std::move(weight))},
                 [](auto elements) {
                   const MlirScalar &weight = elements[2];
                   return elements[0] * (weight.like(1) - weight) +
                          elements[1] * weight;
                 });
  }

private:
  MlirValue gather(const MlirValue &x, IntsRef indices) {
    Dims shape(x.getShape());
    shape[axis] = dim.to;
    return w.gather(x, w.ints(indices), axis, x.type.withShape(shape));
  }

  MlirWriter &w;
  int64_t axis;
  ResizeDim dim;
};
} // namespace

static void writeResize(MlirWriter &w, const ResizeNode &node) {
  const Type &type = node.getType();
  if (type.getNumElements() == 0)
    return w.setResult(node, w.splat(type, 0));
  MlirValue x = w.get(node.getInput());
  // Means of integers are computed in double.
  if (node.getMode() == "linear")
    x = isFloatKind(x.getKind()) ? w.widen(x) : w.cast(x, ElemKind::Double);
  x = DimResizer(w, node, 2).resize(x);
  x = DimResizer(w, node, 1).resize(x);
  w.setResult(node, w.cast(x, type.getKind()));
}
static const MlirForm resizeForm(NodeKind::Resize, writeResize);
