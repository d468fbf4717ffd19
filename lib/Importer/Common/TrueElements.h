//===- TrueElements.h - Positions of true elements --------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_TRUEELEMENTS_H
#define GLOWISH_LIB_IMPORTER_COMMON_TRUEELEMENTS_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// The positions of the true elements of a list of bools.
struct Found {
  /// int64 [n], with n the length of the list: the positions, ascending,
  /// followed by 0.
  NodeValue positions;
  /// int64 scalar: the number of true elements.
  NodeValue count;
  /// int64 [n]: the inclusive prefix sums of the flags.
  NodeValue counts;
};
/// Finds the true elements of \p flags, bool [n] with n > 0.
Found findTrue(NodeBuilder &b, NodeValue flags);

/// Returns the nonzero elements of \p x as a list of bools, in row-major order
/// of the bounds; what lies beyond an extent is false.
NodeValue listNonzero(NodeBuilder &b, NodeValue x);

/// Converts row-major \p positions [n] to indices [rank, n]: row d contains
/// those into dimension d of \p shape.
NodeValue splitPositions(NodeBuilder &b, NodeValue positions, DimsRef shape);

/// Returns the first \p count elements of \p x, which may be null, along
/// dimension \p dim, of which no run decides the extent: \p count is an int64
/// scalar from 0 to that. A constant becomes the extent; otherwise it is the
/// value of a new symbol.
NodeValue takeCounted(NodeBuilder &b, NodeValue x, unsigned dim,
                      NodeValue count);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_TRUEELEMENTS_H
