//===- NodeKindOf.h - Kinds of the classes of nodes -------------*- C++ -*-===//

#ifndef GLOWISH_LIB_EXPORTER_NODEKINDOF_H
#define GLOWISH_LIB_EXPORTER_NODEKINDOF_H

#include "glowish/Graph/Nodes.h"

namespace glowish {

/// The kind of all nodes of class T: NodeKind::Reshape of ReshapeNode.
template <typename T> inline constexpr NodeKind kindOf = T::noKind;
#define NODE(NAME)                                                             \
  template <> inline constexpr NodeKind kindOf<NAME##Node> = NodeKind::NAME;
#define GET_NODE_LIST
#include "glowish/Graph/NodeKinds.inc"

} // namespace glowish

#endif // GLOWISH_LIB_EXPORTER_NODEKINDOF_H
