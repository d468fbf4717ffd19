//===- CountedSymbols.cpp - Symbols that nodes count ----------------------===//

#include "glowish/Graph/CountedSymbols.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Ops/TypeRules.h"

using namespace glowish;

llvm::SmallVector<CountedSymbol, 1>
glowish::getCountedSymbols(const Node &node) {
  llvm::SmallVector<CountedSymbol, 1> counted;
  if (!node.getInfo().has(OpTrait::StatesExtents))
    return counted;
  NodeTypes types(node);
  // The views of all these have the same operands and attributes.
  DeclareExtentsView op(types.getView());
  for (auto [i, dim] : llvm::enumerate(op.getDims()))
    counted.push_back(
        {.symbol = node.getType().getExtent(unsigned(dim))->getSymbol(),
         .count = node.getOperand(unsigned(i) + 1)});
  return counted;
}
