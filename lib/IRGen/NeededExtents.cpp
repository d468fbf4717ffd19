//===- NeededExtents.cpp - What is needed of each value -------------------===//

#include "NeededExtents.h"

using namespace glowish;

NeededExtents::NeededExtents(Function &graph, llvm::ArrayRef<Node *> order)
    : sums(graph.getModule()) {
  // The inputs are not in reach of a body.
  if (graph.isBody() || !sums.hasSymbols())
    return;
  for (Node *node : llvm::reverse(order))
    for (unsigned i = 0; i < node->getNumOperands(); ++i)
      if (NodeValue operand = node->getOperand(i))
        need(operand, findNeeded(*node, i));
}

void NeededExtents::need(NodeValue value, const Extents &extents) {
  auto [found, isNew] = needed.try_emplace(value, extents);
  if (isNew)
    return;
  for (auto [own, other] : llvm::zip_equal(found->second, extents))
    own = own && other ? sums.findLarger(*own, *other) : std::nullopt;
}

std::optional<Extent> NeededExtents::getNeeded(const Node &node,
                                               unsigned dim) const {
  auto own = needed.find(NodeValue(const_cast<Node *>(&node)));
  if (node.getNumResults() != 1 || own == needed.end())
    return std::nullopt;
  return own->second[dim];
}

NeededExtents::Extents NeededExtents::follow(const Node &node,
                                             unsigned index) const {
  Extents extents(node.getOperand(index).getType().getRank());
  unsigned rank = node.getNumResults() == 1 ? node.getType().getRank() : 0;
  for (unsigned d = 0; d < rank; ++d) {
    std::optional<Extent> extent = getNeeded(node, d);
    std::optional<OperandAxes> axes =
        extent ? followAxis(node, d) : std::nullopt;
    if (!axes || !(*axes)[index])
      continue;
    // Indices 0 ... extent - 1 need those up to the last one's.
    const OperandAxis &axis = *(*axes)[index];
    if (axis.pad == 0 && axis.reach == axis.stride - 1)
      extents[axis.dim] = multiply(*extent, axis.stride);
  }
  return extents;
}

//===- Masks --------------------------------------------------------------===//

/// Whether \p value is one constant number, \p number.
static bool isNumber(NodeValue value, double number) {
  auto *constant = value.getNodeAs<Constant>();
  return constant && constant->getTensor().getNumElements() == 1 &&
         constant->getTensor().getAsDouble(0) == number;
}

static bool isLowest(NodeValue value) {
  return isNumber(value, -std::numeric_limits<double>::infinity());
}

static bool isZero(NodeValue value) { return isNumber(value, 0); }

std::optional<Extent> NeededExtents::countKeys(const Node &node) const {
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

std::optional<Extent>
NeededExtents::findMask(NodeValue value, unsigned dim,
                        llvm::function_ref<bool(NodeValue)> isMasked) const {
  while (true) {
    if (auto *transpose = value.getNodeAs<TransposeNode>()) {
      dim = unsigned(transpose->getPermutation()[dim]);
      value = transpose->getInput();
    } else if (auto *reshape = value.getNodeAs<ReshapeNode>()) {
      NodeValue input = reshape->getInput();
      auto own = findReshapedDim(value.getShape(), input.getShape(), dim);
      if (!own)
        return std::nullopt;
      dim = *own;
      value = input;
    } else {
      break;
    }
  }
  auto *select = value.getNodeAs<SelectNode>();
  if (!select || !isMasked(select->getY()))
    return std::nullopt;
  unsigned fromEnd = select->getType().getRank() - dim;
  for (const StatedSums::Limit &limit : sums.findLimits(select->getCondition()))
    if (limit.fromEnd == fromEnd &&
        sums.isWithin(limit.extent, 0, double(select->getType().getDim(dim))))
      return limit.extent;
  return std::nullopt;
}

std::optional<Extent> NeededExtents::countSummed(const Node &node) const {
  if (auto *softmax = llvm::dyn_cast<SoftmaxNode>(&node)) {
    unsigned axis = unsigned(softmax->getAxis());
    if (axis + 1 != node.getType().getRank())
      return std::nullopt;
    auto extent = findMask(softmax->getInput(), axis, isLowest);
    // The others become 0, which is not computed where nothing reads it.
    return extent && getNeeded(node, axis) == extent ? extent : std::nullopt;
  }
  auto *matmul = llvm::dyn_cast<MatMulNode>(&node);
  if (!matmul)
    return std::nullopt;
  NodeValue lhs = matmul->getLhs(), rhs = matmul->getRhs();
  auto extent = findMask(lhs, lhs.getType().getRank() - 1, isZero);
  // 0 times what is not a number would be none.
  bool isOfBoth =
      extent && findMask(rhs, rhs.getType().getRank() - 2, isZero) == extent;
  return isOfBoth ? extent : std::nullopt;
}

//===- Nodes --------------------------------------------------------------===//

/// What \p slice takes of its input.
static void limitSliced(const SliceNode &slice,
                        llvm::MutableArrayRef<std::optional<Extent>> own) {
  for (unsigned d = 0; d < own.size(); ++d)
    if (!own[d] && slice.getSteps()[d] == 1)
      own[d] = Extent(slice.getStarts()[d] + slice.getSizes()[d]);
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
  std::optional<Extent> keys = countKeys(attention);
  unsigned rank = extents.size();
  bool isOfKeys =
      index == AttentionNode::keyIdx || index == AttentionNode::valueIdx;
  if (keys && isOfKeys)
    extents[rank - 2] = keys;
  else if (keys && index == AttentionNode::maskIdx &&
           attention.getOperand(index).getShape().back() != 1)
    extents[rank - 1] = keys;
}

void NeededExtents::limitSummed(const Node &node, unsigned index,
                                Extents &extents) const {
  std::optional<Extent> summed = countSummed(node);
  if (!summed)
    return;
  bool isRhs = llvm::isa<MatMulNode>(node) && index == MatMulNode::rhsIdx;
  extents[extents.size() - (isRhs ? 2 : 1)] = summed;
}

void NeededExtents::limitUpdated(const DynamicUpdateSliceNode &update,
                                 unsigned index, Extents &extents) const {
  unsigned axis = unsigned(update.getAxis());
  int64_t size = update.getUpdate().getType().getDim(axis);
  std::optional<Extent> end = getNeeded(update, axis);
  std::optional<Extent> start = sums.find(update.getStart());
  if (!end || !start || index == update.startIdx)
    return;
  bool isClamped =
      !sums.isWithin(*start, 0, double(update.getType().getDim(axis) - size));
  std::optional<Extent> count = subtract(*end, *start);
  if (isClamped || !count || !sums.isWithin(*count, 0, double(size)))
    return;
  extents[axis] = index == update.inputIdx ? start : count;
}

void NeededExtents::limitSaved(const SaveNode &save, Extents &extents) const {
  auto *output = save.getOutput().getNodeAs<Placeholder>();
  for (auto [own, next] : llvm::zip(extents, output->getInputExtents().next))
    if (next)
      own = next;
}

/// The operand's elements behind one index of the first of joined dimensions
/// are as many as those behind some indices of the result's dimension.
void NeededExtents::limitJoined(const ReshapeNode &reshape,
                                Extents &extents) const {
  DimsRef from = reshape.getInput().getShape(), to = reshape.getShape();
  if (reshape.getType().getNumElements() == 0)
    return;
  for (unsigned d = 0; d < to.size(); ++d) {
    std::optional<Extent> extent = getNeeded(reshape, d);
    if (!extent)
      continue;
    int64_t size = countElements(to.drop_front(d + 1)), ownSize = 1;
    for (unsigned own = from.size(); own-- > 0; ownSize *= from[own])
      if (from[own] * ownSize == to[d] * size && ownSize % size == 0 &&
          from[own] != 1)
        extents[own] = divideUp(*extent, ownSize / size);
  }
}

std::optional<Extent> NeededExtents::findMost(NodeValue index) const {
  auto *min = index.getNodeAs<MinNode>();
  auto *max = index.getNodeAs<MaxNode>();
  if (!min && !max)
    return sums.find(index);
  NodeValue x = index.node->getOperand(0), y = index.node->getOperand(1);
  // An index into nothing is clamped to 0, and the element unspecified.
  if (max && (isZero(x) || isZero(y)))
    return findMost(isZero(x) ? y : x);
  std::optional<Extent> ofX = findMost(x), ofY = findMost(y);
  if (min)
    return ofX ? ofX : ofY;
  return ofX && ofY ? sums.findLarger(*ofX, *ofY) : std::nullopt;
}

void NeededExtents::limitGathered(const GatherNode &gather,
                                  Extents &extents) const {
  if (std::optional<Extent> most = findMost(gather.getIndices()))
    extents[unsigned(gather.getAxis())] = add(*most, 1);
}

void NeededExtents::limitMoved(const Node &node, unsigned index,
                               Extents &extents) const {
  auto *gather = llvm::dyn_cast<GatherNode>(&node);
  if (gather && index == GatherNode::inputIdx)
    limitGathered(*gather, extents);
  if (auto *reshape = llvm::dyn_cast<ReshapeNode>(&node))
    limitJoined(*reshape, extents);
  if (auto *slice = llvm::dyn_cast<SliceNode>(&node))
    limitSliced(*slice, extents);
  if (auto *update = llvm::dyn_cast<DynamicUpdateSliceNode>(&node))
    limitUpdated(*update, index, extents);
}

NeededExtents::Extents NeededExtents::findNeeded(const Node &node,
                                                 unsigned index) const {
  Extents extents = follow(node, index);
  limitMoved(node, index, extents);
  auto *select = llvm::dyn_cast<SelectNode>(&node);
  if (select && index == SelectNode::xIdx)
    limitSelected(*select, extents);
  if (auto *save = llvm::dyn_cast<SaveNode>(&node);
      save && index == SaveNode::inputIdx)
    limitSaved(*save, extents);
  limitKeys(node, index, extents);
  limitSummed(node, index, extents);
  // A condition may be true of more elements than there are, or of none.
  const Type &type = node.getOperand(index).getType();
  for (auto [d, extent] : llvm::enumerate(extents))
    if (extent && !sums.isWithin(*extent, 0, double(type.getDim(d))))
      extent.reset();
  return extents;
}

//===- Bounds of instructions ---------------------------------------------===//

/// Appends the bounds of operand \p index, of type \p type.
static void addBounds(std::vector<LoopBound> &bounds, unsigned index,
                      const Type &type,
                      llvm::ArrayRef<std::optional<Extent>> extents) {
  for (auto [d, extent] : llvm::enumerate(extents))
    if (extent && *extent != Extent(type.getDim(d)))
      bounds.push_back({index, unsigned(d), *extent});
}

std::vector<LoopBound> NeededExtents::getOperandBounds(const Node &node,
                                                       unsigned index,
                                                       unsigned number) const {
  std::vector<LoopBound> bounds;
  if (!needed.empty())
    addBounds(bounds, number, node.getOperand(index).getType(),
              findNeeded(node, index));
  return bounds;
}

std::vector<LoopBound> NeededExtents::getBounds(Node &node) const {
  std::vector<LoopBound> bounds;
  auto own = needed.find(NodeValue(&node));
  if (node.getNumResults() != 1 || own == needed.end())
    return bounds;
  addBounds(bounds, 0, node.getType(), own->second);
  if (llvm::isa<AttentionNode>(node)) {
    unsigned key = AttentionNode::keyIdx;
    unsigned dim = node.getOperand(key).getType().getRank() - 2;
    if (std::optional<Extent> keys = findNeeded(node, key)[dim])
      bounds.push_back({unsigned(node.getNumResults()) + key, dim, *keys});
  }
  if (std::optional<Extent> summed = countSummed(node))
    bounds.push_back({unsigned(node.getNumResults()),
                      node.getOperand(0).getType().getRank() - 1, *summed});
  return bounds;
}

bool NeededExtents::isNeededFrom(const Node &node, unsigned dim,
                                 int64_t first) const {
  std::optional<Extent> extent = getNeeded(node, dim);
  return !extent || !sums.isWithin(*extent, 0, double(first));
}

bool NeededExtents::isAlwaysTrue(const SelectNode &select) const {
  auto own = needed.find(NodeValue(const_cast<SelectNode *>(&select)));
  return own != needed.end() &&
         sums.isTrueWithin(select.getCondition(), own->second);
}
