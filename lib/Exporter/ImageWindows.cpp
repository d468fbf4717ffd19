//===- ImageWindows.cpp - Windows over images -----------------------------===//

#include "ImageWindows.h"

using namespace glowish;

/// Counts the elements of window \p index inside the image along dimension
/// \p d.
static int64_t countAlong(const Windows &windows, unsigned d, int64_t index,
                          int64_t extent, bool countPads) {
  int64_t first = index * windows.strides[d] - windows.pads[d], count = 0;
  int64_t low = countPads ? -windows.pads[d] : 0;
  int64_t high = extent + (countPads ? windows.pads[d + 2] : 0);
  for (int64_t tap = 0; tap < windows.kernels[d]; ++tap) {
    int64_t at = first + tap * windows.dilations[d];
    count += at >= low && at < high;
  }
  return count;
}

Tensor glowish::countInside(const Windows &windows, DimsRef size,
                            DimsRef resultSize, bool countPads, ElemKind kind) {
  Tensor counts(Type(kind, {1, resultSize[0], resultSize[1], 1}));
  for (int64_t row = 0; row < resultSize[0]; ++row) {
    int64_t rows = countAlong(windows, 0, row, size[0], countPads);
    for (int64_t column = 0; column < resultSize[1]; ++column) {
      int64_t columns = countAlong(windows, 1, column, size[1], countPads);
      counts.setFromDouble(row * resultSize[1] + column,
                           double(std::max<int64_t>(rows * columns, 1)));
    }
  }
  return counts;
}
