//===- Random.h - Deterministic random number generator ---------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_RANDOM_H
#define GLOWISH_SUPPORT_RANDOM_H

#include <cassert>
#include <cmath>
#include <cstdint>

namespace glowish {

/// SplitMix64 (Steele, Lea, Flood 2014). All numbers, floats included, are the
/// same on every platform: in the float arithmetic every operation but the last
/// is exact, so that fused multiply-adds and the C library cannot change a
/// result.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// Returns a number in [0, bound).
  uint64_t below(uint64_t bound) {
    assert(bound > 0 && "no number is below 0");
    return next() % bound;
  }
  /// Returns a number in [low, high), which must not be empty.
  float uniform(float low, float high) {
    assert(low < high && "an empty range");
    double width = double(high) - double(low);
    float result = float(double(low) + double(next() >> 40) * 0x1p-24 * width);
    return result < high ? result : std::nextafter(high, low);
  }
  /// Returns an approximately normal number with mean 0 and variance 1: the sum
  /// of twelve uniform numbers, in (-6, 6).
  float normal() {
    uint64_t sum = 0;
    for (unsigned i = 0; i < 12; ++i)
      sum += next() >> 32;
    return float(double(int64_t(sum + 6) - (int64_t(6) << 32)) * 0x1p-32);
  }

private:
  uint64_t state;
};

} // namespace glowish

#endif // GLOWISH_SUPPORT_RANDOM_H
