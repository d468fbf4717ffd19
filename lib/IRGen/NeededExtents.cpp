//===- NeededExtents.cpp - What is needed of each value -------------------===//

#include "NeededExtents.h"

using namespace glowish;

NeededExtents::NeededExtents(Function &graph, llvm::ArrayRef<Node *> order)
    : sums(graph.getModule()) {
  // The inputs are not in reach of a body.
  if (graph.isBody() || !sums.hasSymbols())
    return;
  for (Node *node : llvm::reverse(order))
    visit(*node);
}

void NeededExtents::need(NodeValue value, const Extents &extents) {
  auto [found, isNew] = needed.try_emplace(value, extents);
  if (isNew)
    return;
  for (auto [own, other] : llvm::zip_equal(found->second, extents))
    own = own && other ? sums.findLarger(*own, *other) : std::nullopt;
}

NeededExtents::Extents NeededExtents::follow(const Node &node,
                                             unsigned index) const {
  NodeValue operand = node.getOperand(index);
  Extents extents(operand.getType().getRank());
  auto own = needed.find(NodeValue(const_cast<Node *>(&node)));
  if (node.getNumResults() != 1 || own == needed.end())
    return extents;
  for (auto [d, extent] : llvm::enumerate(own->second)) {
    std::optional<OperandAxes> axes =
        extent ? followAxis(node, unsigned(d)) : std::nullopt;
    if (!axes || !(*axes)[index])
      continue;
    // Indices 0 ... extent - 1 need those up to the last one's.
    const OperandAxis &axis = *(*axes)[index];
    if (axis.pad == 0 && axis.reach == axis.stride - 1)
      extents[axis.dim] = *extent * axis.stride;
  }
  return extents;
}

//===- Masks --------------------------------------------------------------===//

static bool isLowest(NodeValue value) {
  auto *constant = value.getNodeAs<Constant>();
  return constant && constant->getTensor().getNumElements() == 1 &&
         constant->getTensor().getAsDouble(0) ==
             -std::numeric_limits<double>::infinity();
}

std::optional<StatedSum> NeededExtents::countKeys(const Node &node) const {
  auto *attention = llvm::dyn_cast<AttentionNode>(&node);
  NodeValue mask = attention ? attention->getMask() : NodeValue();
  if (auto *reshape = mask.getNodeAs<ReshapeNode>())
    if (reshape->getShape().back() == reshape->getInput().getShape().back())
      mask = reshape->getInput();
  auto *select = mask.getNodeAs<SelectNode>();
  if (!select || !isLowest(select->getY()))
    return std::nullopt;
  for (const StatedSums::Limit &limit : sums.findLimits(select->getCondition()))
    if (limit.fromEnd == 1)
      return limit.extent;
  return std::nullopt;
}

//===- Nodes --------------------------------------------------------------===//

/// What \p slice takes of its input.
static void limitSliced(const SliceNode &slice,
                        llvm::MutableArrayRef<std::optional<StatedSum>> own) {
  for (unsigned d = 0; d < own.size(); ++d)
    if (!own[d] && slice.getSteps()[d] == 1)
      own[d] = StatedSum{slice.getStarts()[d] + slice.getSizes()[d]};
}

void NeededExtents::limitSelected(const SelectNode &select,
                                  Extents &extents) const {
  unsigned rank = extents.size(), resultRank = select.getType().getRank();
  DimsRef shape = select.getX().getShape();
  for (const StatedSums::Limit &limit : sums.findLimits(select.getCondition()))
    // Not a dimension along which the operand is broadcast.
    if (limit.fromEnd <= rank &&
        shape[rank - limit.fromEnd] ==
            select.getType().getDim(resultRank - limit.fromEnd))
      extents[rank - limit.fromEnd] = limit.extent;
}

void NeededExtents::limitKeys(const Node &attention, unsigned index,
                              Extents &extents) const {
  std::optional<StatedSum> keys = countKeys(attention);
  unsigned rank = extents.size();
  bool isOfKeys =
      index == AttentionNode::keyIdx || index == AttentionNode::valueIdx;
  if (keys && isOfKeys)
    extents[rank - 2] = keys;
  else if (keys && index == AttentionNode::maskIdx &&
           attention.getOperand(index).getShape().back() != 1)
    extents[rank - 1] = keys;
}

void NeededExtents::visit(Node &node) {
  for (unsigned i = 0; i < node.getNumOperands(); ++i) {
    NodeValue operand = node.getOperand(i);
    if (!operand)
      continue;
    Extents extents = follow(node, i);
    if (auto *slice = llvm::dyn_cast<SliceNode>(&node))
      limitSliced(*slice, extents);
    auto *select = llvm::dyn_cast<SelectNode>(&node);
    if (select && i == SelectNode::xIdx)
      limitSelected(*select, extents);
    limitKeys(node, i, extents);
    need(operand, extents);
  }
}

std::vector<LoopBound> NeededExtents::getBounds(Node &node) const {
  std::vector<LoopBound> bounds;
  auto own = needed.find(NodeValue(&node));
  if (node.getNumResults() != 1 || own == needed.end())
    return bounds;
  for (auto [d, extent] : llvm::enumerate(own->second))
    if (extent && *extent != StatedSum{node.getType().getDim(d)})
      bounds.push_back({0, unsigned(d), *extent});
  if (std::optional<StatedSum> keys = countKeys(node)) {
    unsigned index = node.getNumResults() + AttentionNode::keyIdx;
    unsigned rank = node.getOperand(AttentionNode::keyIdx).getType().getRank();
    bounds.push_back({index, rank - 2, *keys});
  }
  return bounds;
}
