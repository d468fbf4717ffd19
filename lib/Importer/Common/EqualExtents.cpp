//===- EqualExtents.cpp - Extents that are the same -----------------------===//

#include "Common/EqualExtents.h"

using namespace glowish;

bool glowish::areEqual(NodeBuilder &b, const Extent &x, const Extent &y) {
  const SymbolRanges &symbols = b.getFunction().getModule().getSymbols();
  return symbols.areEqual(x, y) == Certainty::Yes;
}

void glowish::requireSame(NodeBuilder &b, const Extent &x, const Extent &y) {
  if (!areEqual(b, x, y))
    b.getFunction().getModule().addRequirements({{x, y}});
}

void glowish::requireBroadcast(NodeBuilder &b, NodeValue x, NodeValue y) {
  if (!x || !y)
    return;
  const Type &own = x.getType(), &other = y.getType();
  unsigned rank = std::min(own.getRank(), other.getRank());
  for (unsigned fromEnd = 1; fromEnd <= rank; ++fromEnd) {
    unsigned dim = own.getRank() - fromEnd,
             otherDim = other.getRank() - fromEnd;
    if (own.getDim(dim) == other.getDim(otherDim))
      requireSame(b, own.getLength(dim), other.getLength(otherDim));
  }
}
