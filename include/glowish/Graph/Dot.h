//===- Dot.h - Graphviz export ----------------------------------*- C++ -*-===//

#ifndef GLOWISH_GRAPH_DOT_H
#define GLOWISH_GRAPH_DOT_H

#include "glowish/Graph/Module.h"

namespace glowish {

/// Writes \p function as a Graphviz digraph: one box per node with operator,
/// name, types and attributes, and one edge per use, labelled with the operand.
void printDot(llvm::raw_ostream &os, const Function &function);

} // namespace glowish

#endif // GLOWISH_GRAPH_DOT_H
