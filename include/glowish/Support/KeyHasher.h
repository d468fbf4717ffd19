//===- KeyHasher.h - Keys of values by their contents -----------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_KEYHASHER_H
#define GLOWISH_SUPPORT_KEYHASHER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

namespace glowish {

/// BLAKE3 of a sequence of values: equal sequences have equal keys, and no two
/// others are known that do. Each value is added with its size where that is
/// not fixed by its type, so that no two sequences are the same bytes.
///
/// A struct is added by a function `void addToKey(KeyHasher &, const Struct &)`
/// in namespace glowish, which names all fields in a structured binding: one
/// that is added to the struct later is an error of the compiler there.
class KeyHasher {
public:
  using Digest = std::array<uint8_t, 32>;

  /// Integers, bools and enumerators.
  template <typename T>
  std::enable_if_t<std::is_integral_v<T> || std::is_enum_v<T>> add(T value) {
    uint8_t bytes[sizeof(uint64_t)];
    llvm::support::endian::write64le(bytes, uint64_t(value));
    hasher.update(bytes);
  }
  /// By its bits: 0 and -0 differ.
  void add(double value) { add(llvm::bit_cast<uint64_t>(value)); }
  void add(float value) { add(llvm::bit_cast<uint32_t>(value)); }
  void add(llvm::StringRef text) {
    addBytes(llvm::arrayRefFromStringRef(text));
  }
  void add(const std::string &text) { add(llvm::StringRef(text)); }
  void add(const char *text) { add(llvm::StringRef(text)); }
  void addBytes(llvm::ArrayRef<uint8_t> bytes) {
    add(bytes.size());
    hasher.update(bytes);
  }
  template <typename T> void add(const std::optional<T> &value) {
    add(value.has_value());
    if (value)
      add(*value);
  }
  template <typename A, typename B> void add(const std::pair<A, B> &pair) {
    addAll(pair.first, pair.second);
  }
  template <typename T> void add(const std::vector<T> &list) { addRange(list); }
  template <typename T> void add(llvm::ArrayRef<T> list) { addRange(list); }
  template <typename T> void add(const std::set<T> &set) { addRange(set); }
  template <typename K, typename V> void add(const std::map<K, V> &map) {
    addRange(map);
  }
  /// Structs and classes, by addToKey().
  template <typename T>
  std::enable_if_t<std::is_class_v<T>,
                   decltype(addToKey(std::declval<KeyHasher &>(),
                                     std::declval<const T &>()))>
  add(const T &value) {
    addToKey(*this, value);
  }
  template <typename... Ts> void addAll(const Ts &...values) {
    (add(values), ...);
  }

  /// Declares that the sequence does not determine what the key is for: there
  /// is no key.
  void refuse() { isRefused = true; }
  /// The key of what was added so far; null after refuse().
  std::optional<Digest> finish() {
    if (isRefused)
      return std::nullopt;
    return hasher.final<sizeof(Digest)>();
  }

private:
  template <typename Range> void addRange(const Range &range) {
    add(range.size());
    for (const auto &element : range)
      add(element);
  }

  llvm::BLAKE3 hasher;
  bool isRefused = false;
};

} // namespace glowish

#endif // GLOWISH_SUPPORT_KEYHASHER_H
