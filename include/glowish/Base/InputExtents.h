//===- InputExtents.h - Extents that each run states ------------*- C++ -*-===//

#ifndef GLOWISH_BASE_INPUTEXTENTS_H
#define GLOWISH_BASE_INPUTEXTENTS_H

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
  /// Set for such inputs: extents that must be equal, of this symbol and others
  /// that inputs state. A run in which they are not is an error.
  std::vector<ExtentRequirement> required = {};
  /// The extents of an input (Type::getExtents).
  ExtentList dims = {};
  /// The same of what a run leaves in an output; an input that is one, too, is
  /// a state that grows. No entries if that has all elements of the type.
  ExtentList next = {};
  bool operator==(const InputExtents &) const = default;
};

/// Whether a tensor of type \p given can be given for an input of type
/// \p largest, whose extents may be smaller.
bool fitsExtents(const Type &given, const Type &largest);

/// Returns \p shape with the values of \p extents, as many or none, for those
/// of their symbols that \p getValue gives.
Dims evaluateShape(
    DimsRef shape, llvm::ArrayRef<std::optional<Extent>> extents,
    llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> getValue);

/// An input or another placeholder of a program.
struct PlaceholderExtents {
  llvm::StringRef name;
  const Type &type;
  bool isInput, isOutput;
  InputExtents extents;
};

/// The bounds of all symbols that \p placeholders state.
SymbolRanges getSymbolRanges(llvm::ArrayRef<PlaceholderExtents> placeholders);

/// Checks that \p placeholders, those of one program, state each symbol once
/// and have at least the largest extents in their types. An error names the
/// placeholder.
llvm::Error verifyInputExtents(llvm::ArrayRef<PlaceholderExtents> placeholders);

} // namespace glowish

#endif // GLOWISH_BASE_INPUTEXTENTS_H
