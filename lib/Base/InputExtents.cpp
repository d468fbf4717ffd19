//===- InputExtents.cpp - Extents that each run states --------------------===//

#include "glowish/Base/InputExtents.h"
#include "glowish/Support/Error.h"

using namespace glowish;

bool glowish::fitsExtents(const Type &given, const Type &largest,
                          llvm::ArrayRef<std::string> dims) {
  if (given.getRank() != largest.getRank() ||
      given.withShape(largest.getShape()) != largest)
    return false;
  for (auto [d, extent] : llvm::enumerate(given.getShape())) {
    bool isStated = d < dims.size() && !dims[d].empty();
    if (isStated ? extent > largest.getDim(d) : extent != largest.getDim(d))
      return false;
  }
  return true;
}

std::map<std::string, IntRange>
glowish::getSymbolBounds(llvm::ArrayRef<PlaceholderExtents> placeholders) {
  std::map<std::string, IntRange> bounds;
  for (const PlaceholderExtents &placeholder : placeholders)
    if (const auto &range = placeholder.extents.range)
      bounds[range->symbol] = range->bounds;
  return bounds;
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
                              llvm::ArrayRef<std::string> dims, bool isAccepted,
                              llvm::StringRef accepted,
                              const std::map<std::string, IntRange> &bounds) {
  if (dims.empty())
    return llvm::Error::success();
  DimsRef shape = placeholder.type.getShape();
  if (!isAccepted || dims.size() != shape.size())
    return makeError("'{0}' is {1} with {2} extents {3}, with one for each "
                     "dimension",
                     placeholder.name, placeholder.type.str(), dims.size(),
                     accepted);
  for (auto [dim, extent] : llvm::zip_equal(dims, shape)) {
    if (dim.empty())
      continue;
    auto range = boundDim(dim, bounds);
    if (!range)
      return addContext(range.takeError(), "'" + placeholder.name + "': ");
    if (!*range || (*range)->high > extent)
      return makeError("'{0}' is {1}, with the extent '{2}'; accepted: an "
                       "expression of stated symbols that is at most {3}",
                       placeholder.name, placeholder.type.str(), dim, extent);
  }
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
  std::map<std::string, IntRange> bounds = getSymbolBounds(placeholders);
  for (const PlaceholderExtents &placeholder : placeholders) {
    GLOWISH_RETURN_IF_ERROR(
        verifyDims(placeholder, placeholder.extents.dims, placeholder.isInput,
                   "before a run; accepted: an input", bounds));
    GLOWISH_RETURN_IF_ERROR(
        verifyDims(placeholder, placeholder.extents.next, placeholder.isOutput,
                   "after a run; accepted: an output", bounds));
  }
  return llvm::Error::success();
}
