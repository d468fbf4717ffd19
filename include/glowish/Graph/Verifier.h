//===- Verifier.h - Invariants of the graph ---------------------*- C++ -*-===//

#ifndef GLOWISH_GRAPH_VERIFIER_H
#define GLOWISH_GRAPH_VERIFIER_H

#include "glowish/Graph/Module.h"

namespace glowish {

/// Checks structure, types, topological order, uniqueness of names, and that
/// each placeholder is saved to at most once per function. The error names node
/// and operand.
llvm::Error verify(const Function &function);
llvm::Error verify(const Module &module);

} // namespace glowish

#endif // GLOWISH_GRAPH_VERIFIER_H
