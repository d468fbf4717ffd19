//===- Comparison.cpp - Compare a tensor with its expected value ----------===//

#include "glowish/Base/Comparison.h"
#include <cmath>

using namespace glowish;

Comparison glowish::compareTensors(const Tensor &actual, const Tensor &expected,
                                   double rtol, double atol) {
  Comparison result;
  double largestExcess = 0;
  for (int64_t i = 0; i < expected.getNumElements(); ++i) {
    double a = actual.getAsDouble(i), e = expected.getAsDouble(i);
    if (std::isfinite(e))
      result.maxMagnitude = std::max(result.maxMagnitude, std::fabs(e));
    if (std::isfinite(e) && std::isfinite(a)) {
      result.squaredError += (a - e) * (a - e);
      result.squaredMagnitude += e * e;
    }
    if (a == e || (std::isnan(a) && std::isnan(e)))
      continue;
    double error = std::fabs(a - e);
    if (std::isnan(error))
      error = std::numeric_limits<double>::infinity();
    // No share of infinity: every finite element would be within it.
    double tolerance = std::isfinite(e) ? atol + rtol * std::fabs(e) : 0;
    if (!(error <= tolerance)) {
      double excess = error - tolerance;
      if (++result.numMismatches == 1 || excess > largestExcess) {
        largestExcess = excess;
        result.worstMismatch = error;
        result.worstMismatchIndex = i;
      }
    }
    if (error > result.maxError) {
      result.maxError = error;
      result.maxErrorIndex = i;
    }
  }
  return result;
}

bool glowish::isFinite(const Tensor &tensor) {
  // Large weights are floats, most of the time.
  if (tensor.getType().getKind() == ElemKind::Float)
    return llvm::all_of(tensor.data<float>(),
                        [](float value) { return std::isfinite(value); });
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    if (!std::isfinite(tensor.getAsDouble(i)))
      return false;
  return true;
}
