//===- ChannelShuffles.cpp - Channel shuffles go into weights -------------===//
//
// A channel shuffle splits the channels into groups and transposes these. It
// moves behind depthwise convolutions, pools and reductions of whole images; a
// convolution of one group, before or after it, permutes its weights instead.
// (Behind element-wise nodes the reshapes and transposes go by themselves.)
//
//===----------------------------------------------------------------------===//

#include "Util/ConstantTensors.h"
#include "Util/Permutations.h"
#include "Util/Rewriter.h"
#include <cstring>

using namespace glowish;

/// The most nodes between a shuffle and a convolution before it.
static constexpr unsigned maxDepth = 16;

namespace {

/// Channel c is channel from[c] of `input`.
struct Shuffle {
  NodeValue input;
  std::vector<int64_t> from;
  /// How the channels are split, and the order of these dimensions.
  Dims split;
  std::vector<int64_t> order;
};

} // namespace

//===- Shuffles -----------------------------------------------------------===//

/// The channels of \p shuffle, from its split and order.
static void fillFrom(Shuffle &shuffle) {
  Dims strides = getDenseStrides(shuffle.split);
  shuffle.from = {0};
  for (int64_t axis : shuffle.order) {
    std::vector<int64_t> longer;
    for (int64_t channel : shuffle.from)
      for (int64_t i = 0; i < shuffle.split[axis]; ++i)
        longer.push_back(channel + i * strides[axis]);
    shuffle.from = std::move(longer);
  }
}

/// The shuffle that \p value, images with their channels last, is.
static std::optional<Shuffle> matchShuffle(NodeValue value) {
  auto *merge = value.getNodeAs<ReshapeNode>();
  auto *transpose =
      merge ? merge->getInput().getNodeAs<TransposeNode>() : nullptr;
  auto *split =
      transpose ? transpose->getInput().getNodeAs<ReshapeNode>() : nullptr;
  const Type &type = value.getType();
  if (!split || type.getRank() != 4 || type.getNumElements() == 0 ||
      type.isQuantized() || split->getInput().getShape() != type.getShape())
    return std::nullopt;
  DimsRef dims = split->getType().getShape();
  auto permutation = transpose->getPermutation();
  int64_t rank = dims.size(), first = rank, channels = 1;
  while (first > 0 && channels != type.getShape().back())
    channels *= dims[--first];
  if (channels != type.getShape().back())
    return std::nullopt;
  for (int64_t d = 0; d < first; ++d)
    if (permutation[d] != d)
      return std::nullopt;
  Shuffle shuffle;
  shuffle.input = split->getInput();
  shuffle.split = Dims(dims.drop_front(first));
  for (int64_t axis : permutation.drop_front(first))
    shuffle.order.push_back(axis - first);
  fillFrom(shuffle);
  return shuffle;
}

/// \p value with its channels in the order of \p shuffle.
static NodeValue makeShuffle(NodeValue value, const Shuffle &shuffle,
                             RewriteContext &context) {
  Dims split(value.getShape().drop_back());
  std::vector<int64_t> permutation = {0, 1, 2};
  llvm::append_range(split, shuffle.split);
  for (int64_t axis : shuffle.order)
    permutation.push_back(axis + 3);
  NodeValue moved =
      context.transpose(context.reshape(value, split), permutation);
  return context.reshape(moved, value.getShape());
}

/// \p constant with element order[i] of dimension \p axis at i.
static NodeValue permuteConstant(NodeValue constant, int64_t axis,
                                 llvm::ArrayRef<int64_t> order,
                                 RewriteContext &context) {
  const Tensor &tensor = *getConstantTensor(constant);
  Tensor permuted(tensor.getType());
  DimsRef shape = constant.getShape();
  size_t inner = getElemSize(tensor.getType().getKind());
  for (int64_t dim : shape.drop_front(axis + 1))
    inner *= dim;
  size_t outer = countElements(shape.take_front(axis));
  auto *target = static_cast<char *>(permuted.getBytes());
  auto *source = static_cast<const char *>(tensor.getBytes());
  for (size_t o = 0; o < outer; ++o)
    for (int64_t from : order) {
      std::memcpy(target, source + (o * order.size() + from) * inner, inner);
      target += inner;
    }
  return context.createConstant(std::move(permuted));
}

//===- Convolutions -------------------------------------------------------===//

/// Whether the filter and the bias of \p node are constants that it alone
/// reads, so that permuted ones can take their place.
static bool hasOwnConstants(ConvolutionNode &node) {
  NodeValue bias = node.getBias();
  return getConstantTensor(node.getFilter()) && node.getFilter().hasOneUse() &&
         (!bias || getConstantTensor(bias));
}

static bool isDepthwise(ConvolutionNode &node) {
  int64_t channels = node.getType().getShape().back();
  return node.getGroup() == channels &&
         node.getInput().getShape().back() == channels;
}

/// \p node of another input, with its result's channels in another order.
static NodeValue permuteResult(ConvolutionNode &node, NodeValue input,
                               llvm::ArrayRef<int64_t> order,
                               RewriteContext &context) {
  NodeDraft draft = node.getDraft();
  draft.operands[ConvolutionNode::inputIdx] = input;
  draft.operands[ConvolutionNode::filterIdx] =
      permuteConstant(node.getFilter(), 0, order, context);
  if (NodeValue bias = node.getBias())
    draft.operands[ConvolutionNode::biasIdx] =
        permuteConstant(bias, 0, order, context);
  return context.recreate(node, std::move(draft));
}

/// A shuffled image before a convolution.
static NodeValue sinkIntoConvolution(ConvolutionNode &root,
                                     RewriteContext &context) {
  NodeValue input = root.getInput();
  if (!input.hasOneUse() || !hasOwnConstants(root) ||
      (root.getGroup() != 1 && !isDepthwise(root)))
    return {};
  std::optional<Shuffle> shuffle = matchShuffle(input);
  if (!shuffle)
    return {};
  std::vector<int64_t> order = invert(shuffle->from);
  if (isDepthwise(root))
    return makeShuffle(permuteResult(root, shuffle->input, order, context),
                       *shuffle, context);
  NodeDraft draft = root.getDraft();
  draft.operands[ConvolutionNode::inputIdx] = shuffle->input;
  draft.operands[ConvolutionNode::filterIdx] =
      permuteConstant(root.getFilter(), 3, order, context);
  return context.recreate(root, std::move(draft));
}

//===- Nodes that treat each channel by itself ----------------------------===//

/// A shuffled image before a node whose channels follow those of the image, and
/// nothing else.
static NodeValue sinkThroughChannels(Node &root, RewriteContext &context) {
  NodeValue input = root.getOperand(0);
  if (!input.hasOneUse() || root.getNumResults() != 1 ||
      root.getType().getRank() != 4)
    return {};
  std::optional<OperandAxes> axes = followAxis(root, /*dim=*/3);
  if (!axes || axes->size() != 1 || !axes->front() || axes->front()->dim != 3 ||
      !axes->front()->isPointwise())
    return {};
  std::optional<Shuffle> shuffle = matchShuffle(input);
  if (!shuffle)
    return {};
  NodeDraft draft = root.getDraft();
  draft.operands[0] = shuffle->input;
  return makeShuffle(context.recreate(root, std::move(draft)), *shuffle,
                     context);
}

//===- The convolution before ---------------------------------------------===//

/// Whether the channels of \p value, of which there are \p count, can come in
/// another order because of other constants.
static bool canPermute(NodeValue value, int64_t count, unsigned depth = 0) {
  if (value.getType().isQuantized() || depth == maxDepth)
    return false;
  if (getConstantTensor(value))
    return value.getShape().empty() || value.getShape().back() == 1 ||
           value.getShape().back() == count;
  if (!value.hasOneUse() || value.getShape().size() != 4 ||
      value.getShape().back() != count)
    return false;
  if (auto *convolution = value.getNodeAs<ConvolutionNode>())
    return hasOwnConstants(*convolution) &&
           (convolution->getGroup() == 1 ||
            (isDepthwise(*convolution) &&
             canPermute(convolution->getInput(), count, depth + 1)));
  return isElementWise(*value.node) &&
         llvm::all_of(value.node->getOperands(), [&](NodeValue operand) {
           return canPermute(operand, count, depth + 1);
         });
}

static NodeValue permute(NodeValue value, llvm::ArrayRef<int64_t> order,
                         RewriteContext &context) {
  if (getConstantTensor(value)) {
    DimsRef shape = value.getShape();
    if (shape.empty() || shape.back() == 1)
      return value;
    return permuteConstant(value, int64_t(shape.size()) - 1, order, context);
  }
  if (auto *convolution = value.getNodeAs<ConvolutionNode>()) {
    NodeValue input = convolution->getInput();
    if (convolution->getGroup() != 1)
      input = permute(input, order, context);
    return permuteResult(*convolution, input, order, context);
  }
  NodeDraft draft = value.node->getDraft();
  for (NodeValue &operand : draft.operands)
    operand = permute(operand, order, context);
  return context.recreate(*value.node, std::move(draft));
}

/// A shuffle of what convolutions of one group make.
static NodeValue shuffleWeights(ReshapeNode &root, RewriteContext &context) {
  std::optional<Shuffle> shuffle = matchShuffle(root.getResult());
  // The reshapes and the transpose must have no other readers either.
  if (!shuffle || !root.getInput().hasOneUse() ||
      !root.getInput().node->getOperand(0).hasOneUse() ||
      !canPermute(shuffle->input, shuffle->from.size()))
    return {};
  return permute(shuffle->input, shuffle->from, context);
}

llvm::Expected<bool> glowish::sinkShuffles(Function &function,
                                           const GraphPassContext &context) {
  return applyRewrites(function, context, [](RewriteSet &rewrites) {
    rewrites.add<shuffleWeights>(NodeKind::Reshape);
    rewrites.add<sinkIntoConvolution>(NodeKind::Convolution);
    // sink-reshapes and sink-transposes do this for element-wise nodes.
    rewrites.addWhere<sinkThroughChannels>([](const OpInfo &info) {
      return info.followAxis && info.operands.size() == 1 && !info.scalarOp &&
             !info.has(OpTrait::StaticDataMovement);
    });
  });
}
