//===- BroadcastShapes.cpp - Operands beside reshaped values --------------===//

#include "Util/BroadcastShapes.h"

using namespace glowish;

std::optional<Dims> glowish::reshapeBroadcast(DimsRef value, DimsRef outer,
                                              DimsRef inner) {
  Dims own(outer.size() - value.size(), 1);
  llvm::append_range(own, value);
  Dims result;
  for (size_t i = 0, k = 0; i < outer.size() || k < inner.size();) {
    // Each round takes the fewest dimensions of both that have the same number
    // of elements.
    if (i < outer.size() && outer[i] == 1) {
      ++i;
      continue;
    }
    if (k < inner.size() && inner[k] == 1) {
      result.push_back(1);
      ++k;
      continue;
    }
    size_t firstOuter = i, firstInner = k;
    int64_t numOuter = outer[i++], numInner = inner[k++];
    while (numOuter != numInner)
      numOuter < numInner ? numOuter *= outer[i++] : numInner *= inner[k++];
    auto part = DimsRef(own).slice(firstOuter, i - firstOuter);
    bool isWhole = part == outer.slice(firstOuter, i - firstOuter);
    if (!isWhole && !llvm::all_of(part, [](int64_t dim) { return dim == 1; }))
      return std::nullopt;
    for (size_t d = firstInner; d < k; ++d)
      result.push_back(isWhole ? inner[d] : 1);
  }
  return result;
}
