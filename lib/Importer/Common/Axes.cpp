//===- Axes.cpp - Normalization of axis numbers ---------------------------===//

#include "Common/Axes.h"
#include "glowish/Support/Error.h"

using namespace glowish;

llvm::Expected<int64_t> glowish::normalizeAxis(int64_t axis, unsigned rank) {
  if (axis < -int64_t(rank) || axis >= int64_t(rank))
    return makeError("{0}; accepted for rank {1}: {2} to {3}", axis, rank,
                     -int64_t(rank), int64_t(rank) - 1);
  return axis < 0 ? axis + rank : axis;
}

llvm::Expected<std::vector<int64_t>>
glowish::normalizeAxes(std::vector<int64_t> axes, unsigned rank) {
  for (int64_t &axis : axes) {
    llvm::Expected<int64_t> normal = normalizeAxis(axis, rank);
    if (!normal)
      return addContext(normal.takeError(), "an axis is ");
    axis = *normal;
  }
  llvm::sort(axes);
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}
