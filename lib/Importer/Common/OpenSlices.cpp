//===- OpenSlices.cpp - Slices of lengths that runs decide ----------------===//

#include "Common/OpenSlices.h"

using namespace glowish;

std::optional<Extent> glowish::findPlace(const SymbolRanges &symbols,
                                         std::optional<Extent> index,
                                         const Extent &length) {
  if (index && index->getConstant().value_or(0) < 0)
    index = add(*index, length);
  if (!index)
    return std::nullopt;
  if (symbols.isAtMost(length, *index) == Certainty::Yes)
    return length;
  bool isInside = symbols.isAtMost(0, *index) == Certainty::Yes &&
                  symbols.isAtMost(*index, length) == Certainty::Yes;
  return isInside ? index : std::nullopt;
}

NodeValue glowish::takeOpen(NodeBuilder &b, NodeValue x,
                            const OpenRange &range) {
  const SymbolRanges &symbols = b.getFunction().getModule().getSymbols();
  std::optional<Extent> count = add(range.end, -range.start);
  count = count ? divideUp(*count, range.step) : std::nullopt;
  if (!x || !count ||
      symbols.isAtMost(range.start, range.end) != Certainty::Yes)
    return {};
  const Type &type = x.getType();
  unsigned axis = unsigned(range.axis);
  // Elements beyond the extent exist and are unspecified.
  ExtentList extents(type.getExtents());
  extents.resize(type.getRank());
  extents[axis].reset();
  int64_t last = type.getDim(axis);
  if (std::optional<IntRange> ends = symbols.getRange(range.end))
    last = std::min(ends->high, last);
  std::vector<int64_t> starts(type.getRank(), 0), steps(type.getRank(), 1),
      sizes(type.getShape());
  starts[axis] = range.start;
  steps[axis] = range.step;
  sizes[axis] = (last - range.start + range.step - 1) / range.step;
  NodeValue part = b.declareExtents(x, type.withExtents(extents));
  if (sizes[axis] != type.getDim(axis))
    part = b.make<SliceNode>(part, starts, sizes, steps);
  if (!part || count->isConstant())
    return part;
  extents[axis] = *count;
  return b.declareExtents(part, part.getType().withExtents(extents));
}
