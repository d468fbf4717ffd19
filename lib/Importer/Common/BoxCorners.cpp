//===- BoxCorners.cpp - Boxes by their corners ----------------------------===//

#include "Common/BoxCorners.h"

using namespace glowish;

NodeValue glowish::getCorners(NodeBuilder &b, NodeValue boxes,
                              bool haveCenters) {
  auto get = [&](int64_t i) { return b.slice(boxes, 2, i, 1); };
  if (!haveCenters)
    return b.concat({b.min(get(0), get(2)), b.min(get(1), get(3)),
                     b.max(get(0), get(2)), b.max(get(1), get(3))},
                    2);
  NodeValue halfWidth = b.div(get(2), 2), halfHeight = b.div(get(3), 2);
  return b.concat({b.sub(get(1), halfHeight), b.sub(get(0), halfWidth),
                   b.add(get(1), halfHeight), b.add(get(0), halfWidth)},
                  2);
}
