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
