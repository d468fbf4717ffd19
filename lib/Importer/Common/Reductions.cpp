//===- Reductions.cpp - Sums and products that are composed ---------------===//

#include "Common/Reductions.h"
#include "Common/Positions.h"
#include "glowish/Base/ElemRange.h"

using namespace glowish;

NodeValue glowish::makeLogSumExp(NodeBuilder &b, NodeValue x,
                                 llvm::ArrayRef<int64_t> axes, bool keepDims) {
  if (!x || axes.empty())
    return x;
  if (x.getType().getNumElements() == 0)
    return b.unary<LogNode>(
        b.reduce(b.unary<ExpNode>(x), "sum", axes, keepDims));
  NodeValue most = b.reduce(x, "max", axes, /*keepDims=*/true);
  // Infinite maxima would give infinity - infinity.
  ElemRange range = getFiniteRange(x.getElemKind());
  most = b.clip(most, range.low, range.high);
  NodeValue sum =
      b.reduce(b.unary<ExpNode>(b.sub(x, most)), "sum", axes, keepDims);
  if (!sum)
    return sum;
  if (!keepDims) {
    std::vector<int64_t> left;
    for (int64_t d = 0; d < int64_t(x.getShape().size()); ++d)
      if (!llvm::is_contained(axes, d))
        left.push_back(d);
    most = b.rearrange(most, left);
  }
  return b.add(b.unary<LogNode>(sum), most);
}

/// By doubling: after each step an element is the product of the last 2 * count
/// elements.
NodeValue glowish::multiplyAlong(NodeBuilder &b, NodeValue x, int64_t axis,
                                 bool exclusive, bool reverse) {
  if (!x)
    return x;
  Type type = x.getType();
  // The steps reach over the end.
  if (type.getExtent(unsigned(axis))) {
    if (reverse)
      x = b.fillOutside(x, {axis}, 1);
    x = b.dropExtents(x);
  }
  int64_t extent = type.getDim(unsigned(axis)), direction = reverse ? -1 : 1;
  if (exclusive && extent > 0)
    x = shiftAlong(b, x, axis, direction, 1);
  for (int64_t count = 1; count < extent; count *= 2)
    x = b.mul(x, shiftAlong(b, x, axis, direction * count, 1));
  return b.declareExtents(x, type);
}
