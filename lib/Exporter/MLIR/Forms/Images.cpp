//===- Images.cpp - Pooling and resizing as MLIR --------------------------===//

#include "MLIR/PoolDivisors.h"
#include "glowish/Ops/ResizeSource.h"
#include <cmath>

using namespace glowish;

static void writeMaxPool(MlirWriter &w, const MaxPoolNode &node) {
  constexpr double lowest = -HUGE_VAL;
  MlirValue padded =
      w.padImages(w.get(node.getInput()), node.getPads(), lowest);
  w.setResult(node, w.pool("max", padded,
                           {node.getKernels(), node.getStrides(),
                            node.getPads(), node.getDilations()},
                           node.getType()));
}
static const MlirForm maxPoolForm(NodeKind::MaxPool, writeMaxPool);

/// The taps of window \p number along dimension \p d that are in an image of
/// \p extent.
static int64_t countInside(const MlirWindow &window, unsigned d, int64_t number,
                           int64_t extent) {
  int64_t count = 0;
  for (int64_t tap = 0; tap < window.kernels[d]; ++tap) {
    int64_t place =
        number * window.strides[d] - window.pads[d] + tap * window.dilations[d];
    count += place >= 0 && place < extent;
  }
  return count;
}

Tensor glowish::makePoolDivisors(const Type &type, const MlirWindow &window,
                                 IntsRef sizes, bool countIncludePads) {
  Tensor divisors(type);
  int64_t all = window.kernels[0] * window.kernels[1];
  int64_t rows = type.getDim(1), columns = type.getDim(2);
  for (int64_t y = 0; y < rows; ++y)
    for (int64_t x = 0; x < columns; ++x) {
      int64_t inside = countInside(window, 0, y, sizes[0]) *
                       countInside(window, 1, x, sizes[1]);
      int64_t count = countIncludePads ? all : inside;
      divisors.setFromDouble(y * columns + x,
                             double(std::max<int64_t>(count, 1)));
    }
  return divisors;
}

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
