//===- Collectives.h - Reductions beside other computations -----*- C++ -*-===//

#ifndef GLOWISH_LIB_IRGEN_COLLECTIVES_H
#define GLOWISH_LIB_IRGEN_COLLECTIVES_H

#include "glowish/Graph/Nodes.h"

namespace glowish {

/// Reorders \p order, a schedule, so that the processes of a group reduce while
/// they compute: a collective node on which no other one depends, such as that
/// of gradients, comes right after what it reads, and what depends on it at the
/// end. All processes get the same order.
std::vector<Node *> overlapReductions(std::vector<Node *> order);

} // namespace glowish

#endif // GLOWISH_LIB_IRGEN_COLLECTIVES_H
