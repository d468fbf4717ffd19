//===- Gradients.cpp - Gradients of windows in StableHLO ------------------===//

#include "MLIR/StableHlo/StableHloWriter.h"

using namespace glowish;

/// \p x, an element for each window, at distances of \p strides in an image of
/// \p extents, the first one \p lows after its start.
static MlirValue spread(StableHloWriter &w, const MlirValue &x, IntsRef strides,
                        IntsRef lows, IntsRef extents) {
  DimsRef windows = x.getShape();
  std::vector<int64_t> pads(8, 0), between(4, 0);
  Dims shape(windows);
  for (unsigned d = 0; d < 2; ++d) {
    pads[d + 1] = lows[d];
    pads[d + 5] = extents[d] - lows[d] - (windows[d + 1] - 1) * strides[d] - 1;
    between[d + 1] = strides[d] - 1;
    shape[d + 1] = extents[d];
  }
  return w.padInside(x, pads, between, x.type.withShape(shape));
}

//===- Convolution --------------------------------------------------------===//

/// A convolution whose channels are images, and whose images are channels: each
/// tap is a window as large as the gradient.
static MlirValue
writeHloFilterGradient(StableHloWriter &w,
                       const ConvolutionFilterGradientNode &node) {
  const Type &type = node.getType();
  MlirValue gradient = w.getWide(node.getGradient());
  MlirValue input = w.getWide(node.getInput());
  if (type.getNumElements() == 0 || gradient.type.getNumElements() == 0)
    return w.splat(type, 0);
  std::vector<int64_t> pads(node.getPads());
  for (unsigned d = 0; d < 2; ++d) {
    int64_t needed = (type.getDim(d + 1) - 1) * node.getDilations()[d] +
                     (gradient.getShape()[d + 1] - 1) * node.getStrides()[d] +
                     1;
    // Without what no window reaches.
    pads[d + 2] = needed - input.getShape()[d + 1] - pads[d];
  }
  input = w.padImages(input, pads, 0);
  const int64_t zeros[] = {0, 0, 0, 0};
  // StableHLO's interpreter has results in this order alone.
  Type sumType(input.getKind(), {type.getDim(3), type.getDim(1), type.getDim(2),
                                 type.getDim(0)});
  MlirValue sums =
      w.convolution(input, gradient, "[f, 0, 1, b]x[i, 0, 1, o]->[b, 0, 1, f]",
                    {.input = {},
                     .filter = {},
                     .bias = {},
                     .strides = node.getDilations(),
                     .pads = zeros,
                     .dilations = node.getStrides()},
                    node.getGroup(), sumType);
  return w.transpose(sums, {3, 1, 2, 0});
}
static const MlirForm filterGradient = writeHloFilterGradient;

//===- Pooling ------------------------------------------------------------===//

/// The sums over the windows that each element is in are those of windows over
/// the gradient, with zeros between its elements.
static MlirValue writeHloAvgPoolGradient(StableHloWriter &w,
                                         const AvgPoolGradientNode &node) {
  const Type &type = node.getType();
  MlirValue gradient = w.getWide(node.getGradient());
  if (type.getNumElements() == 0 || gradient.type.getNumElements() == 0)
    return w.splat(type, 0);
  Windows window = getWindows(node);
  MlirValue shares = w.divideByTaps(gradient, window, node.getSizes(),
                                    node.getCountIncludePads());
  int64_t lows[2], extents[2];
  for (unsigned d = 0; d < 2; ++d) {
    int64_t reach = (window.kernels[d] - 1) * window.dilations[d];
    lows[d] = reach - window.pads[d];
    extents[d] = type.getDim(d + 1) + reach;
  }
  const int64_t ones[] = {1, 1};
  return w.pool("sum", spread(w, shares, window.strides, lows, extents),
                {window.kernels, ones, window.pads, window.dilations},
                type.withKind(gradient.getKind()));
}
static const MlirForm avgPoolGradient = writeHloAvgPoolGradient;

namespace {

/// The taps of a MaxPool's windows one after the other, each an operation on
/// the elements of all windows.
class MaxPoolTaps {
public:
  MaxPoolTaps(StableHloWriter &w, const MaxPoolGradientNode &node,
              const MlirValue &input, const MlirValue &gradient)
      : w(w), node(node), input(input), gradient(gradient),
        columns(node.getKernels()[1]), count(node.getKernels()[0] * columns) {}

  /// The number of the tap with the largest element of each window, the first
  /// of several; -1 where the window is padding. NaN is above all numbers.
  MlirValue findLargest();
  /// The sum of each tap's elements of the gradient, where \p taps has it.
  MlirValue sum(const MlirValue &taps);

private:
  /// Of row and column \p d of tap \p tap, the place in the image of the first
  /// window.
  int64_t getPlace(int64_t tap, unsigned d) const {
    int64_t step = d == 0 ? tap / columns : tap % columns;
    return step * node.getDilations()[d] - node.getPads()[d];
  }
  /// Of each window, whether tap \p tap is in the image.
  MlirValue findInside(int64_t tap);

  StableHloWriter &w;
  const MaxPoolGradientNode &node;
  MlirValue input, gradient;
  int64_t columns, count;
};

} // namespace

MlirValue MaxPoolTaps::findInside(int64_t tap) {
  DimsRef windows = gradient.getShape(), image = input.getShape();
  auto isInside = [&](unsigned d, int64_t window) {
    int64_t place = getPlace(tap, d) + window * node.getStrides()[d];
    return place >= 0 && place < image[d + 1];
  };
  return w.table(
      ElemKind::Bool, {1, windows[1], windows[2], 1}, [&](int64_t i) {
        return isInside(0, i / windows[2]) && isInside(1, i % windows[2]);
      });
}

MlirValue MaxPoolTaps::findLargest() {
  DimsRef windows = gradient.getShape();
  MlirValue padded = w.padImages(input, node.getPads(), 0);
  const int64_t steps[] = {1, node.getStrides()[0], node.getStrides()[1], 1};
  MlirValue largest = w.splat(gradient.type, 0);
  MlirValue taps = w.splat(Type(ElemKind::Int32, windows), -1);
  for (int64_t tap = 0; tap < count; ++tap) {
    const int64_t starts[] = {0, getPlace(tap, 0) + node.getPads()[0],
                              getPlace(tap, 1) + node.getPads()[1], 0};
    MlirValue elements = w.slice(padded, starts, windows, steps);
    MlirValue isBetter =
        w.mapSame(ElemKind::Bool, {elements, largest, taps, findInside(tap)},
                  [](auto values) {
                    const MlirScalar &element = values[0], &best = values[1];
                    MlirScalar isLarger = isAbove(element, best);
                    return values[3] && (values[2] < 0.0 || isLarger);
                  });
    auto choose = [](auto values) {
      return select(values[0], values[1], values[2]);
    };
    MlirValue number = w.splat(taps.type, double(tap));
    largest =
        w.mapSame(largest.getKind(), {isBetter, elements, largest}, choose);
    taps = w.mapSame(taps.getKind(), {isBetter, number, taps}, choose);
  }
  return taps;
}

MlirValue MaxPoolTaps::sum(const MlirValue &taps) {
  MlirValue sums;
  for (int64_t tap = 0; tap < count; ++tap) {
    MlirValue share =
        w.mapSame(gradient.getKind(), {taps, gradient}, [&](auto values) {
          return select(values[0] == double(tap), values[1], values[1].like(0));
        });
    const int64_t lows[] = {getPlace(tap, 0), getPlace(tap, 1)};
    share =
        spread(w, share, node.getStrides(), lows, input.getShape().slice(1, 2));
    sums = sums ? w.add(sums, share) : share;
  }
  return sums;
}

static MlirValue writeHloMaxPoolGradient(StableHloWriter &w,
                                         const MaxPoolGradientNode &node) {
  const Type &type = node.getType();
  MlirValue gradient = w.getWide(node.getGradient());
  MlirValue input = w.getWide(node.getInput());
  if (type.getNumElements() == 0 || gradient.type.getNumElements() == 0)
    return w.splat(type, 0);
  MaxPoolTaps taps(w, node, input, gradient);
  return taps.sum(taps.findLargest());
}
static const MlirForm maxPoolGradient = writeHloMaxPoolGradient;
