//===- NodeFactory.h - Construct nodes by kind ------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_GRAPH_NODEFACTORY_H
#define GLOWISH_LIB_GRAPH_NODEFACTORY_H

#include "glowish/Graph/Nodes.h"

namespace glowish {

/// Creates an instance of the class of draft.kind, which is not storage.
Node *makeNode(NodeDraft draft, llvm::StringRef name, TypeList types);

} // namespace glowish

#endif // GLOWISH_LIB_GRAPH_NODEFACTORY_H
