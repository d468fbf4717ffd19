//===- Arithmetic.cpp - Constant factors move into weights ----------------===//

#include "Util/ConstantTensors.h"
#include "Util/Rewriter.h"
#include <cmath>

using namespace glowish;

/// The convolution behind \p value, if its weights are constants and nothing
/// else reads its result.
static ConvolutionNode *getFoldable(NodeValue value) {
  auto *convolution = value.getNodeAs<ConvolutionNode>();
  if (!convolution || !value.hasOneUse() ||
      !getConstantTensor(convolution->getFilter()) ||
      (convolution->getBias() && !getConstantTensor(convolution->getBias())))
    return nullptr;
  return convolution;
}

/// The convolution with result * scale + shift, both one value a channel.
/// Computed in double and rounded once.
static NodeValue scaleConvolution(ConvolutionNode &node,
                                  llvm::ArrayRef<double> scale,
                                  llvm::ArrayRef<double> shift,
                                  RewriteContext &context) {
  const Tensor &filter = *getConstantTensor(node.getFilter());
  const Tensor *bias = getConstantTensor(node.getBias());
  Tensor newFilter(filter.getType());
  int64_t channels = scale.size();
  int64_t perChannel = filter.getNumElements() / std::max<int64_t>(channels, 1);
  for (int64_t i = 0; i < filter.getNumElements(); ++i)
    newFilter.setFromDouble(i, filter.getAsDouble(i) * scale[i / perChannel]);
  Tensor newBias(Type(filter.getType().getKind(), {channels}));
  for (int64_t c = 0; c < channels; ++c)
    newBias.setFromDouble(c, (bias ? bias->getAsDouble(c) : 0) * scale[c] +
                                 shift[c]);
  NodeDraft draft = node.getDraft();
  draft.operands[ConvolutionNode::filterIdx] =
      context.createConstant(std::move(newFilter));
  draft.operands[ConvolutionNode::biasIdx] =
      context.createConstant(std::move(newBias));
  return context.recreate(node, std::move(draft));
}

namespace {
/// y = x * scale + shift, one value a channel.
struct Affine {
  std::vector<double> scale, shift;
};
} // namespace

static std::optional<Affine> getAffine(BatchNormalizationNode &node) {
  int64_t channels = node.getScale().getShape()[0];
  auto scale = getChannelValues(node.getScale(), channels);
  auto bias = getChannelValues(node.getBias(), channels);
  auto mean = getChannelValues(node.getMean(), channels);
  auto variance = getChannelValues(node.getVariance(), channels);
  if (!scale || !bias || !mean || !variance)
    return std::nullopt;
  Affine affine;
  for (int64_t c = 0; c < channels; ++c) {
    double factor = (*scale)[c] / std::sqrt((*variance)[c] + node.getEpsilon());
    affine.scale.push_back(factor);
    affine.shift.push_back((*bias)[c] - (*mean)[c] * factor);
  }
  return affine;
}

static NodeValue foldBatchNorm(BatchNormalizationNode &root,
                               RewriteContext &context) {
  std::optional<Affine> affine = getAffine(root);
  if (!affine)
    return {};
  NodeValue input = root.getInput();
  unsigned rank = input.getShape().size();
  ConvolutionNode *convolution = getFoldable(input);
  if (convolution && root.getAxis() + 1 == int64_t(rank))
    return scaleConvolution(*convolution, affine->scale, affine->shift,
                            context);
  // One multiplication and one addition, with the constants along the axis.
  Dims shape(rank - root.getAxis(), 1);
  shape[0] = affine->scale.size();
  Type type(input.getElemKind(), shape);
  Tensor scale(type), shift(type);
  for (size_t c = 0; c < affine->scale.size(); ++c) {
    scale.setFromDouble(c, affine->scale[c]);
    shift.setFromDouble(c, affine->shift[c]);
  }
  NodeValue scaled =
      context.create<MulNode>(input, context.createConstant(std::move(scale)));
  return context.create<AddNode>(scaled,
                                 context.createConstant(std::move(shift)));
}

/// Mul, Add, Sub and Div of a convolution and constants along its channels.
template <typename T>
static NodeValue foldOperation(T &root, RewriteContext &context) {
  constexpr bool isFactor =
      std::is_same_v<T, MulNode> || std::is_same_v<T, DivNode>;
  constexpr bool isSwappable =
      std::is_same_v<T, MulNode> || std::is_same_v<T, AddNode>;
  NodeValue x = root.getX(), y = root.getY();
  ConvolutionNode *convolution = getFoldable(x);
  if (!convolution && isSwappable) {
    std::swap(x, y);
    convolution = getFoldable(x);
  }
  if (!convolution || x.getType() != root.getType())
    return {};
  int64_t channels = x.getShape().back();
  auto values = getChannelValues(y, channels);
  if (!values)
    return {};
  std::vector<double> scale(channels, 1), shift(channels, 0);
  for (int64_t c = 0; c < channels; ++c) {
    double value = (*values)[c];
    if (std::is_same_v<T, DivNode>)
      value = 1 / value;
    if (std::is_same_v<T, SubNode>)
      value = -value;
    (isFactor ? scale : shift)[c] = value;
  }
  return scaleConvolution(*convolution, scale, shift, context);
}

llvm::Expected<bool> glowish::foldArithmetic(Function &function,
                                             const GraphPassContext &context) {
  return applyRewrites(function, context, [](RewriteSet &rewrites) {
    rewrites.add<foldBatchNorm>(NodeKind::BatchNormalization);
    rewrites.add<foldOperation<MulNode>>(NodeKind::Mul);
    rewrites.add<foldOperation<DivNode>>(NodeKind::Div);
    rewrites.add<foldOperation<AddNode>>(NodeKind::Add);
    rewrites.add<foldOperation<SubNode>>(NodeKind::Sub);
  });
}
