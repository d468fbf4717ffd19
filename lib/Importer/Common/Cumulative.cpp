//===- Cumulative.cpp - Cumulative sums and products ----------------------===//

#include "Common/Cumulative.h"

using namespace glowish;

NodeValue glowish::shiftAlong(NodeBuilder &c, NodeValue value, int64_t axis,
                              int64_t count, bool backward, double filler) {
  if (!value)
    return value;
  unsigned rank = value.getShape().size();
  std::vector<int64_t> pads(2 * rank, 0);
  pads[axis] = backward ? -count : count;
  pads[rank + axis] = -pads[axis];
  return c.pad(value, pads, filler);
}

/// Parallel prefix sum by doubling: after each step an element holds the sum of
/// the last 2 * count elements.
NodeValue glowish::makeCumulative(NodeBuilder &c, NodeValue value, int64_t axis,
                                  bool isProduct, bool backward) {
  int64_t extent = value ? value.getShape()[axis] : 0;
  for (int64_t count = 1; count < extent; count *= 2) {
    NodeValue before =
        shiftAlong(c, value, axis, count, backward, isProduct ? 1 : 0);
    value = isProduct ? c.mul(value, before) : c.add(value, before);
  }
  return value;
}
