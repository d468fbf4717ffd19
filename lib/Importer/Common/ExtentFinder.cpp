//===- ExtentFinder.cpp - Integers that are extents -----------------------===//

#include "Common/ExtentFinder.h"
#include "glowish/Graph/CountedSymbols.h"
#include "llvm/ADT/StringSwitch.h"

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

/// Returns the range of the element at \p index of \p node, of few integers
/// that are reduced.
ScalarRange ExtentFinder::reduce(const ReduceNode &node, DimsRef index,
                                 unsigned depth) {
  constexpr int64_t maxReduced = 16;
  const Type &type = node.getInput().getType();
  std::optional<ScalarOp> op =
      llvm::StringSwitch<std::optional<ScalarOp>>(node.getMode())
          .Case("sum", ScalarOp::Add)
          .Case("prod", ScalarOp::Mul)
          .Case("max", ScalarOp::Max)
          .Case("min", ScalarOp::Min)
          .Default(std::nullopt);
  Dims sizes;
  for (int64_t axis : node.getAxes())
    sizes.push_back(type.getDim(unsigned(axis)));
  int64_t count = countElements(sizes);
  if (!op || type.hasExtents() || count < 1 || count > maxReduced ||
      !isIntegerKind(type.getKind()))
    return {};
  // The index in the dimensions of the input.
  Dims place(index);
  if (!node.getKeepDims())
    for (int64_t axis : node.getAxes())
      place.insert(place.begin() + axis, 0);
  std::optional<ScalarRange> result;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (auto [axis, size] : llvm::zip_equal(node.getAxes(), sizes)) {
      place[size_t(axis)] = rest % size;
      rest /= size;
    }
    ScalarRange own = findRange(getElement(node.getInput(), place), depth + 1);
    ElemKind kinds[] = {type.getKind(), type.getKind()};
    result = result ? evaluateRange(*op, {*result, own}, kinds, {},
                                    type.getKind(), symbols)
                    : own;
    if (canOverflow(type.getKind(), *result))
      return {};
  }
  return *result;
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
  if (auto *reduced = llvm::dyn_cast<ReduceNode>(node))
    return reduce(*reduced, getIndex(element), depth);
  if (!isElementWise(*node))
    return {};
  ScalarRange range = combine(*node, getIndex(element), depth);
  return canOverflow(node->getType().getKind(), range) ? ScalarRange() : range;
}

std::optional<std::vector<std::optional<Extent>>>
glowish::findEachExtent(const Module &module, NodeValue list) {
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
  if (const Function *function = list.node->getParent())
    for (const Node &node : function->getNodes())
      for (const CountedSymbol &counted : getCountedSymbols(node))
        known.try_emplace(counted.count, Extent::symbol(counted.symbol));
  std::vector<std::optional<Extent>> extents;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    extents.push_back(ExtentFinder(known, module.getSymbols()).find({list, i}));
  return extents;
}

std::optional<std::vector<Extent>> glowish::findExtents(const Module &module,
                                                        NodeValue list) {
  if (module.getSymbols().empty())
    return std::nullopt;
  auto found = findEachExtent(module, list);
  if (!found)
    return std::nullopt;
  std::vector<Extent> extents;
  for (std::optional<Extent> &extent : *found) {
    if (!extent)
      return std::nullopt;
    extents.push_back(std::move(*extent));
  }
  return extents;
}
