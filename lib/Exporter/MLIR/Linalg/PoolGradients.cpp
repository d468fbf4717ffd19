//===- PoolGradients.cpp - Gradients of pooling in linalg -----------------===//

#include "MLIR/Linalg/LinalgWriter.h"
#include "MLIR/PoolDivisors.h"

using namespace glowish;

namespace {

/// Sums over the windows that an element is in: loops over images, rows,
/// columns, channels and the taps of windows.
class WindowAdjoint {
public:
  WindowAdjoint(LinalgWriter &w, const MlirWindow &window, const Type &type,
                DimsRef windows)
      : w(w), window(window), type(type), windows(windows) {}

  /// \p share of the place in the windows, and the number of the tap.
  MlirValue
  write(llvm::function_ref<MlirScalar(llvm::ArrayRef<LinalgWriter::Index> place,
                                      const MlirScalar &tap)>
            share);

private:
  /// The position of the window that has loop \p d + 1 at tap loop \p d + 4,
  /// limited to those that there are.
  MlirScalar findWindow(unsigned d, MlirScalar &isThere);

  LinalgWriter &w;
  const MlirWindow &window;
  const Type &type;
  DimsRef windows;
};

} // namespace

MlirScalar WindowAdjoint::findWindow(unsigned d, MlirScalar &isThere) {
  MlirScalar element = w.fromIndex(w.loopIndex(d + 1));
  MlirScalar tap = w.fromIndex(w.loopIndex(d + 4));
  MlirScalar start =
      element + double(window.pads[d]) - tap * double(window.dilations[d]);
  MlirScalar number = start / start.like(double(window.strides[d]));
  MlirScalar last = start.like(double(windows[d + 1] - 1));
  // Quotients of negative numbers are rounded up.
  isThere = isThere && start >= 0.0 && number <= last &&
            number * double(window.strides[d]) == start;
  return max(min(number, last), 0.0);
}

MlirValue WindowAdjoint::write(
    llvm::function_ref<MlirScalar(llvm::ArrayRef<LinalgWriter::Index> place,
                                  const MlirScalar &tap)>
        share) {
  MlirValue start = w.splat(type, 0);
  if (type.getNumElements() == 0 || countElements(windows) == 0)
    return start;
  LinalgWriter::Access shape = {w.empty(type.withShape(window.kernels)),
                                {"d4", "d5"}};
  LinalgWriter::Access out = {start, LinalgWriter::getLoopNames(4)};
  return w
      .generic({.count = 6, .reduced = {4, 5}}, shape, out,
               [&](auto, auto sums) {
                 MlirScalar isThere = w.scalar(ElemKind::Bool, 1);
                 MlirScalar row = findWindow(0, isThere);
                 MlirScalar column = findWindow(1, isThere);
                 MlirScalar tap =
                     w.fromIndex(w.loopIndex(4)) * double(window.kernels[1]) +
                     w.fromIndex(w.loopIndex(5));
                 MlirScalar value = share({w.loopIndex(0), w.toIndex(row),
                                           w.toIndex(column), w.loopIndex(3)},
                                          tap);
                 return std::vector<MlirScalar>{
                     sums[0] + select(isThere, value, value.like(0))};
               })
      .front();
}

static void writeAvgPoolGradient(LinalgWriter &w,
                                 const AvgPoolGradientNode &node) {
  const Type &type = node.getType();
  MlirValue gradient = w.widen(w.get(node.getGradient()));
  DimsRef windows = gradient.getShape();
  MlirWindow window = {node.getKernels(), node.getStrides(), node.getPads(),
                       node.getDilations()};
  Tensor divisors =
      makePoolDivisors(Type(gradient.getKind(), {1, windows[1], windows[2], 1}),
                       window, node.getSizes(), node.getCountIncludePads());
  MlirValue shares = w.div(gradient, w.constant(std::move(divisors)));
  MlirValue sums =
      WindowAdjoint(w, window, type.withKind(gradient.getKind()), windows)
          .write([&](auto place, const MlirScalar &) {
            return w.extract(shares, place);
          });
  w.setResult(node, w.cast(sums, type.getKind()));
}
static const MlirForm avgPoolGradientForm(NodeKind::AvgPoolGradient,
                                          writeAvgPoolGradient);

/// The number of the tap with the largest element of each window, the first of
/// several; -1 where the window is padding. NaN is larger than all numbers. The
/// loops run in order.
static MlirValue findLargestTaps(LinalgWriter &w, const MlirValue &input,
                                 const MlirWindow &window, DimsRef windows) {
  DimsRef extents = input.getShape();
  LinalgWriter::Access shape = {w.empty(input.type.withShape(window.kernels)),
                                {"d4", "d5"}};
  LinalgWriter::Access largest = {w.splat(input.type.withShape(windows), 0),
                                  LinalgWriter::getLoopNames(4)};
  LinalgWriter::Access taps = {w.splat(Type(ElemKind::Int64, windows), -1),
                               LinalgWriter::getLoopNames(4)};
  auto findPlace = [&](unsigned d, MlirScalar &isInside) {
    MlirScalar place =
        w.fromIndex(w.loopIndex(d + 1)) * double(window.strides[d]) +
        w.fromIndex(w.loopIndex(d + 4)) * double(window.dilations[d]) -
        double(window.pads[d]);
    double last = double(extents[d + 1] - 1);
    isInside = isInside && place >= 0.0 && place <= last;
    return w.toIndex(max(min(place, last), 0.0));
  };
  return w
      .generic({.count = 6, .reduced = {4, 5}}, shape, {largest, taps},
               [&](auto, auto outs) {
                 MlirScalar isInside = w.scalar(ElemKind::Bool, 1);
                 LinalgWriter::Index row = findPlace(0, isInside);
                 LinalgWriter::Index column = findPlace(1, isInside);
                 MlirScalar element = w.extract(
                     input, {w.loopIndex(0), row, column, w.loopIndex(3)});
                 MlirScalar tap =
                     w.fromIndex(w.loopIndex(4)) * double(window.kernels[1]) +
                     w.fromIndex(w.loopIndex(5));
                 const MlirScalar &best = outs[0];
                 MlirScalar isLarger =
                     best < element || (!(element == element) && best == best);
                 MlirScalar isBetter = isInside && (outs[1] < 0.0 || isLarger);
                 return std::vector<MlirScalar>{select(isBetter, element, best),
                                                select(isBetter, tap, outs[1])};
               })
      .back();
}

static void writeMaxPoolGradient(LinalgWriter &w,
                                 const MaxPoolGradientNode &node) {
  const Type &type = node.getType();
  MlirValue gradient = w.widen(w.get(node.getGradient()));
  MlirValue input = w.widen(w.get(node.getInput()));
  if (type.getNumElements() == 0)
    return w.setResult(node, w.splat(type, 0));
  DimsRef windows = gradient.getShape();
  MlirWindow window = {node.getKernels(), node.getStrides(), node.getPads(),
                       node.getDilations()};
  MlirValue taps = findLargestTaps(w, input, window, windows);
  MlirValue sums =
      WindowAdjoint(w, window, input.type, windows)
          .write([&](auto place, const MlirScalar &tap) {
            MlirScalar value = w.extract(gradient, place);
            return select(w.extract(taps, place) == tap, value, value.like(0));
          });
  w.setResult(node, w.cast(sums, type.getKind()));
}
static const MlirForm maxPoolGradientForm(NodeKind::MaxPoolGradient,
                                          writeMaxPoolGradient);
