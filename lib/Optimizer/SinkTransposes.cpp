//===- SinkTransposes.cpp - Transposes move down until they cancel --------===//
//
// Each rewrite takes a node that reads a transpose and makes the transpose of
// a node that reads the transpose's input. Transposes meet their inverses and
// cancel (canonicalize), or end at the model's edge.
//
//===----------------------------------------------------------------------===//

#include "ConstantTensors.h"
#include "Rewriter.h"

using namespace glowish;

using Permutation = std::vector<int64_t>;

static Permutation invert(llvm::ArrayRef<int64_t> permutation) {
  Permutation inverse(permutation.size());
  for (size_t d = 0; d < permutation.size(); ++d)
    inverse[permutation[d]] = d;
  return inverse;
}

/// List entries by result dimension become entries by input dimension.
static std::vector<int64_t> toInput(llvm::ArrayRef<int64_t> values,
                                    llvm::ArrayRef<int64_t> permutation) {
  std::vector<int64_t> moved(values.size());
  for (size_t d = 0; d < values.size(); ++d)
    moved[permutation[d]] = values[d];
  return moved;
}

//===- Element-wise nodes -------------------------------------------------===//

/// \p shape with dimensions of extent 1 in front, up to \p rank.
static Dims padShape(DimsRef shape, size_t rank) {
  Dims padded(rank - shape.size(), 1);
  llvm::append_range(padded, shape);
  return padded;
}

/// Whether transposing \p shape by \p permutation moves no elements.
static bool movesOnlyOnes(DimsRef shape, llvm::ArrayRef<int64_t> permutation) {
  int64_t last = -1;
  for (int64_t axis : permutation) {
    if (shape[axis] == 1)
      continue;
    if (axis < last)
      return false;
    last = axis;
  }
  return true;
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
         movesOnlyOnes(padShape(value.getShape(), permutation.size()),
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
  Node *moved = context.getFunction().create(root.getName(), std::move(draft));
  return context.transpose(moved->getResult(), permutation);
}

static NodeValue sinkThroughDropout(DropoutNode &root,
                                    RewriteContext &context) {
  auto *transpose = root.getInput().getNodeAs<TransposeNode>();
  if (!transpose)
    return {};
  return context.transpose(
      context.create<DropoutNode>(transpose->getInput(), root.getRatio()),
      transpose->getPermutation());
}

//===- Other nodes --------------------------------------------------------===//

static NodeValue sinkThroughConcat(ConcatNode &root, RewriteContext &context) {
  auto *first = root.getInputs()[0].getNodeAs<TransposeNode>();
  if (!first)
    return {};
  Permutation permutation = first->getPermutation().vec();
  llvm::SmallVector<NodeValue, 4> inputs;
  for (NodeValue value : root.getInputs()) {
    auto *transpose = value.getNodeAs<TransposeNode>();
    if (!transpose ||
        transpose->getPermutation() != llvm::ArrayRef<int64_t>(permutation))
      return {};
    inputs.push_back(transpose->getInput());
  }
  return context.transpose(
      context.create<ConcatNode>(inputs, permutation[root.getAxis()]),
      permutation);
}

static NodeValue sinkThroughSlice(SliceNode &root, RewriteContext &context) {
  auto *transpose = root.getInput().getNodeAs<TransposeNode>();
  if (!transpose)
    return {};
  Permutation permutation = transpose->getPermutation().vec();
  NodeValue moved = context.create<SliceNode>(
      transpose->getInput(), toInput(root.getStarts(), permutation),
      toInput(root.getSizes(), permutation),
      toInput(root.getSteps(), permutation));
  return context.transpose(moved, permutation);
}

static NodeValue sinkThroughPad(PadNode &root, RewriteContext &context) {
  auto *transpose = root.getInput().getNodeAs<TransposeNode>();
  if (!transpose)
    return {};
  Permutation permutation = transpose->getPermutation().vec();
  size_t rank = permutation.size();
  std::vector<int64_t> pads =
      toInput(root.getPads().take_front(rank), permutation);
  llvm::append_range(pads,
                     toInput(root.getPads().drop_front(rank), permutation));
  NodeValue moved = context.create<PadNode>(transpose->getInput(), pads,
                                            root.getMode(), root.getValue());
  return context.transpose(moved, permutation);
}

static NodeValue sinkThroughReduce(ReduceNode &root, RewriteContext &context) {
  auto *transpose = root.getInput().getNodeAs<TransposeNode>();
  if (!transpose)
    return {};
  Permutation permutation = transpose->getPermutation().vec();
  std::vector<int64_t> axes;
  for (int64_t axis : root.getAxes())
    axes.push_back(permutation[axis]);
  llvm::sort(axes);
  NodeValue moved = context.create<ReduceNode>(
      transpose->getInput(), root.getMode(), axes, root.getKeepDims());
  if (root.getKeepDims())
    return context.transpose(moved, permutation);
  // The dimensions that are left keep their order.
  Permutation rest;
  for (size_t d = 0; d < permutation.size(); ++d) {
    if (llvm::is_contained(root.getAxes(), int64_t(d)))
      continue;
    int64_t before = llvm::count_if(
        axes, [&](int64_t axis) { return axis < permutation[d]; });
    rest.push_back(permutation[d] - before);
  }
  return context.transpose(moved, rest);
}

/// Nodes with one `axis` that keep the shape of their first operand.
template <typename T>
static NodeValue sinkThroughAxis(T &root, RewriteContext &context) {
  auto *transpose = root.getOperand(0).template getNodeAs<TransposeNode>();
  if (!transpose)
    return {};
  Permutation permutation = transpose->getPermutation().vec();
  // Lowering puts a softmax's dimension last, between transposes: not back.
  int64_t last = int64_t(permutation.size()) - 1;
  if (std::is_same_v<T, SoftmaxNode> && root.getAxis() == last &&
      permutation[last] != last)
    return {};
  NodeDraft draft = root.getDraft();
  draft.operands[0] = transpose->getInput();
  draft.attrs[T::axisAttr] = permutation[root.getAxis()];
  Node *moved = context.getFunction().create(root.getName(), std::move(draft));
  return context.transpose(moved->getResult(), permutation);
}

/// The first dimension, that of images, stays. With an epilogue the lowering
/// has put the channels last, between transposes: not back.
static NodeValue sinkThroughGroupNormalization(GroupNormalizationNode &root,
                                               RewriteContext &context) {
  auto *transpose = root.getInput().getNodeAs<TransposeNode>();
  if (!transpose || transpose->getPermutation().front() != 0 ||
      !root.getEpilogue().empty() || !root.getFused().empty())
    return {};
  return sinkThroughAxis(root, context);
}

//===- Reshapes -----------------------------------------------------------===//

/// For each dimension of the longer shape, the dimension of the shorter one
/// that it is a part of; none where dimensions are not simply split.
static std::optional<std::vector<unsigned>> groupDims(DimsRef longer,
                                                      DimsRef shorter) {
  std::vector<unsigned> groups;
  unsigned group = 0;
  int64_t product = 1;
  for (int64_t dim : longer) {
    while (group < shorter.size() && product == shorter[group] && dim != 1) {
      ++group;
      product = 1;
    }
    if (group == shorter.size())
      return std::nullopt;
    product *= dim;
    if (product > shorter[group] || dim == 0)
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

/// A matrix product with constant weights does not care in which order the
/// elements of a row come: flattened images need no transpose, the rows of the
/// weights are permuted instead.
static NodeValue absorbFlatten(MatMulNode &root, RewriteContext &context) {
  auto *flatten = root.getLhs().getNodeAs<ReshapeNode>();
  auto *transpose =
      flatten ? flatten->getInput().getNodeAs<TransposeNode>() : nullptr;
  DimsRef weights = root.getRhs().getShape();
  if (!transpose || !getConstantTensor(root.getRhs()) || weights.size() != 2 ||
      flatten->getType().getRank() != 2 ||
      transpose->getPermutation().front() != 0 ||
      flatten->getType().getDim(0) != transpose->getType().getDim(0))
    return {};
  Dims rows(transpose->getType().getShape().drop_front());
  rows.push_back(weights[1]);
  // Dimension i of the weights' rows is dimension i + 1 of the transpose.
  Permutation inverse = invert(transpose->getPermutation()), order;
  for (int64_t axis : llvm::drop_begin(inverse))
    order.push_back(axis - 1);
  order.push_back(rows.size() - 1);
  NodeValue permuted =
      context.transpose(context.reshape(root.getRhs(), rows), order);
  NodeDraft draft = root.getDraft();
  draft.operands[MatMulNode::lhsIdx] =
      context.reshape(transpose->getInput(), flatten->getType().getShape());
  draft.operands[MatMulNode::rhsIdx] = context.reshape(permuted, weights);
  return context.getFunction()
      .create(root.getName(), std::move(draft))
      ->getResult();
}

llvm::Expected<bool> glowish::sinkTransposes(Function &function,
                                             const GraphPassContext &context) {
  static const RewriteSet set = [] {
    RewriteSet rewrites;
    rewrites.addElementWise(sinkThroughElementWise);
    rewrites.add<sinkThroughDropout>(NodeKind::Dropout);
    rewrites.add<sinkThroughConcat>(NodeKind::Concat);
    rewrites.add<sinkThroughSlice>(NodeKind::Slice);
    rewrites.add<sinkThroughPad>(NodeKind::Pad);
    rewrites.add<sinkThroughReduce>(NodeKind::Reduce);
    rewrites.add<sinkThroughAxis<SoftmaxNode>>(NodeKind::Softmax);
    rewrites.add<sinkThroughAxis<LogSoftmaxNode>>(NodeKind::LogSoftmax);
    rewrites.add<sinkThroughAxis<BatchNormalizationNode>>(
        NodeKind::BatchNormalization);
    rewrites.add<sinkThroughGroupNormalization>(NodeKind::GroupNormalization);
    rewrites.add<sinkThroughOnes>(NodeKind::Reshape);
    rewrites.add<sinkThroughSplit>(NodeKind::Reshape);
    rewrites.add<sinkThroughMerge>(NodeKind::Reshape);
    rewrites.add<joinThroughMerge>(NodeKind::Transpose);
    rewrites.add<absorbFlatten>(NodeKind::MatMul);
    return rewrites;
  }();
  return applyRewrites(function, set, context);
}
