//===- Patterns.h - Looking for nodes that belong together ------*- C++ -*-===//

#ifndef GLOWISH_LIB_OPTIMIZER_UTIL_PATTERNS_H
#define GLOWISH_LIB_OPTIMIZER_UTIL_PATTERNS_H

#include "glowish/Graph/Nodes.h"
#include <array>

namespace glowish {

using ValuePair = std::pair<NodeValue, NodeValue>;

/// The operands of a commutative node in both orders.
template <typename T> std::array<ValuePair, 2> bothOrders(T &node) {
  NodeValue x = node.getX(), y = node.getY();
  return {ValuePair{x, y}, ValuePair{y, x}};
}

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_UTIL_PATTERNS_H
