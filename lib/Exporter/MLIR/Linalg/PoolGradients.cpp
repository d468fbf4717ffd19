//===- PoolGradients.cpp - Gradients of pooling in linalg -----------------===//

#include "MLIR/Linalg/LinalgWriter.h"

using namespace glowish;

/// The number of the tap that loops 4 and 5 are at.
static MlirScalar getTap(LinalgWriter &w, const Windows &window) {
  return w.fromIndex(w.loopIndex(4)) * double(window.kernels[1]) +
         w.fromIndex(w.loopIndex(5));
}

/// Sums over the \p windows that an element of \p type is in: loops over
/// images, rows, columns, channels and the taps of windows. \p share: of the
/// place in the windows, and the number of the tap.
static MlirValue sumShares(
    LinalgWriter &w, const Windows &window, const Type &type, DimsRef windows,
    llvm::function_ref<MlirScalar(llvm::ArrayRef<LinalgWriter::Index> place,
                                  const MlirScalar &tap)>
        share) {
  MlirValue start = w.splat(type, 0);
  if (type.getNumElements() == 0 || countElements(windows) == 0)
    return start;
  LinalgWriter::Access shape = {w.empty(type.withShape(window.kernels)),
                                {"d4", "d5"}};
  LinalgWriter::Access out = {start, LinalgWriter::getLoopNames(4)};
  // The position of the window that has loop d + 1 at tap loop d + 4, limited
  // to those that there are.
  auto findWindow = [&](unsigned d, MlirScalar &isThere) {
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
  };
  return w.genericOne(
      {.count = 6, .reduced = {4, 5}}, shape, out, [&](auto, auto sums) {
        MlirScalar isThere = w.scalar(ElemKind::Bool, 1);
        MlirScalar row = findWindow(0, isThere);
        MlirScalar column = findWindow(1, isThere);
        MlirScalar tap = getTap(w, window);
        MlirScalar value = share(
            {w.loopIndex(0), w.toIndex(row), w.toIndex(column), w.loopIndex(3)},
            tap);
        return sums[0] + select(isThere, value, value.like(0));
      });
}

static MlirValue writeAvgPoolGradient(LinalgWriter &w,
                                      const AvgPoolGradientNode &node) {
  const Type &type = node.getType();
  MlirValue gradient = w.getWide(node.getGradient());
  DimsRef windows = gradient.getShape();
  Windows window = getWindows(node);
  MlirValue shares = w.divideByTaps(gradient, window, node.getSizes(),
                                    node.getCountIncludePads());
  return sumShares(
      w, window, type.withKind(gradient.getKind()), windows,
      [&](auto place, const MlirScalar &) { return w.extract(shares, place); });
}
static const MlirForm avgPoolGradient = writeAvgPoolGradient;

/// The number of the tap with the largest element of each window, the first of
/// several; -1 where the window is padding. NaN is larger than all numbers. The
/// loops run in order.
static MlirValue findLargestTaps(LinalgWriter &w, const MlirValue &input,
                                 const Windows &window, DimsRef windows) {
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
                 MlirScalar tap = getTap(w, window);
                 const MlirScalar &best = outs[0];
                 MlirScalar isLarger = isAbove(element, best);
                 MlirScalar isBetter = isInside && (outs[1] < 0.0 || isLarger);
                 return std::vector<MlirScalar>{select(isBetter, element, best),
                                                select(isBetter, tap, outs[1])};
               })
      .back();
}

static MlirValue writeMaxPoolGradient(LinalgWriter &w,
                                      const MaxPoolGradientNode &node) {
  const Type &type = node.getType();
  MlirValue gradient = w.getWide(node.getGradient());
  MlirValue input = w.getWide(node.getInput());
  if (type.getNumElements() == 0)
    return w.splat(type, 0);
  DimsRef windows = gradient.getShape();
  Windows window = getWindows(node);
  MlirValue taps = findLargestTaps(w, input, window, windows);
  return sumShares(
      w, window, input.type, windows, [&](auto place, const MlirScalar &tap) {
        MlirScalar value = w.extract(gradient, place);
        return select(w.extract(taps, place) == tap, value, value.like(0));
      });
}
static const MlirForm maxPoolGradient = writeMaxPoolGradient;
