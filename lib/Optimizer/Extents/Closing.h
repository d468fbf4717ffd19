//===- Closing.h - Nodes that are computed for bounds -----------*- C++ -*-===//

#ifndef GLOWISH_LIB_OPTIMIZER_EXTENTS_CLOSING_H
#define GLOWISH_LIB_OPTIMIZER_EXTENTS_CLOSING_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// Returns whether runs decide an extent of an operand or a result of \p node.
bool hasExtents(const Node &node);

/// Replaces the only result of \p node by \p result, with the extents that it
/// has.
void replaceByBounds(NodeBuilder &b, Node &node, NodeValue result);
/// Replaces the results of \p node by those of \p made, with the extents that
/// they have.
void replaceByBounds(NodeBuilder &b, Node &node, Node &made);

/// Replaces \p node by one whose operands and results have their bounds in the
/// place of extents. For nodes of which elements beyond the extents change no
/// others: those that the pass lower-extents leaves.
void computeForBounds(Node &node);

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_EXTENTS_CLOSING_H
