//===- StatedSums.cpp - Which values are stated extents -------------------===//

#include "glowish/Graph/StatedSums.h"

using namespace glowish;

StatedSums::StatedSums(const Module &module) {
  for (const auto &placeholder : module.getPlaceholders())
    if (const auto &range = placeholder->getInputExtents().range)
      symbols[range->symbol] = range->bounds;
}

bool StatedSums::isWithin(const StatedSum &sum, double low, double high) const {
  std::optional<IntRange> range = getRange(sum, symbols);
  return range && low <= double(range->low) && double(range->high) <= high;
}

static bool isSingleInteger(NodeValue value) {
  return isIntegerKind(value.getElemKind()) &&
         value.getType().getNumElements() == 1;
}

/// What \p value is reshaped, converted or broadcast of.
static NodeValue findOrigin(NodeValue value) {
  while (llvm::isa<ReshapeNode, CastNode, BroadcastNode>(value.node))
    value = value.node->getOperand(0);
  return value;
}

std::optional<StatedSum> StatedSums::findMultiple(const MulNode &node) const {
  std::optional<StatedSum> x = find(node.getX()), y = find(node.getY());
  if (!x || !y)
    return std::nullopt;
  if (!x->factors.empty())
    std::swap(x, y);
  return x->factors.empty() ? addMultiple({}, *y, x->constant) : std::nullopt;
}

std::optional<StatedSum> StatedSums::findSum(const Node &node) const {
  if (!llvm::isa<AddNode, SubNode>(node))
    return std::nullopt;
  std::optional<StatedSum> x = find(node.getOperand(0));
  std::optional<StatedSum> y = find(node.getOperand(1));
  if (!x || !y)
    return std::nullopt;
  return addMultiple(*x, *y, llvm::isa<AddNode>(node) ? 1 : -1);
}

std::optional<StatedSum> StatedSums::findClipped(const ClipNode &node) const {
  std::optional<StatedSum> x = find(node.getX());
  bool isKept = x && isWithin(*x, node.getLow(), node.getHigh());
  return isKept ? x : std::nullopt;
}

std::optional<StatedSum> StatedSums::find(NodeValue value) const {
  if (!value || !isSingleInteger(value))
    return std::nullopt;
  value = findOrigin(value);
  if (!isSingleInteger(value))
    return std::nullopt;
  if (auto *constant = value.getNodeAs<Constant>())
    return StatedSum{constant->getTensor().getAsInt(0)};
  if (auto *placeholder = value.getNodeAs<Placeholder>())
    if (const auto &range = placeholder->getInputExtents().range)
      return StatedSum{0, {{range->symbol, 1}}};
  if (auto *multiple = value.getNodeAs<MulNode>())
    return findMultiple(*multiple);
  if (auto *clip = value.getNodeAs<ClipNode>())
    return findClipped(*clip);
  return findSum(*value.node);
}

std::optional<StatedSum> StatedSums::findLarger(const StatedSum &a,
                                                const StatedSum &b) const {
  for (auto [larger, smaller] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    std::optional<StatedSum> difference = addMultiple(*larger, *smaller, -1);
    std::optional<IntRange> range =
        difference ? getRange(*difference, symbols) : std::nullopt;
    if (range && range->low >= 0)
      return *larger;
  }
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
  std::optional<StatedSum> extent = dim ? find(less->getY()) : std::nullopt;
  if (extent)
    limits.push_back(
        {unsigned(less->getX().getShape().size()) - *dim, *extent});
  return limits;
}

bool StatedSums::isTrueWithin(
    NodeValue condition,
    llvm::ArrayRef<std::optional<StatedSum>> extents) const {
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
  std::optional<IntRange> range = getRange(limits.front().extent, symbols);
  return range && range->low >= 1;
}
