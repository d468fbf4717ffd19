//===- Random.h - A small deterministic generator -------------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_RANDOM_H
#define GLOWISH_SUPPORT_RANDOM_H

#include <cstdint>

namespace glowish {

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers on every platform.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// 0 ... bound-1.
  uint64_t below(uint64_t bound) { return next() % bound; }
  /// In [low, high).
  float uniform(float low, float high) {
    return low + float(next() >> 40) * 0x1p-24f * (high - low);
  }

private:
  uint64_t state;
};

} // namespace glowish

#endif // GLOWISH_SUPPORT_RANDOM_H
