//===- GivenTypes.cpp - Types of tensors that inputs are given ------------===//

#include "GivenTypes.h"
#include "glowish/Support/Error.h"

using namespace glowish;

llvm::Error glowish::checkGivenType(llvm::StringRef name, const Type &given,
                                    const Type &type,
                                    const SymbolRanges &symbols) {
  for (unsigned d = 0; d < type.getRank(); ++d) {
    const Extent *own = type.getExtent(d);
    std::optional<IntRange> range = own ? symbols.getRange(*own) : std::nullopt;
    if (!range || given.getRank() != type.getRank())
      continue;
    int64_t extent = given.getDim(d);
    if (extent < range->low || extent > range->high)
      return makeError(
          "input '{0}' is {1}: dimension {2} is {3}, which is {4}", name,
          given.str(), d, own->describe(),
          range->low == range->high
              ? std::to_string(range->low)
              : llvm::formatv("{0} to {1}", range->low, range->high).str());
  }
  if (fitsExtents(given, type))
    return llvm::Error::success();
  return makeError("input '{0}' is {1}, not {2}", name, type.str(),
                   given.str());
}
