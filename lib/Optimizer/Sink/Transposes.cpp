//===- Transposes.cpp - Transposes move down until they cancel ------------===//
//
// Each rewrite takes a node that reads a transpose and makes the transpose of
// a node that reads the transpose's input. Transposes meet their inverses and
// cancel (canonicalize), or end at the model's edge.
//
//===----------------------------------------------------------------------===//

#include "Util/ConstantTensors.h"
#include "Util/Permutations.h"
#include "Util/Rewriter.h"

using namespace glowish;

//===- Element-wise nodes -------------------------------------------------===//

/// \p shape with dimensions of extent 1 in front, up to \p rank.
static Dims padShape(DimsRef shape, size_t rank) {
  Dims padded(rank - shape.size(), 1);
  llvm::append_range(padded, shape);
  return padded;
}

/// Whether \p value, an operand beside transposes of \p permutation, can be had
/// as it is before the transpose without another transpose at run time.
static bool canUntranspose(NodeValue value, const Permutation &permutation) {
  auto *transpose = value.getNodeAs<TransposeNode>();
  if (transpose &&
      transpose->getPermutation() == llvm::ArrayRef<int64_t>(permutation))
    return true;
  if (value.getType().getNumElements() == 1 || isConstantOrSplat(value))
    return true;
  // Cosines beside heads that were brought in front of positions. A reshape
  // keeps no scales.
  return !value.getType().isQuantized() &&
         movesNoElements(padShape(value.getShape(), permutation.size()),
                         invert(permutation));
}

/// \p value as it is before the transpose.
static NodeValue untranspose(NodeValue value, const Permutation &permutation,
                             RewriteContext &context) {
  if (auto *transpose = value.getNodeAs<TransposeNode>())
    if (transpose->getPermutation() == llvm::ArrayRef<int64_t>(permutation))
      return transpose->getInput();
  if (value.getType().getNumElements() == 1 &&
      value.getShape().size() <= permutation.size())
    return value;
  Dims shape = padShape(value.getShape(), permutation.size());
  Permutation inverse = invert(permutation);
  if (isConstantOrSplat(value))
    return context.transpose(context.reshape(value, shape), inverse);
  Dims moved;
  for (int64_t axis : inverse)
    moved.push_back(shape[axis]);
  return context.reshape(value, moved);
}

static NodeValue sinkThroughElementWise(Node &root, RewriteContext &context) {
  TransposeNode *first = nullptr;
  unsigned rank = root.getType().getRank();
  for (NodeValue value : root.getOperands()) {
    auto *transpose = value.getNodeAs<TransposeNode>();
    // That of a constant is folded. Where it is not, sinking it would put
    // another one on the constants beside it, and so on.
    if (!first && transpose && transpose->getType().getRank() == rank &&
        !isConstantOrSplat(transpose->getInput()))
      first = transpose;
  }
  if (!first)
    return {};
  Permutation permutation = first->getPermutation().vec();
  // Look before anything is made.
  for (NodeValue value : root.getOperands())
    if (!canUntranspose(value, permutation))
      return {};
  NodeDraft draft = root.getDraft();
  for (NodeValue &value : draft.operands)
    value = untranspose(value, permutation, context);
  return context.transpose(context.recreate(root, std::move(draft)),
                           permutation);
}

//===- Nodes that name their dimensions -----------------------------------===//

/// \p value, an attribute of a node whose operands were transposed by
/// \p permutation, for the operands as they are before.
static void untransposeAttr(AttrValue &value, AxisRole role,
                            const Permutation &permutation) {
  auto *list = std::get_if<std::vector<int64_t>>(&value);
  switch (role) {
  case AxisRole::None:
    return;
  case AxisRole::Axis: {
    auto &axis = std::get<int64_t>(value);
    axis = permutation[axis];
    return;
  }
  case AxisRole::AxisList:
    for (int64_t &axis : *list)
      axis = permutation[axis];
    llvm::sort(*list);
    return;
  case AxisRole::PerAxis:
  case AxisRole::ResultExtents:
    *list = moveToOperand(*list, permutation);
    return;
  case AxisRole::PerAxisPads: {
    size_t rank = permutation.size();
    llvm::ArrayRef<int64_t> pads = *list;
    std::vector<int64_t> moved =
        moveToOperand(pads.take_front(rank), permutation);
    llvm::append_range(moved,
                       moveToOperand(pads.drop_front(rank), permutation));
    *list = moved;
    return;
  }
  case AxisRole::ImagePads:
    llvm_unreachable("images have fixed dimensions");
  }
}

/// The permutation of \p moved's result that gives that of \p root, whose
/// operands are transposed by \p permutation. Dimensions that the result does
/// not have are those of the AxisList attribute.
static Permutation getResultPermutation(const Node &root, const Node &moved,
                                        const Permutation &permutation) {
  if (root.getType().getRank() == permutation.size())
    return permutation;
  auto getRemoved = [](const Node &node) {
    for (auto [attr, value] :
         llvm::zip_equal(node.getInfo().attrs, node.getAttrs()))
      if (attr.axes == AxisRole::AxisList)
        return std::get<std::vector<int64_t>>(value);
    llvm_unreachable("a node without that keeps all dimensions");
  };
  std::vector<int64_t> before = getRemoved(moved), after = getRemoved(root);
  Permutation rest;
  for (size_t d = 0; d < permutation.size(); ++d) {
    if (llvm::is_contained(after, int64_t(d)))
      continue;
    rest.push_back(permutation[d] - llvm::count_if(before, [&](int64_t axis) {
                     return axis < permutation[d];
                   }));
  }
  return rest;
}

/// The permutation by which all operands of \p root with dimensions of their
/// own are transposed; null if they are not.
static std::optional<Permutation> findPermutation(const Node &root) {
  std::optional<Permutation> permutation;
  for (unsigned i = 0; i < root.getNumOperands(); ++i) {
    if (!root.getInfo().getOperandInfo(i).hasAxes)
      continue;
    auto *transpose = root.getOperand(i).getNodeAs<TransposeNode>();
    if (!transpose || (permutation && transpose->getPermutation() !=
                                          llvm::ArrayRef(*permutation)))
      return std::nullopt;
    permutation = transpose->getPermutation().vec();
  }
  return permutation;
}

/// For nodes with PermutesAxes, whose attributes name dimensions.
static NodeValue sinkThroughAxes(Node &root, RewriteContext &context) {
  const OpInfo &info = root.getInfo();
  std::optional<Permutation> permutation = findPermutation(root);
  if (!permutation || llvm::any_of(info.fixedDims, [&](int64_t d) {
        return (*permutation)[d] != d;
      }))
    return {};
  NodeDraft draft = root.getDraft();
  for (unsigned i = 0; i < draft.operands.size(); ++i)
    if (info.getOperandInfo(i).hasAxes)
      draft.operands[i] =
          draft.operands[i].getNodeAs<TransposeNode>()->getInput();
  for (auto [attr, value] : llvm::zip_equal(info.attrs, draft.attrs))
    untransposeAttr(value, attr.axes, *permutation);
  // Lowering has put dimensions where the instruction can compute them.
  if (hasInstr(root) && !hasInstr(draft))
    return {};
  NodeValue moved = context.recreate(root, std::move(draft));
  return context.transpose(
      moved, getResultPermutation(root, *moved.node, *permutation));
}

//===- Reshapes -----------------------------------------------------------===//

/// For each dimension of the longer shape, the dimension of the shorter one
/// that it is a part of; none where dimensions are not simply split.
static std::optional<std::vector<unsigned>> groupDims(DimsRef longer,
                                                      DimsRef shorter) {
  std::vector<unsigned> groups;
  unsigned group = 0;
  int64_t extent = 1;
  for (int64_t dim : longer) {
    while (group < shorter.size() && extent == shorter[group] && dim != 1) {
      ++group;
      extent = 1;
    }
    if (group == shorter.size())
      return std::nullopt;
    extent *= dim;
    if (extent > shorter[group] || dim == 0)
      return std::nullopt;
    groups.push_back(group);
  }
  // Each dimension of the shorter shape must have its part.
  for (unsigned g = 0; g < shorter.size(); ++g)
    if (!llvm::is_contained(groups, g))
      return std::nullopt;
  for (unsigned g = 0; g < shorter.size(); ++g) {
    int64_t whole = 1;
    for (size_t d = 0; d < longer.size(); ++d)
      if (groups[d] == g)
        whole *= longer[d];
    if (whole != shorter[g])
      return std::nullopt;
  }
  return groups;
}

/// A reshape that adds or removes dimensions of extent 1 does so before a
/// transpose, and puts those that it leaves in front: images of height 1. Those
/// at the end stay there: values that are stacked along a new last dimension.
static NodeValue sinkThroughOnes(ReshapeNode &root, RewriteContext &context) {
  auto *transpose = root.getInput().getNodeAs<TransposeNode>();
  if (!transpose || root.getType().getNumElements() == 0)
    return {};
  auto getOthers = [](DimsRef shape) {
    std::vector<int64_t> others;
    for (size_t d = 0; d < shape.size(); ++d)
      if (shape[d] != 1)
        others.push_back(d);
    return others;
  };
  DimsRef shape = root.getType().getShape();
  DimsRef between = transpose->getType().getShape();
  std::vector<int64_t> now = getOthers(shape), before = getOthers(between);
  auto isSame = [&](int64_t a, int64_t b) { return shape[a] == between[b]; };
  if (!std::equal(now.begin(), now.end(), before.begin(), before.end(), isSame))
    return {};
  Permutation permutation(shape.size(), -1);
  size_t end = now.empty() ? 0 : now.back() + 1;
  Dims moved(end - now.size(), 1);
  int64_t numOnes = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] == 1)
      permutation[d] = d < end ? numOnes++ : d;
  // The others, in the order that they have before the transpose.
  for (int64_t axis : invert(transpose->getPermutation()))
    for (auto [a, b] : llvm::zip_equal(now, before))
      if (b == axis) {
        permutation[a] = moved.size();
        moved.push_back(shape[a]);
      }
  moved.resize(shape.size(), 1);
  return context.transpose(context.reshape(transpose->getInput(), moved),
                           permutation);
}

/// A reshape that splits dimensions of a transposed value splits those of the
/// value instead: channel shuffles.
static NodeValue sinkThroughSplit(ReshapeNode &root, RewriteContext &context) {
  auto *transpose = root.getInput().getNodeAs<TransposeNode>();
  DimsRef shape = root.getType().getShape();
  if (!transpose || shape.size() <= transpose->getType().getRank())
    return {};
  auto groups = groupDims(shape, transpose->getType().getShape());
  if (!groups)
    return {};
  Permutation inverse = invert(transpose->getPermutation());
  Dims split;
  std::vector<int64_t> position(shape.size());
  for (int64_t outer : inverse)
    for (size_t d = 0; d < shape.size(); ++d)
      if ((*groups)[d] == outer) {
        position[d] = split.size();
        split.push_back(shape[d]);
      }
  return context.transpose(context.reshape(transpose->getInput(), split),
                           position);
}

/// A reshape that joins dimensions which a transpose has kept together joins
/// them before the transpose.
static NodeValue sinkThroughMerge(ReshapeNode &root, RewriteContext &context) {
  auto *transpose = root.getInput().getNodeAs<TransposeNode>();
  DimsRef shape = root.getType().getShape();
  if (!transpose || shape.size() >= transpose->getType().getRank() ||
      root.getType().isQuantized())
    return {};
  auto groups = groupDims(transpose->getType().getShape(), shape);
  if (!groups)
    return {};
  // The groups in the order that they have before the transpose, where the
  // dimensions of each must be neighbours and in order.
  Permutation inverse = invert(transpose->getPermutation()), order;
  for (size_t d = 0; d < inverse.size(); ++d) {
    int64_t group = (*groups)[inverse[d]];
    if (d == 0 || group != int64_t((*groups)[inverse[d - 1]]))
      order.push_back(group);
    else if (inverse[d] != inverse[d - 1] + 1)
      return {};
  }
  if (order.size() != shape.size())
    return {};
  Dims joined;
  for (int64_t group : order)
    joined.push_back(shape[group]);
  return context.transpose(context.reshape(transpose->getInput(), joined),
                           invert(order));
}

/// A transpose of joined dimensions moves the dimensions themselves, where they
/// have been moved before: one transpose in place of two, as where a pixel
/// shuffle is followed by an image with its channels last.
static NodeValue joinThroughMerge(TransposeNode &root,
                                  RewriteContext &context) {
  auto *merge = root.getInput().getNodeAs<ReshapeNode>();
  auto *inner = merge ? merge->getInput().getNodeAs<TransposeNode>() : nullptr;
  if (!inner || merge->getType().getRank() >= inner->getType().getRank())
    return {};
  auto groups =
      groupDims(inner->getType().getShape(), merge->getType().getShape());
  if (!groups)
    return {};
  Permutation joined;
  for (int64_t group : root.getPermutation())
    for (size_t d = 0; d < groups->size(); ++d)
      if ((*groups)[d] == group)
        joined.push_back(inner->getPermutation()[d]);
  return context.reshape(context.transpose(inner->getInput(), joined),
                         root.getType().getShape());
}

/// A matrix product with constant weights is invariant under permutations of
/// the reduced dimension: in place of the transpose of a flattened image, the
/// rows of the weights are permuted.
static NodeValue absorbFlatten(Node &root, RewriteContext &context) {
  constexpr unsigned inputIdx = FullyConnectedNode::inputIdx;
  constexpr unsigned weightsIdx = FullyConnectedNode::weightsIdx;
  static_assert(MatMulNode::lhsIdx == inputIdx &&
                MatMulNode::rhsIdx == weightsIdx);
  NodeValue matrix = root.getOperand(weightsIdx);
  auto *flatten = root.getOperand(inputIdx).getNodeAs<ReshapeNode>();
  auto *transpose =
      flatten ? flatten->getInput().getNodeAs<TransposeNode>() : nullptr;
  DimsRef weights = matrix.getShape();
  if (!transpose || !getConstantTensor(matrix) || weights.size() != 2 ||
      flatten->getType().getRank() != 2 ||
      transpose->getPermutation().front() != 0 ||
      flatten->getType().getDim(0) != transpose->getType().getDim(0))
    return {};
  Dims rows(transpose->getType().getShape().drop_front());
  // Images of a batch of 0 may be flattened otherwise.
  if (countElements(rows) != weights[0])
    return {};
  rows.push_back(weights[1]);
  // Dimension i of the weights' rows is dimension i + 1 of the transpose.
  Permutation inverse = invert(transpose->getPermutation()), order;
  for (int64_t axis : llvm::drop_begin(inverse))
    order.push_back(axis - 1);
  order.push_back(rows.size() - 1);
  NodeValue permuted = context.transpose(context.reshape(matrix, rows), order);
  NodeDraft draft = root.getDraft();
  draft.operands[inputIdx] =
      context.reshape(transpose->getInput(), flatten->getType().getShape());
  draft.operands[weightsIdx] = context.reshape(permuted, weights);
  return context.recreate(root, std::move(draft));
}

llvm::Expected<bool> glowish::sinkTransposes(Function &function,
                                             const GraphPassContext &context) {
  return applyRewrites(function, context, [](RewriteSet &rewrites) {
    rewrites.addElementWise<sinkThroughElementWise>();
    rewrites.addWhere<sinkThroughAxes>([](const OpInfo &info) {
      return info.has(OpTrait::PermutesAxes) && !info.scalarOp;
    });
    rewrites.add<sinkThroughOnes>(NodeKind::Reshape);
    rewrites.add<sinkThroughSplit>(NodeKind::Reshape);
    rewrites.add<sinkThroughMerge>(NodeKind::Reshape);
    rewrites.add<joinThroughMerge>(NodeKind::Transpose);
    rewrites.add<absorbFlatten>(NodeKind::FullyConnected);
    rewrites.add<absorbFlatten>(NodeKind::MatMul);
  });
}
