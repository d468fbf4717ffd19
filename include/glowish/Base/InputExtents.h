//===- InputExtents.h - Extents that each run states ------------*- C++ -*-===//

#ifndef GLOWISH_BASE_INPUTEXTENTS_H
#define GLOWISH_BASE_INPUTEXTENTS_H

#include "glowish/Base/DimExpression.h"
#include "glowish/Base/Type.h"

namespace glowish {

/// A symbolic dimension whose extent each run states, within bounds.
struct SymbolRange {
  std::string symbol;
  IntRange bounds;
  bool operator==(const SymbolRange &) const = default;
};

/// What a placeholder has to do with extents that each run states. Its type has
/// the largest ones or, where programs for other bounds share the placeholder,
/// larger ones, which determine its strides; elements beyond the actual extents
/// are unspecified.
struct InputExtents {
  /// Set if the input, an int64<>, is the extent of a symbolic dimension. A run
  /// in which it is out of its bounds is an error.
  std::optional<SymbolRange> range = std::nullopt;
  /// The actual extents of an input, one for each dimension: an expression of
  /// such symbols (DimExpression.h), or empty if the dimension is static. No
  /// entries if all are.
  std::vector<std::string> dims = {};
  /// The same of what a run leaves in an output; an input that is one, too, is
  /// a state that grows. No entries if that has all elements of the type.
  std::vector<std::string> next = {};
  bool operator==(const InputExtents &) const = default;
};

/// Whether a tensor of type \p given can be given for an input of type
/// \p largest with the extents \p dims.
bool fitsExtents(const Type &given, const Type &largest,
                 llvm::ArrayRef<std::string> dims);

/// An input or another placeholder of a program.
struct PlaceholderExtents {
  llvm::StringRef name;
  const Type &type;
  bool isInput, isOutput;
  const InputExtents &extents;
};

/// The bounds of all symbols that \p placeholders state.
std::map<std::string, IntRange>
getSymbolBounds(llvm::ArrayRef<PlaceholderExtents> placeholders);

/// Checks that \p placeholders, those of one program, state each symbol once
/// and have at least the largest extents in their types. An error names the
/// placeholder.
llvm::Error verifyInputExtents(llvm::ArrayRef<PlaceholderExtents> placeholders);

} // namespace glowish

#endif // GLOWISH_BASE_INPUTEXTENTS_H
