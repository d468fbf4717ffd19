//===- Parameters.cpp - Scales and zero points ----------------------------===//

#include "glowish/Optimizer/Quantize.h"
#include <cmath>

using namespace glowish;

/// Smaller scales are as good as 0, for which there is none.
static constexpr double leastScale = 1e-25;

QuantizationParams glowish::chooseQuantization(ValueRange range,
                                               QuantizationSchema schema) {
  double low = std::min(range.min, 0.0), high = std::max(range.max, 0.0);
  if (low == high)
    return {};
  bool isUnsigned =
      schema == QuantizationSchema::SymmetricWithUInt8 && low >= 0;
  auto getScale = [](double scale) {
    return double(float(std::max(scale, leastScale)));
  };
  if (schema == QuantizationSchema::Asymmetric || isUnsigned) {
    double scale = getScale((high - low) / 255);
    double zero = std::nearbyint(-low / scale);
    return {ElemKind::UInt8, scale, int(std::min(zero, 255.0))};
  }
  double scale = getScale(std::max(-low, high) / 127);
  if (schema == QuantizationSchema::SymmetricWithPower2Scale) {
    // The next power of two that is not less.
    int exponent = 0;
    double fraction = std::frexp(scale, &exponent);
    scale = std::ldexp(1.0, fraction == 0.5 ? exponent - 1 : exponent);
  }
  return {ElemKind::Int8, scale, 0};
}
