//===- ElemKind.h - Element kinds of tensors --------------------*- C++ -*-===//

#ifndef GLOWISH_BASE_ELEMKIND_H
#define GLOWISH_BASE_ELEMKIND_H

#include "glowish/Base/LowPrecision.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"
#include <cstdint>
#include <optional>
#include <utility>

namespace glowish {

/// IEEE 754 binary16, stored as its bit pattern.
struct Float16 {
  uint16_t bits = 0;
  Float16() = default;
  /// Rounds to nearest, ties to even.
  explicit Float16(float value);
  operator float() const;
};

/// The upper half of an IEEE 754 binary32 (bfloat16), stored as its bit
/// pattern.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  /// Rounds to nearest, ties to even; a NaN stays a NaN.
  explicit BFloat16(float value);
  operator float() const;
};

enum class ElemKind : uint8_t {
#define ELEM_KIND(ENUM, TYPE, SPELLING) ENUM,
#include "glowish/Base/ElemKinds.def"
};

/// All kinds, in the order of their numbers.
inline constexpr ElemKind allElemKinds[] = {
#define ELEM_KIND(ENUM, TYPE, SPELLING) ElemKind::ENUM,
#include "glowish/Base/ElemKinds.def"
};

/// Returns the size of an element in bytes.
unsigned getElemSize(ElemKind kind);
/// Returns the bits of an element that have its value: 4 of float4e2m1, and in
/// files no more.
unsigned getElemBits(ElemKind kind);

/// Returns the spelling of \p kind in text forms and messages, such as "float"
/// or "int8q".
llvm::StringRef getElemKindName(ElemKind kind);

/// The inverse of getElemKindName.
std::optional<ElemKind> parseElemKind(llvm::StringRef name);

/// Whether \p kind is float, float16, bfloat16 or double.
bool isFloatKind(ElemKind kind);
/// Whether \p kind is a signed or unsigned integer; bool and quantized kinds
/// are not.
bool isIntegerKind(ElemKind kind);
bool isSignedIntegerKind(ElemKind kind);
bool isQuantizedKind(ElemKind kind);
/// Whether \p kind is a float or an integer of low precision (LowPrecision.h),
/// which is none of the above: it is moved and converted, not computed with.
bool isLowPrecisionKind(ElemKind kind);
/// Whether \p kind is one of these integers.
bool isLowIntegerKind(ElemKind kind);

/// Returns the kind that elements of \p kind are converted and computed in:
/// float for float16, bfloat16 and floats of low precision, int8 or uint8 for
/// integers of low precision, else \p kind.
ElemKind getValueKind(ElemKind kind);

/// Whether a byte \p byte in memory is an element of \p kind, which has one
/// byte: of bool and of kinds under 8 bits not all are.
bool isElementByte(ElemKind kind, uint8_t byte);

/// Maps \p Kind to the C++ type that stores its elements.
template <ElemKind Kind> struct ElemTypeOf;
#define ELEM_KIND(ENUM, TYPE, SPELLING)                                        \
  template <> struct ElemTypeOf<ElemKind::ENUM> {                              \
    using type = TYPE;                                                         \
  };
#include "glowish/Base/ElemKinds.def"

/// Calls \p fn with a value-initialised element of the C++ type that stores
/// \p kind: `dispatchElemKind(kind, [&](auto zero) { using T = decltype(zero);
/// ... })`.
template <typename Fn> decltype(auto) dispatchElemKind(ElemKind kind, Fn &&fn) {
  switch (kind) {
#define ELEM_KIND(ENUM, TYPE, SPELLING)                                        \
  case ElemKind::ENUM:                                                         \
    return fn(TYPE());
#include "glowish/Base/ElemKinds.def"
  }
  llvm_unreachable("not an element kind");
}

/// Whether elements of \p kind are stored as the C++ type \p T.
template <typename T> bool isStoredAs(ElemKind kind) {
  return dispatchElemKind(
      kind, [](auto zero) { return std::is_same_v<decltype(zero), T>; });
}

} // namespace glowish

#endif // GLOWISH_BASE_ELEMKIND_H
