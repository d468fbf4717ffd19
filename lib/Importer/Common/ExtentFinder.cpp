//===- ExtentFinder.cpp - Integers that are extents -----------------------===//

#include "Common/ExtentFinder.h"

using namespace glowish;

Element ExtentFinder::findSource(Element element) {
  // Stop at a known value, so that it is the same one wherever it is used.
  while (steps > 0 && !isKnown(element.value)) {
    --steps;
    std::optional<Element> moved = traceElement(element);
    if (!moved)
      break;
    element = *moved;
  }
  return element;
}

/// The range of the element at \p index of \p node, an element-wise one.
ScalarRange ExtentFinder::combine(const Node &node, DimsRef index,
                                  unsigned depth) {
  llvm::SmallVector<ScalarRange, 3> operands;
  llvm::SmallVector<ElemKind, 3> kinds;
  for (NodeValue value : node.getOperands()) {
    operands.push_back(findRange(getBroadcastElement(value, index), depth + 1));
    kinds.push_back(value.getElemKind());
  }
  ScalarStep step = makeScalarStep(node);
  return evaluateRange(step.op, operands, kinds, step.params, step.kind,
                       symbols);
}

/// Whether arithmetic on \p kind can overflow, given the exact \p range of the
/// result.
static bool canOverflow(ElemKind kind, const ScalarRange &range) {
  double most = kind == ElemKind::Int64   ? 9e15
                : kind == ElemKind::Int32 ? 2147483647
                : kind == ElemKind::Bool  ? 1
                                          : 0;
  if (isFloatKind(kind))
    return false;
  return range.low < -most || range.high > most;
}

/// The range of \p constant's element \p position.
static ScalarRange getRange(const Tensor &constant, int64_t position) {
  if (isIntegerKind(constant.getType().getKind())) {
    int64_t number = constant.getAsInt(position);
    return {double(number), double(number), Extent(number)};
  }
  double number = constant.getAsDouble(position);
  return std::isnan(number) ? ScalarRange() : ScalarRange{number, number, {}};
}

ScalarRange ExtentFinder::findRange(Element element, unsigned depth) {
  constexpr unsigned maxDepth = 64;
  element = findSource(element);
  if (depth > maxDepth || steps == 0 ||
      element.value.getType().getNumElements() == 0)
    return {};
  if (auto *constant = element.value.getNodeAs<Constant>())
    return getRange(constant->getTensor(), element.position);
  auto extent = extents.find(element.value);
  if (extent != extents.end())
    return getScalarRange(extent->second, symbols);
  if (bounds)
    if (auto bound = bounds->find(element.value); bound != bounds->end())
      return {0, double(bound->second), {}};
  Node *node = element.value.node;
  if (!isElementWise(*node))
    return {};
  ScalarRange range = combine(*node, getIndex(element), depth);
  return canOverflow(node->getType().getKind(), range) ? ScalarRange() : range;
}

std::optional<std::vector<Extent>> glowish::findExtents(const Module &module,
                                                        NodeValue list) {
  // Longer lists do not describe a shape.
  constexpr int64_t maxLength = 64;
  const Type &type = list.getType();
  if (!isIntegerKind(type.getKind()) || type.getRank() > 1 ||
      type.hasExtents() || type.getNumElements() > maxLength)
    return std::nullopt;
  ExtentFinder::Known known;
  for (const auto &placeholder : module.getPlaceholders())
    if (const auto &range = placeholder->getRange())
      known[NodeValue(placeholder.get())] = Extent::symbol(range->symbol);
  if (known.empty())
    return std::nullopt;
  std::vector<Extent> extents;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    std::optional<Extent> extent =
        ExtentFinder(known, module.getSymbols()).find({list, i});
    if (!extent)
      return std::nullopt;
    extents.push_back(std::move(*extent));
  }
  return extents;
}
