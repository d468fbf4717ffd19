//===- OpenReshape.cpp - Shapes of extents that runs decide ---------------===//

#include "Common/OpenReshape.h"
#include "glowish/Base/CheckedInt.h"
#include "glowish/Support/Error.h"

using namespace glowish;

namespace {

/// A new shape of a value with a dimension for what the others leave.
struct NewShape {
  std::vector<Extent> dims;
  /// The dimension that is -1.
  std::optional<unsigned> rest;
  /// The product of the bounds of the others, and of their extents.
  int64_t bound = 1;
  Extent known = 1;
};

} // namespace

static llvm::Expected<NewShape> readShape(llvm::ArrayRef<Extent> dims,
                                          const SymbolRanges &symbols) {
  NewShape shape;
  shape.dims = dims.vec();
  for (auto [d, dim] : llvm::enumerate(dims)) {
    if (dim == Extent(-1) && !shape.rest) {
      shape.rest = unsigned(d);
      continue;
    }
    std::optional<IntRange> range = symbols.getRange(dim);
    if (!range || range->low < 0 ||
        (range->high > 0 && shape.bound > maxTensorBytes / range->high))
      return makeError("the new shape has the extent {0}", dim.describe());
    std::optional<Extent> known = multiply(shape.known, dim);
    if (!known)
      return makeError("the number of elements of the new shape has too many "
                       "terms");
    shape.bound *= range->high;
    shape.known = *known;
  }
  return shape;
}

/// Returns what \p shape leaves of \p count elements.
static llvm::Expected<Extent> findRest(const NewShape &shape,
                                       const Extent &count) {
  std::optional<int64_t> divisor = shape.known.getConstant();
  if (divisor == 0)
    return Extent(0);
  std::optional<Extent> rest = divideExactly(count, shape.known);
  // Each run requires that nothing remains.
  if (!rest && divisor)
    rest = divideDown(count, *divisor);
  if (!rest)
    return makeError("-1 of the new shape would be {0} elements divided by "
                     "{1}; accepted: a divisor of these",
                     count.describe(), shape.known.describe());
  return *rest;
}

llvm::Expected<NodeValue> glowish::reshapeOpen(NodeBuilder &b, NodeValue x,
                                               llvm::ArrayRef<Extent> dims) {
  if (!x)
    return x;
  const Type &type = x.getType();
  const SymbolRanges &symbols = b.getFunction().getModule().getSymbols();
  GLOWISH_ASSIGN_OR_RETURN(NewShape shape, readShape(dims, symbols));
  std::optional<Extent> all = multiplyAll(type.getLengths());
  if (!all)
    return makeError("the number of elements of {0} has too many terms",
                     type.str());
  const Extent &count = *all;
  if (shape.rest) {
    GLOWISH_ASSIGN_OR_RETURN(shape.dims[*shape.rest], findRest(shape, count));
  } else if (!count.isConstant() && shape.known.isConstant()) {
    return makeError("its input is {0}, and the new shape has always {1} "
                     "elements; accepted: -1 for one of its dimensions",
                     type.str(), *shape.known.getConstant());
  }
  Dims bounds;
  ExtentList extents;
  for (const Extent &dim : shape.dims) {
    std::optional<IntRange> range = symbols.getRange(dim);
    if (!range || range->low < 0)
      return makeError("the new shape has the extent {0}", dim.describe());
    bounds.push_back(range->high);
    extents.push_back(dim.isConstant() ? std::nullopt : std::optional(dim));
  }
  // A bound that all elements fill keeps each of them in its place.
  int64_t most = type.getNumElements();
  if (shape.rest && shape.bound > 0 && most % shape.bound == 0)
    bounds[*shape.rest] = std::max(bounds[*shape.rest], most / shape.bound);
  GLOWISH_RETURN_IF_ERROR(checkShape(type.getKind(), bounds));
  return b.repack(x, type.withShape(bounds).withExtents(extents));
}
