//===- InputExtents.cpp - Extents that each run states --------------------===//

#include "glowish/Base/InputExtents.h"
#include "glowish/Support/Error.h"

using namespace glowish;

bool glowish::fitsExtents(const Type &given, const Type &largest) {
  if (given.getRank() != largest.getRank() ||
      given.withShape(largest.getShape()) != largest.withoutExtents())
    return false;
  for (auto [d, extent] : llvm::enumerate(given.getShape()))
    if (largest.getExtent(d) ? extent > largest.getDim(d)
                             : extent != largest.getDim(d))
      return false;
  return true;
}

Dims glowish::evaluateShape(
    DimsRef shape, llvm::ArrayRef<std::optional<Extent>> extents,
    llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> getValue) {
  Dims result(shape);
  // The verifier has checked that they fit.
  for (auto [bound, extent] : llvm::zip(result, extents))
    if (extent)
      bound = extent->evaluate(getValue).value_or(bound);
  return result;
}

SymbolRanges
glowish::getSymbolRanges(llvm::ArrayRef<PlaceholderExtents> placeholders) {
  SymbolRanges ranges;
  for (const PlaceholderExtents &placeholder : placeholders)
    if (const auto &range = placeholder.extents.range)
      ranges.set(range->symbol, range->bounds);
  return ranges;
}

static llvm::Error verifyRange(const PlaceholderExtents &placeholder,
                               const SymbolRange &range) {
  if (!placeholder.isInput || placeholder.type != Type(ElemKind::Int64, {}))
    return makeError("'{0}' is {1}{2} and states the extent '{3}'; accepted: "
                     "an input int64<>",
                     placeholder.name, placeholder.isInput ? "" : "no input, ",
                     placeholder.type.str(), range.symbol);
  if (range.symbol.empty() || range.bounds.low < 0 ||
      range.bounds.high < range.bounds.low)
    return makeError("'{0}' states the extent '{1}' from {2} to {3}; accepted: "
                     "a name, and bounds of at least 0 in ascending order",
                     placeholder.name, range.symbol, range.bounds.low,
                     range.bounds.high);
  return llvm::Error::success();
}

/// \p dims: the extents of an input, or those that a run leaves in an output;
/// none if they are the type's.
static llvm::Error verifyDims(const PlaceholderExtents &placeholder,
                              llvm::ArrayRef<std::optional<Extent>> dims,
                              bool isAccepted, llvm::StringRef accepted,
                              const SymbolRanges &symbols) {
  if (dims.empty())
    return llvm::Error::success();
  DimsRef shape = placeholder.type.getShape();
  if (!isAccepted || dims.size() != shape.size())
    return makeError("'{0}' is {1} with {2} extents {3}, with one for each "
                     "dimension",
                     placeholder.name, placeholder.type.str(), dims.size(),
                     accepted);
  for (auto [extent, bound] : llvm::zip_equal(dims, shape))
    if (extent && (symbols.isAtMost(0, *extent) != Certainty::Yes ||
                   symbols.isAtMost(*extent, bound) != Certainty::Yes))
      return makeError("'{0}' is {1}, with the extent '{2}'; accepted: an "
                       "expression of stated symbols that is from 0 to {3}",
                       placeholder.name, placeholder.type.str(), extent->str(),
                       bound);
  return llvm::Error::success();
}

llvm::Error
glowish::verifyInputExtents(llvm::ArrayRef<PlaceholderExtents> placeholders) {
  std::map<std::string, llvm::StringRef> stated;
  for (const PlaceholderExtents &placeholder : placeholders)
    if (const auto &range = placeholder.extents.range) {
      GLOWISH_RETURN_IF_ERROR(verifyRange(placeholder, *range));
      auto [other, isNew] = stated.try_emplace(range->symbol, placeholder.name);
      if (!isNew)
        return makeError("'{0}' and '{1}' both state the extent '{2}'",
                         other->second, placeholder.name, range->symbol);
    }
  SymbolRanges symbols = getSymbolRanges(placeholders);
  for (const PlaceholderExtents &placeholder : placeholders) {
    for (const auto &[a, b] : placeholder.extents.required)
      if (!placeholder.extents.range || !symbols.getRange(a) ||
          !symbols.getRange(b))
        return makeError("'{0}' requires '{1} == {2}'; accepted: extents of "
                         "stated symbols, in an input that states one",
                         placeholder.name, a.str(), b.str());
    GLOWISH_RETURN_IF_ERROR(
        verifyDims(placeholder, placeholder.extents.dims, placeholder.isInput,
                   "before a run; accepted: an input", symbols));
    GLOWISH_RETURN_IF_ERROR(
        verifyDims(placeholder, placeholder.extents.next, placeholder.isOutput,
                   "after a run; accepted: an output", symbols));
  }
  return llvm::Error::success();
}
