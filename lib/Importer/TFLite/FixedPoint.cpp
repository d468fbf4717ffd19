//===- FixedPoint.cpp - Arithmetic of fixed-point numbers -----------------===//

#include "TFLite/FixedPoint.h"
#include "glowish/Ops/Scalar.h"
#include <algorithm>
#include <limits>
#include <utility>

using namespace glowish;
using namespace glowish::tflite;

template <typename T> static T limit(int64_t value) {
  return T(std::clamp<int64_t>(value, std::numeric_limits<T>::min(),
                               std::numeric_limits<T>::max()));
}

int32_t tflite::roundedMultiplyHigh32(int32_t x, int32_t y) {
  return limit<int32_t>((int64_t(x) * y + (int64_t(1) << 30)) >> 31);
}
int16_t tflite::roundedMultiplyHigh16(int16_t x, int16_t y) {
  return limit<int16_t>((int64_t(x) * y + (1 << 14)) >> 15);
}
int16_t tflite::truncatedMultiplyHigh16(int16_t x, int16_t y) {
  return limit<int16_t>(int64_t(x) * y / (1 << 15));
}

int32_t tflite::roundedShiftRight32(int32_t x, int shift) {
  return roundedShiftRight(Num<int32_t>(x), Num<int32_t>(std::min(shift, 31)))
      .value;
}
int16_t tflite::roundedShiftRight16(int16_t x, int shift) {
  return int16_t(roundedShiftRight32(x, shift));
}

int32_t tflite::saturatingShiftLeft32(int32_t x, int shift) {
  return limit<int32_t>(int64_t(x) * (int64_t(1) << std::min(shift, 31)));
}
int16_t tflite::saturatingShiftLeft16(int16_t x, int shift) {
  return limit<int16_t>(int64_t(x) * (int64_t(1) << std::min(shift, 31)));
}

int32_t tflite::rescale32(int32_t x, int32_t multiplier, int shift) {
  return rescale(Num<int32_t>(x), Num<int32_t>(multiplier), Num<int32_t>(shift))
      .value;
}

//===- Functions ----------------------------------------------------------===//

/// e^x of -1/4 <= x < 0, both with 31 bits behind the point: e^(-1/8) times the
/// first terms of the series of e^(x + 1/8).
static int32_t exponentOfQuarter(int32_t x) {
  constexpr int32_t eToMinusEighth = 1895147668, third = 715827883;
  int32_t a = x + (1 << 28);
  int32_t a2 = roundedMultiplyHigh32(a, a);
  int32_t a3 = roundedMultiplyHigh32(a2, a);
  int32_t a4 = roundedMultiplyHigh32(a2, a2);
  int32_t inner = roundedShiftRight32(a4, 2) + a3;
  int32_t outer =
      roundedShiftRight32(roundedMultiplyHigh32(inner, third) + a2, 1);
  return limit<int32_t>(int64_t(eToMinusEighth) +
                        roundedMultiplyHigh32(eToMinusEighth, a + outer));
}

int32_t tflite::exponentOfNegative(int32_t x) {
  constexpr int fractionBits = 26;
  constexpr int32_t quarter = 1 << (fractionBits - 2);
  if (x == 0)
    return std::numeric_limits<int32_t>::max();
  int32_t part = (x & (quarter - 1)) - quarter;
  int32_t result = exponentOfQuarter(part * (1 << (31 - fractionBits)));
  int32_t rest = part - x;
  // e^-(1/4), e^-(1/2), ... e^-16, a factor for each bit of what is left.
  constexpr int32_t factors[] = {1672461947, 1302514674, 790015084, 290630308,
                                 39332535,   720401,     242};
  for (int bit = 0; bit < 7; ++bit)
    if (rest & (1 << (fractionBits - 2 + bit)))
      result = roundedMultiplyHigh32(result, factors[bit]);
  return result;
}

/// 1 / sqrt(x) of 1/4 <= x < 1, both with 28 bits behind the point: five steps
/// of Newton's method from 1.
static int32_t getRootOfFraction(int32_t x) {
  constexpr int32_t one = 1 << 28, oneAndAHalf = 3 << 27;
  // A product of two numbers has three bits less behind the point.
  constexpr int lostBits = 3;
  int32_t half = roundedShiftRight32(x, 1), root = one;
  for (int step = 0; step < 5; ++step) {
    int32_t square = roundedMultiplyHigh32(root, root);
    int32_t cube = saturatingShiftLeft32(roundedMultiplyHigh32(square, root),
                                         2 * lostBits);
    int32_t next = roundedMultiplyHigh32(oneAndAHalf, root) -
                   roundedMultiplyHigh32(half, cube);
    root = saturatingShiftLeft32(next, lostBits);
  }
  return root;
}

ScaledNumber tflite::getReciprocalRoot(int32_t x) {
  if (x <= 1)
    return {.multiplier = std::numeric_limits<int32_t>::max(), .shift = 0};
  // x becomes a number from 2^27 to 2^29 by factors of 4, of which the root has
  // one of 2 each.
  int shift = -11;
  for (; x >= 1 << 29; x /= 4)
    --shift;
  for (; x < 1 << 27; x *= 4)
    ++shift;
  constexpr int32_t halfRootOf2 = 1518500250;
  int32_t root = roundedMultiplyHigh32(getRootOfFraction(x >> 1), halfRootOf2);
  if (shift > 0)
    root <<= std::exchange(shift, 0);
  return {.multiplier = root, .shift = shift};
}
