//===- PoolDivisors.cpp - What sums of windows are divided by -------------===//

#include "MLIR/PoolDivisors.h"

using namespace glowish;

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
