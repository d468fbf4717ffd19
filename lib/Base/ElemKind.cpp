//===- ElemKind.cpp - Element kinds of tensors ----------------------------===//

#include "glowish/Base/ElemKind.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"
#include <cmath>

using namespace glowish;

Float16::Float16(float value) {
  uint32_t word = llvm::bit_cast<uint32_t>(value);
  uint16_t sign = (word >> 16) & 0x8000;
  uint32_t magnitude = word & 0x7fffffff;
  if (magnitude > 0x7f800000) { // Return a quiet NaN.
    bits = sign | 0x7e00;
    return;
  }
  if (magnitude >= 0x477ff000) { // At least 65520: rounds to infinity.
    bits = sign | 0x7c00;
    return;
  }
  if (magnitude < 0x38800000) {
    // Subnormal: round to a multiple of 2^-24, using the default rounding mode
    // of the host (nearest, ties to even).
    float scaled = std::nearbyint(std::fabs(value) * 16777216.0f);
    bits = sign | uint16_t(scaled);
    return;
  }
  uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  bits = sign | uint16_t((rounded - 0x38000000) >> 13);
}

Float16::operator float() const {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t exponent = (bits >> 10) & 0x1f;
  uint32_t mantissa = bits & 0x3ff;
  if (exponent == 0x1f)
    return llvm::bit_cast<float>(sign | 0x7f800000 | (mantissa << 13));
  if (exponent == 0) {
    float value = float(mantissa) / 16777216.0f;
    return sign ? -value : value;
  }
  return llvm::bit_cast<float>(sign | ((exponent + 112) << 23) |
                               (mantissa << 13));
}

BFloat16::BFloat16(float value) {
  uint32_t word = llvm::bit_cast<uint32_t>(value);
  if ((word & 0x7fffffff) > 0x7f800000)
    bits = uint16_t(word >> 16) | 0x40;
  else
    bits = uint16_t((word + 0x7fff + ((word >> 16) & 1)) >> 16);
}

BFloat16::operator float() const {
  return llvm::bit_cast<float>(uint32_t(bits) << 16);
}

unsigned glowish::getElemSize(ElemKind kind) {
  return dispatchElemKind(kind,
                          [](auto zero) { return unsigned(sizeof(zero)); });
}

llvm::StringRef glowish::getElemKindName(ElemKind kind) {
  switch (kind) {
#define ELEM_KIND(ENUM, TYPE, SPELLING)                                        \
  case ElemKind::ENUM:                                                         \
    return SPELLING;
#include "glowish/Base/ElemKinds.def"
  }
  llvm_unreachable("not an element kind");
}

std::optional<ElemKind> glowish::parseElemKind(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<ElemKind>>(name)
#define ELEM_KIND(ENUM, TYPE, SPELLING) .Case(SPELLING, ElemKind::ENUM)
#include "glowish/Base/ElemKinds.def"
      .Default(std::nullopt);
}

bool glowish::isFloatKind(ElemKind kind) { return kind <= ElemKind::Double; }

bool glowish::isIntegerKind(ElemKind kind) {
  return kind >= ElemKind::Int8 && kind <= ElemKind::UInt64;
}

bool glowish::isSignedIntegerKind(ElemKind kind) {
  return kind == ElemKind::Int8 || kind == ElemKind::Int16 ||
         kind == ElemKind::Int32 || kind == ElemKind::Int64;
}

bool glowish::isQuantizedKind(ElemKind kind) {
  return kind >= ElemKind::Int8Q && kind <= ElemKind::Int32Q;
}

bool glowish::isLowPrecisionKind(ElemKind kind) {
  return dispatchElemKind(
      kind, [](auto zero) { return isLowPrecision<decltype(zero)>; });
}

bool glowish::isLowIntegerKind(ElemKind kind) {
  return dispatchElemKind(kind,
                          [](auto zero) { return isLowInt<decltype(zero)>; });
}

unsigned glowish::getElemBits(ElemKind kind) {
  return dispatchElemKind(kind, [](auto zero) -> unsigned {
    using T = decltype(zero);
    if constexpr (isLowPrecision<T>)
      return T::width;
    else
      return 8 * sizeof(T);
  });
}

ElemKind glowish::getValueKind(ElemKind kind) {
  return dispatchElemKind(kind, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16> ||
                  isLowFloat<T>)
      return ElemKind::Float;
    else if constexpr (isLowInt<T>)
      return std::is_signed_v<typename T::Value> ? ElemKind::Int8
                                                 : ElemKind::UInt8;
    else
      return kind;
  });
}

bool glowish::isElementByte(ElemKind kind, uint8_t byte) {
  if (kind == ElemKind::Bool)
    return byte <= 1;
  return dispatchElemKind(kind, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (isLowInt<T>)
      return uint8_t(T(int64_t(byte)).value) == byte;
    else if constexpr (isLowFloat<T>)
      return byte >> (T::width - 1) <= 1;
    else
      return true;
  });
}
