//===- Comparison.h - Compare a tensor with its expected value --*- C++ -*-===//

#ifndef GLOWISH_BASE_COMPARISON_H
#define GLOWISH_BASE_COMPARISON_H

#include "glowish/Base/Tensor.h"
#include <cmath>

namespace glowish {

struct Comparison {
  /// The largest |actual - expected| and its row-major index.
  double maxError = 0;
  int64_t maxErrorIndex = 0;
  /// The largest finite |expected|, the denominator of getRelativeError().
  double maxMagnitude = 0;
  /// The sums of (actual - expected)^2 and of expected^2, of the elements of
  /// which both are finite.
  double squaredError = 0, squaredMagnitude = 0;
  /// Number of elements with |actual - expected| > atol + rtol * |expected|, or
  /// with a NaN or infinity on one side only.
  int64_t numMismatches = 0;
  /// Of these elements, the one whose error exceeds its tolerance most: the
  /// error and its row-major index. Often not that of maxError, as larger
  /// elements have larger tolerances.
  double worstMismatch = 0;
  int64_t worstMismatchIndex = 0;

  double getRelativeError() const {
    return maxMagnitude > 0 ? maxError / maxMagnitude : maxError;
  }
  /// The root of the mean square of the error, as a share of the expected
  /// elements'.
  double getRelativeRms() const {
    return std::sqrt(squaredMagnitude > 0 ? squaredError / squaredMagnitude
                                          : squaredError);
  }
};

/// Compares tensors of the same type.
Comparison compareTensors(const Tensor &actual, const Tensor &expected,
                          double rtol, double atol);

/// Whether no infinity and no NaN is in \p tensor.
bool isFinite(const Tensor &tensor);

} // namespace glowish

#endif // GLOWISH_BASE_COMPARISON_H
