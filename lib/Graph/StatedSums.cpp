//===- StatedSums.cpp - Which values are stated extents -------------------===//

#include "glowish/Graph/StatedSums.h"
#include "glowish/Base/ElemRange.h"

using namespace glowish;

StatedSums::StatedSums(const Module &module) {
  for (const auto &placeholder : module.getPlaceholders())
    if (const auto &range = placeholder->getRange())
      symbols.set(range->symbol, range->bounds);
}

bool StatedSums::isWithin(const Extent &sum, double low, double high) const {
  std::optional<IntRange> range = symbols.getRange(sum);
  return range && low <= double(range->low) && double(range->high) <= high;
}

static bool isSingleInteger(NodeValue value) {
  return isIntegerKind(value.getElemKind()) &&
         value.getType().getNumElements() == 1;
}

/// Returns the value that \p value is reshaped, converted or broadcast of.
static NodeValue takeOrigin(NodeValue value) {
  while (llvm::isa<ReshapeNode, CastNode, BroadcastNode>(value.node))
    value = value.node->getOperand(0);
  return value;
}

std::optional<Extent> StatedSums::findSum(const Node &node) const {
  if (!llvm::isa<AddNode, SubNode>(node))
    return std::nullopt;
  std::optional<Extent> x = find(node.getOperand(0));
  std::optional<Extent> y = find(node.getOperand(1));
  if (!x || !y)
    return std::nullopt;
  return llvm::isa<AddNode>(node) ? add(*x, *y) : subtract(*x, *y);
}

std::optional<Extent> StatedSums::findMultiple(const Node &node) const {
  if (!llvm::isa<MulNode, DivNode>(node))
    return std::nullopt;
  std::optional<Extent> x = find(node.getOperand(0));
  std::optional<Extent> y = find(node.getOperand(1));
  if (!x || !y)
    return std::nullopt;
  if (llvm::isa<MulNode>(node))
    return multiply(*x, *y);
  // Divisions round towards 0, and quotients of extents down.
  std::optional<int64_t> divisor = y->getConstant();
  bool isPositive = divisor && *divisor > 0 &&
                    symbols.isAtMost(Extent(0), *x) == Certainty::Yes;
  return isPositive ? divideDown(*x, *divisor) : std::nullopt;
}

std::optional<Extent> StatedSums::findClipped(const ClipNode &node) const {
  std::optional<Extent> x = find(node.getX());
  bool isKept = x && isWithin(*x, node.getLow(), node.getHigh());
  return isKept ? x : std::nullopt;
}

std::optional<Extent> StatedSums::findOrigin(NodeValue value) const {
  if (auto *constant = value.getNodeAs<Constant>())
    return Extent(constant->getTensor().getAsInt(0));
  if (auto *placeholder = value.getNodeAs<Placeholder>())
    if (const auto &range = placeholder->getRange())
      return Extent::symbol(range->symbol);
  if (auto *clip = value.getNodeAs<ClipNode>())
    return findClipped(*clip);
  if (std::optional<Extent> sum = findSum(*value.node))
    return sum;
  return findMultiple(*value.node);
}

std::optional<Extent> StatedSums::find(NodeValue value) const {
  if (!value || !isSingleInteger(value))
    return std::nullopt;
  NodeValue origin = takeOrigin(value);
  if (!isSingleInteger(origin))
    return std::nullopt;
  std::optional<Extent> extent = findOrigin(origin);
  // In either kind it may wrap.
  for (ElemKind kind : {value.getElemKind(), origin.getElemKind()}) {
    ElemRange range = getFiniteRange(kind);
    if (extent && !isWithin(*extent, range.low, range.high))
      return std::nullopt;
  }
  return extent;
}

std::optional<Extent> StatedSums::findLarger(const Extent &a,
                                             const Extent &b) const {
  for (auto [larger, smaller] : {std::pair(&a, &b), std::pair(&b, &a)})
    if (symbols.isAtMost(*smaller, *larger) == Certainty::Yes)
      return *larger;
  return std::nullopt;
}

//===- Conditions ---------------------------------------------------------===//

/// The dimension along which \p value is 0, 1, 2...; null where it is not.
static std::optional<unsigned> findNumbering(NodeValue value) {
  auto *constant = value.getNodeAs<Constant>();
  if (!constant || !isIntegerKind(value.getElemKind()))
    return std::nullopt;
  const Tensor &tensor = constant->getTensor();
  DimsRef shape = value.getShape();
  int64_t count = tensor.getNumElements();
  for (int64_t i = 0; i < count; ++i)
    if (tensor.getAsInt(i) != i)
      return std::nullopt;
  for (unsigned d = 0; d < shape.size(); ++d)
    if (shape[d] == count && count > 1)
      return d;
  return std::nullopt;
}

llvm::SmallVector<StatedSums::Limit, 2>
StatedSums::findLimits(NodeValue condition) const {
  llvm::SmallVector<Limit, 2> limits;
  if (auto *both = condition.getNodeAs<AndNode>()) {
    for (NodeValue each : both->getOperands())
      llvm::append_range(limits, findLimits(each));
    return limits;
  }
  if (auto *reshape = condition.getNodeAs<ReshapeNode>()) {
    DimsRef from = reshape->getInput().getShape(), to = reshape->getShape();
    for (const Limit &limit : findLimits(reshape->getInput()))
      if (auto dim = findReshapedDim(from, to, from.size() - limit.fromEnd))
        limits.push_back({unsigned(to.size()) - *dim, limit.extent});
    return limits;
  }
  auto *less = condition.getNodeAs<LessNode>();
  std::optional<unsigned> dim =
      less ? findNumbering(less->getX()) : std::nullopt;
  std::optional<Extent> extent = dim ? find(less->getY()) : std::nullopt;
  if (extent)
    limits.push_back(
        {unsigned(less->getX().getShape().size()) - *dim, *extent});
  return limits;
}

bool StatedSums::isTrueWithin(
    NodeValue condition, llvm::ArrayRef<std::optional<Extent>> extents) const {
  if (auto *both = condition.getNodeAs<AndNode>())
    return llvm::all_of(both->getOperands(), [&](NodeValue each) {
      return isTrueWithin(each, extents);
    });
  // What a limit follows from may be true of fewer elements, but for a single
  // comparison.
  NodeValue origin = condition;
  while (auto *reshape = origin.getNodeAs<ReshapeNode>())
    origin = reshape->getInput();
  if (!origin.getNodeAs<LessNode>())
    return false;
  llvm::SmallVector<Limit, 2> limits = findLimits(condition);
  if (limits.size() != 1 || limits.front().fromEnd > extents.size())
    return false;
  const Limit &limit = limits.front();
  const auto &extent = extents[extents.size() - limit.fromEnd];
  return extent && findLarger(limit.extent, *extent) == limit.extent;
}

bool StatedSums::isTrueOfFirst(NodeValue condition) const {
  if (auto *reshape = condition.getNodeAs<ReshapeNode>())
    if (reshape->getShape().back() == reshape->getInput().getShape().back())
      return isTrueOfFirst(reshape->getInput());
  llvm::SmallVector<Limit, 2> limits;
  if (condition.getNodeAs<LessNode>())
    limits = findLimits(condition);
  if (limits.empty() || limits.front().fromEnd != 1)
    return false;
  std::optional<IntRange> range = symbols.getRange(limits.front().extent);
  return range && range->low >= 1;
}
