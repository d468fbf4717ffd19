//===- Dot.h - Graphviz export ----------------------------------*- C++ -*-===//

#ifndef GLOWISH_GRAPH_DOT_H
#define GLOWISH_GRAPH_DOT_H

#include "glowish/Graph/Module.h"

namespace glowish {

/// Writes \p function as a Graphviz digraph: one box per node with operator,
/// name, types and attributes, and one edge per use, labelled with the operand.
/// Each body of a node is a cluster, which a dashed edge leads to, with its
/// parameters and results; constants are outside of it.
void printDot(llvm::raw_ostream &os, const Function &function);

} // namespace glowish

#endif // GLOWISH_GRAPH_DOT_H
