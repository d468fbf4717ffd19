//===- Axes.cpp - Numbers of dimensions -----------------------------------===//

#include "Common/Axes.h"
#include "glowish/Base/CheckedInt.h"
#include "glowish/Support/Error.h"
#include <numeric>

using namespace glowish;

llvm::Expected<int64_t> glowish::normalizeAxis(int64_t axis, unsigned rank) {
  CheckedInt fromStart = CheckedInt(axis) + (axis < 0 ? rank : 0);
  if (!fromStart.isBetween(0, int64_t(rank) - 1))
    return makeError("{0}; accepted for rank {1}: {2} to {3}", axis, rank,
                     -int64_t(rank), int64_t(rank) - 1);
  return *fromStart.get();
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

std::vector<int64_t> glowish::getDimsFrom(int64_t first, unsigned rank) {
  std::vector<int64_t> dims(std::max<int64_t>(int64_t(rank) - first, 0));
  std::iota(dims.begin(), dims.end(), first);
  return dims;
}

std::vector<int64_t> glowish::getAllDims(unsigned rank) {
  return getDimsFrom(0, rank);
}

std::vector<int64_t> glowish::getMovedDims(unsigned rank, int64_t from,
                                           int64_t to) {
  std::vector<int64_t> dims = getAllDims(rank);
  dims.erase(dims.begin() + from);
  dims.insert(dims.begin() + to, from);
  return dims;
}
