//===- StatedSum.h - Numbers that each run states ---------------*- C++ -*-===//

#ifndef GLOWISH_BASE_STATEDSUM_H
#define GLOWISH_BASE_STATEDSUM_H

#include "glowish/Base/InputExtents.h"

namespace glowish {

/// A constant and multiples of symbols of which each run states the values
/// (InputExtents::range): `past + length`.
struct StatedSum {
  int64_t constant = 0;
  /// The symbols' factors, none of which is 0.
  std::map<std::string, int64_t> factors = {};

  bool operator==(const StatedSum &) const = default;
};

/// Returns \p a + \p factor * \p b; null if a number of it overflows.
std::optional<StatedSum> addMultiple(const StatedSum &a, const StatedSum &b,
                                     int64_t factor = 1);

/// \p sum as a dimension: "past + 2*length - 1".
std::string printDim(const StatedSum &sum);
/// Returns the sum that the dimension \p text is; null if it is no sum of
/// integers and multiples of symbols, or a number of it overflows.
std::optional<StatedSum> parseDim(llvm::StringRef text);

/// Returns all values that \p sum may have with \p symbols; none if there is a
/// symbol that \p symbols do not have, or the sum of some terms may overflow.
std::optional<IntRange>
getRange(const StatedSum &sum, const std::map<std::string, IntRange> &symbols);

} // namespace glowish

#endif // GLOWISH_BASE_STATEDSUM_H
