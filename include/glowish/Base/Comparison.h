//===- Comparison.h - A result against an expected one --------*- C++ -*-===//

#ifndef GLOWISH_BASE_COMPARISON_H
#define GLOWISH_BASE_COMPARISON_H

#include "glowish/Base/Tensor.h"

namespace glowish {

struct Comparison {
  /// |actual - expected|, the largest, and where.
  double maxError = 0;
  int64_t maxErrorIndex = 0;
  /// The largest |expected|; maxError / this is what networks are judged by.
  double maxMagnitude = 0;
  /// Elements with |actual - expected| > atol + rtol * |expected|, or with a
  /// NaN or infinity on one side only.
  int64_t numMismatches = 0;

  double getRelativeError() const {
    return maxMagnitude > 0 ? maxError / maxMagnitude : maxError;
  }
};

/// Compares tensors of the same type.
Comparison compareTensors(const Tensor &actual, const Tensor &expected,
                          double rtol, double atol);

} // namespace glowish

#endif // GLOWISH_BASE_COMPARISON_H
