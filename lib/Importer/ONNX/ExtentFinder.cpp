//===- ExtentFinder.cpp - Integers that are extents -----------------------===//

#include "ONNX/ExtentFinder.h"
#include "glowish/Base/ElemRange.h"

using namespace glowish;
using namespace glowish::onnximport;

std::optional<Extent> ExtentFinder::find(Element element) {
  while (true) {
    auto found = known.find(element.value);
    if (found != known.end())
      return found->second;
    if (steps == 0)
      return std::nullopt;
    --steps;
    std::optional<Element> moved = traceElement(element);
    if (!moved)
      break;
    element = *moved;
  }
  ElemKind kind = element.value.getElemKind();
  if (!isIntegerKind(kind))
    return std::nullopt;
  if (auto *constant = element.value.getNodeAs<Constant>())
    return Extent(constant->getTensor().getAsInt(element.position));
  const Node &node = *element.value.node;
  if (!isElementWise(node))
    return std::nullopt;
  std::optional<Extent> extent = combine(node, getIndex(element));
  // Else it may wrap.
  ElemRange range = getFiniteRange(kind);
  return extent && isWithin(*extent, range.low, range.high) ? extent
                                                            : std::nullopt;
}

bool ExtentFinder::isWithin(const Extent &extent, double low,
                            double high) const {
  std::optional<IntRange> range = symbols.getRange(extent);
  return range && low <= double(range->low) && double(range->high) <= high;
}

/// Returns the element at \p index of \p node, an element-wise one.
std::optional<Extent> ExtentFinder::combine(const Node &node, DimsRef index) {
  auto operand = [&](unsigned i) {
    return find(getBroadcastElement(node.getOperand(i), index));
  };
  if (auto *select = llvm::dyn_cast<SelectNode>(&node)) {
    std::optional<bool> isX =
        decide(getBroadcastElement(select->getCondition(), index));
    return isX ? operand(*isX ? select->xIdx : select->yIdx) : std::nullopt;
  }
  std::optional<Extent> x = operand(0);
  if (!x || llvm::isa<CastNode>(node))
    return x;
  if (auto *clip = llvm::dyn_cast<ClipNode>(&node))
    return isWithin(*x, clip->getLow(), clip->getHigh()) ? x : std::nullopt;
  std::optional<Extent> y =
      node.getNumOperands() == 2 ? operand(1) : std::nullopt;
  return y ? combine(node, *x, *y) : std::nullopt;
}

std::optional<Extent> ExtentFinder::combine(const Node &node, const Extent &x,
                                            const Extent &y) {
  switch (node.getKind()) {
  case NodeKind::Add:
    return add(x, y);
  case NodeKind::Sub:
    return subtract(x, y);
  case NodeKind::Mul:
    return multiply(x, y);
  case NodeKind::Max:
    return choose(x, y, /*larger=*/true);
  case NodeKind::Min:
    return choose(x, y, /*larger=*/false);
  case NodeKind::Div: {
    // It rounds towards 0, and quotients of extents down.
    std::optional<int64_t> divisor = y.getConstant();
    bool isPositive = divisor && *divisor > 0 &&
                      symbols.isAtMost(Extent(0), x) == Certainty::Yes;
    return isPositive ? divideDown(x, *divisor) : std::nullopt;
  }
  default:
    return std::nullopt;
  }
}

/// Returns the larger, or smaller, one where it is that in all runs.
std::optional<Extent> ExtentFinder::choose(const Extent &x, const Extent &y,
                                           bool larger) {
  if (symbols.isAtMost(x, y) == Certainty::Yes)
    return larger ? y : x;
  if (symbols.isAtMost(y, x) == Certainty::Yes)
    return larger ? x : y;
  return std::nullopt;
}

/// Returns whether \p condition, a bool, is true, where that is so in all runs
/// or in none.
std::optional<bool> ExtentFinder::decide(Element condition) {
  while (steps > 0) {
    --steps;
    std::optional<Element> moved = traceElement(condition);
    if (!moved)
      break;
    condition = *moved;
  }
  if (auto *constant = condition.value.getNodeAs<Constant>())
    return constant->getTensor().getAsInt(condition.position) != 0;
  const Node &node = *condition.value.node;
  if (!llvm::isa<EqualNode, LessNode, LessOrEqualNode>(node))
    return std::nullopt;
  Dims index = getIndex(condition);
  std::optional<Extent> x =
      find(getBroadcastElement(node.getOperand(0), index));
  std::optional<Extent> y =
      find(getBroadcastElement(node.getOperand(1), index));
  std::optional<Extent> difference = x && y ? subtract(*x, *y) : std::nullopt;
  if (!difference)
    return std::nullopt;
  if (llvm::isa<EqualNode>(node)) {
    if (symbols.areEqual(*x, *y) == Certainty::Yes)
      return true;
    return symbols.mayBe(*difference, 0) == Certainty::No ? std::optional(false)
                                                          : std::nullopt;
  }
  int64_t most = llvm::isa<LessNode>(node) ? -1 : 0;
  if (symbols.isAtMost(*difference, most) == Certainty::Yes)
    return true;
  return symbols.isAtMost(most + 1, *difference) == Certainty::Yes
             ? std::optional(false)
             : std::nullopt;
}
