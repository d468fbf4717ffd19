//===- Lane.h - Scalars of LLVM IR while it is interpreted ------*- C++ -*-===//

#ifndef GLOWISH_TESTS_IRINTERP_LANE_H
#define GLOWISH_TESTS_IRINTERP_LANE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/bit.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DerivedTypes.h"
#include <cstring>

namespace glowish::irinterp {

/// A scalar: its bits, of which those above the width of its type are 0. A
/// poisoned one has no value: it comes from memory that was not written, from
/// an overflow that a flag excludes, or from another one. That is an error only
/// where it decides about what the program does or returns.
struct Lane {
  uint64_t bits = 0;
  bool isPoison = false;
  /// Which bits have no value, where that is so: not all of them where a part
  /// of the memory was written.
  uint64_t poisonBits = ~uint64_t(0);

  static Lane poison() { return {0, true}; }
  static Lane partial(uint64_t bits, uint64_t poisonBits) {
    return {bits, poisonBits != 0, poisonBits};
  }
  uint64_t getPoisonBits() const { return isPoison ? poisonBits : 0; }
  bool isWhollyPoison() const { return isPoison && poisonBits == ~uint64_t(0); }
};

/// The type of a lane.
struct ScalarType {
  enum Kind { Integer, Pointer, Half, BFloat, Float, Double } kind = Integer;
  unsigned bits = 0;

  bool isFloat() const { return kind >= Half; }
  unsigned getBytes() const { return (bits + 7) / 8; }
  uint64_t getMask() const {
    return bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  }
};

/// What \p type, a vector, a structure, an array or a scalar, consists of, with
/// the offset of each part in memory. Empty for void and where lanes are wider
/// than 64 bits.
struct TypeLayout {
  llvm::SmallVector<ScalarType, 8> lanes;
  llvm::SmallVector<uint64_t, 8> offsets;

  static TypeLayout of(llvm::Type *type, const llvm::DataLayout &layout);
  bool isSupported = true;

private:
  void add(llvm::Type *type, const llvm::DataLayout &layout, uint64_t offset);
};

inline int64_t signExtend(uint64_t bits, unsigned width) {
  return width >= 64 ? int64_t(bits)
                     : int64_t(bits << (64 - width)) >> (64 - width);
}

inline float toFloat(uint64_t bits) {
  return llvm::bit_cast<float>(uint32_t(bits));
}
inline double toDouble(uint64_t bits) { return llvm::bit_cast<double>(bits); }
inline uint64_t fromFloat(float value) {
  return llvm::bit_cast<uint32_t>(value);
}
inline uint64_t fromDouble(double value) {
  return llvm::bit_cast<uint64_t>(value);
}

/// The number that the bits of a float type stand for, and the bits of a type
/// that are nearest to a number. A double holds all others exactly.
double readFloat(uint64_t bits, ScalarType type);
uint64_t writeFloat(double value, ScalarType type);

} // namespace glowish::irinterp

#endif // GLOWISH_TESTS_IRINTERP_LANE_H
