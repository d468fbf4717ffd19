//===- LowPrecision.cpp - Elements of 8 bits and fewer --------------------===//

#include "glowish/Base/LowPrecision.h"
#include "llvm/ADT/bit.h"
#include <cmath>

using namespace glowish;

float lowfloat::roundToOdd(double value) {
  float nearest = float(value);
  if (double(nearest) == value || std::isnan(value))
    return nearest;
  uint32_t bits = llvm::bit_cast<uint32_t>(nearest);
  // Towards 0 first.
  if (std::fabs(double(nearest)) > std::fabs(value))
    --bits;
  return llvm::bit_cast<float>(bits | 1);
}

uint8_t lowfloat::encodeFloat(float value, const LowFloatFormat &format) {
  return uint8_t(encode(llvm::bit_cast<uint32_t>(value), format));
}

float lowfloat::decodeFloat(uint8_t code, const LowFloatFormat &format) {
  return llvm::bit_cast<float>(decode(uint32_t(code), format));
}
