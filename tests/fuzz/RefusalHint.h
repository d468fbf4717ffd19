//===- RefusalHint.h - What a refusal would accept --------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_REFUSALHINT_H
#define GLOWISH_TESTS_FUZZ_REFUSALHINT_H

#include "glowish/Base/Type.h"
#include <utility>
#include <vector>

namespace glowish::fuzz {

/// What the message of a type rule says that it would accept, behind
/// "expected": as much of it as is read.
struct RefusalHint {
  /// Any of them; empty where the message names none.
  std::vector<ElemKind> kinds;
  std::optional<Dims> shape;
  std::optional<size_t> rank;
  /// The shape may have more dimensions than \p rank.
  bool isLeastRank = false;
  /// Dimensions, from the end where they are negative, and their extents.
  std::vector<std::pair<int64_t, int64_t>> extents;
  /// How many values an attribute has.
  std::optional<size_t> numValues;

  /// Whether the message says something about a type.
  bool isOfType() const {
    return !kinds.empty() || shape || rank || !extents.empty();
  }
  /// Whether \p type is what the message says.
  bool accepts(const Type &type) const;
  /// Sets those of `extents` that \p own has.
  void setExtents(Dims &own) const;
};

/// Reads what \p refusal, the message of a type rule, says behind "expected";
/// words that it does not know are passed over.
RefusalHint readHint(llvm::StringRef refusal);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_REFUSALHINT_H
