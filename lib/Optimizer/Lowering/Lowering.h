//===- Lowering.h - Lowerings of nodes --------------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_OPTIMIZER_LOWERING_LOWERING_H
#define GLOWISH_LIB_OPTIMIZER_LOWERING_LOWERING_H

#include "Util/Rewriter.h"

namespace glowish {

/// lowerNAME for each node whose record has HasLowering: returns equivalent
/// nodes, or null to keep the node. Called only if the back end does not
/// support the node.
#define LOWERING(NAME)                                                         \
  NodeValue lower##NAME(NAME##Node &root, RewriteContext &context);
#define GET_LOWERING_LIST
#include "glowish/Graph/NodeFunctions.inc"

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_LOWERING_LOWERING_H
