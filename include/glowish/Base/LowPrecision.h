//===- LowPrecision.h - Elements of 8 bits and fewer ------------*- C++ -*-===//
//
// The floats of 8 and 4 bits and the integers of 4 and 2 bits that ONNX has.
// They are stored and converted, not computed with. In memory each element has
// a byte of its own; files have several in a byte (Packing.h).
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_BASE_LOWPRECISION_H
#define GLOWISH_BASE_LOWPRECISION_H

#include <cstdint>
#include <type_traits>

namespace glowish {

/// A float format: a sign, if it has one, an exponent and a mantissa. Exponent
/// 0 is that of subnormal numbers.
struct LowFloatFormat {
  unsigned exponentBits, mantissaBits, bias;
  /// Patterns without the sign: the largest number, what rounds to more than
  /// that, and NaN. A format without NaN has a number for it.
  uint32_t largest, overflow, nan;
  bool hasSign = true;
  /// Without one its pattern is NaN.
  bool hasNegativeZero = true;

  constexpr unsigned getWidth() const {
    return exponentBits + mantissaBits + hasSign;
  }
};

inline constexpr LowFloatFormat formatE4M3FN = {4, 3, 7, 0x7e, 0x7f, 0x7f};
inline constexpr LowFloatFormat formatE4M3FNUZ = {4,    3,    8,    0x7f,
                                                  0x80, 0x80, true, false};
inline constexpr LowFloatFormat formatE5M2 = {5, 2, 15, 0x7b, 0x7c, 0x7e};
inline constexpr LowFloatFormat formatE5M2FNUZ = {5,    2,    16,   0x7f,
                                                  0x80, 0x80, true, false};
/// Powers of two from 2^-127; there is no 0.
inline constexpr LowFloatFormat formatE8M0 = {8,    0,    127,   0xfe,
                                              0xff, 0xff, false, false};
/// As ONNX's reference has it, NaN becomes -0.
inline constexpr LowFloatFormat formatE2M1 = {2, 1, 1, 7, 7, 8};

//===- Conversions --------------------------------------------------------===//
//
// On the bits of floats, as unsigned integers of 32 bits: W is uint32_t, or the
// back end's class that emits each operation.

namespace lowfloat {

inline uint32_t like(uint32_t, uint32_t literal) { return literal; }
inline uint32_t select(bool condition, uint32_t x, uint32_t y) {
  return condition ? x : y;
}

/// Powers of two, rounded up: what is less than the least becomes that.
template <typename W> W encodePower(W magnitude) {
  W exponent = (magnitude + 0x7fffff) >> 23;
  exponent = select(0xff < exponent, like(magnitude, 0xff), exponent);
  // 2^-127 is a subnormal float.
  return select(0x400000 < magnitude, exponent, like(magnitude, 0));
}

/// The pattern nearest to the float with the bits \p word, ties to even.
template <typename W> W encode(W word, const LowFloatFormat &format) {
  W magnitude = word & 0x7fffffff;
  if (!format.hasSign)
    return encodePower(magnitude);
  W zero = like(word, 0), one = like(word, 1);
  W exponent = magnitude >> 23;
  // Bits to cut off: below the smallest normal number one more for each power
  // of two. With 25 nothing is left.
  uint32_t least = 128 - format.bias, cut = 23 - format.mantissaBits;
  W below = select(exponent < least, least - exponent, zero);
  W shift = below + cut;
  shift = select(25 < shift, like(word, 25), shift);
  W digits = (magnitude & 0x7fffff) | 0x800000;
  W odd = (digits >> shift) & 1;
  W rounded = (digits + (one << (shift - 1)) - 1 + odd) >> shift;
  // The leading digit counts as one exponent.
  W above = select(least < exponent, exponent - least, zero);
  W code = rounded + (above << format.mantissaBits);
  code = select(format.largest < code, like(word, format.overflow), code);
  code = select(0x7f800000 < magnitude, like(word, format.nan), code);
  W sign = (word ^ magnitude) >> (32 - format.getWidth());
  if (format.hasNegativeZero)
    return code | sign;
  return select(code < 1, zero, code | sign);
}

/// The bits of the float with the pattern \p code.
template <typename W> W decode(W code, const LowFloatFormat &format) {
  if (!format.hasSign) {
    W power = select(code < 1, like(code, 0x400000), code << 23);
    return select(0xfe < code, like(code, 0x7fc00000), power);
  }
  unsigned signShift = format.getWidth() - 1, digits = format.mantissaBits;
  W magnitude = code & ((1u << signShift) - 1);
  W word = (magnitude << (23 - digits)) + ((uint32_t(127) - format.bias) << 23);
  // Subnormal numbers, by the place of their leading digit.
  for (unsigned place = digits; place-- > 0;) {
    uint32_t exponent = 128 - format.bias - digits + place;
    W shifted = ((magnitude << (23 - place)) & 0x7fffff) | (exponent << 23);
    word = select(magnitude < (2u << place), shifted, word);
  }
  word = select(magnitude < 1, like(code, 0), word);
  if (format.hasNegativeZero && format.largest < (1u << signShift) - 1) {
    uint32_t beyond = format.overflow == format.nan ? 0x7fc00000u : 0x7f800000u;
    word = select(format.largest < magnitude, like(code, beyond), word);
    word = select(format.overflow < magnitude, like(code, 0x7fc00000), word);
  }
  W sign = ((code >> signShift) & 1) << 31;
  if (format.hasNegativeZero)
    return word | sign;
  return select(code == 0x80, like(code, 0x7fc00000), word | sign);
}

/// \p value as a float; one that is not exact has its last bit set, so that
/// rounding it once more is as good as rounding \p value.
float roundToOdd(double value);

uint8_t encodeFloat(float value, const LowFloatFormat &format);
float decodeFloat(uint8_t code, const LowFloatFormat &format);

} // namespace lowfloat

//===- Elements -----------------------------------------------------------===//

/// A float of at most 8 bits, stored as its bit pattern.
template <const LowFloatFormat &Format> struct LowFloat {
  static constexpr LowFloatFormat format = Format;
  static constexpr unsigned width = Format.getWidth();
  /// What elements are computed in.
  using Value = float;

  uint8_t bits = 0;
  LowFloat() = default;
  /// Rounds to nearest, ties to even (powers of two: up). What is too large
  /// becomes infinite, else NaN, else the largest number.
  explicit LowFloat(float value) : bits(lowfloat::encodeFloat(value, Format)) {}
  explicit LowFloat(double value) : LowFloat(lowfloat::roundToOdd(value)) {}
  operator float() const { return lowfloat::decodeFloat(bits, Format); }
};

/// An integer of fewer than 8 bits, stored as one of 8.
template <unsigned Width, bool IsSigned> struct LowInt {
  static constexpr unsigned width = Width;
  using Value = std::conditional_t<IsSigned, int8_t, uint8_t>;
  static constexpr int lowest = IsSigned ? -(1 << (Width - 1)) : 0;
  static constexpr int highest = lowest + (1 << Width) - 1;

  Value value = 0;
  LowInt() = default;
  /// The low bits of \p number.
  explicit LowInt(int64_t number)
      : value(Value(
            int((uint64_t(number) - uint64_t(lowest)) & ((1u << Width) - 1)) +
            lowest)) {}
  operator Value() const { return value; }
};

using Float8E4M3FN = LowFloat<formatE4M3FN>;
using Float8E4M3FNUZ = LowFloat<formatE4M3FNUZ>;
using Float8E5M2 = LowFloat<formatE5M2>;
using Float8E5M2FNUZ = LowFloat<formatE5M2FNUZ>;
using Float8E8M0 = LowFloat<formatE8M0>;
using Float4E2M1 = LowFloat<formatE2M1>;
using Int4 = LowInt<4, true>;
using UInt4 = LowInt<4, false>;
using Int2 = LowInt<2, true>;
using UInt2 = LowInt<2, false>;

template <typename T> inline constexpr bool isLowFloat = false;
template <const LowFloatFormat &Format>
inline constexpr bool isLowFloat<LowFloat<Format>> = true;
template <typename T> inline constexpr bool isLowInt = false;
template <unsigned Width, bool IsSigned>
inline constexpr bool isLowInt<LowInt<Width, IsSigned>> = true;
template <typename T>
inline constexpr bool isLowPrecision = isLowFloat<T> || isLowInt<T>;

} // namespace glowish

#endif // GLOWISH_BASE_LOWPRECISION_H
