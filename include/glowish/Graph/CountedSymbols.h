//===- CountedSymbols.h - Symbols that nodes count --------------*- C++ -*-===//

#ifndef GLOWISH_GRAPH_COUNTEDSYMBOLS_H
#define GLOWISH_GRAPH_COUNTEDSYMBOLS_H

#include "glowish/Graph/Node.h"

namespace glowish {

/// A symbol of extents, and the int64 scalar that is its value.
struct CountedSymbol {
  llvm::StringRef symbol;
  NodeValue count;
};
/// Returns the symbols whose values \p node states (DeclareExtents, Repack).
llvm::SmallVector<CountedSymbol, 1> getCountedSymbols(const Node &node);

} // namespace glowish

#endif // GLOWISH_GRAPH_COUNTEDSYMBOLS_H
