//===- FoldArithmetic.cpp - Constant factors move into weights ------------===//

#include "ConstantTensors.h"
#include "Rewriter.h"
#include <cmath>

using namespace glowish;

/// The convolution behind \p value, if its weights are constants and nobody
/// else reads its result.
static ConvolutionNode *getFoldable(NodeValue value) {
  auto *convolution = value.getNodeAs<ConvolutionNode>();
  if (!convolution || !value.hasOneUse() || convolution->hasPredicate() ||
      !convolution->getEpilogue().empty() ||
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
    newBias.setFromDouble(
        c, (bias ? bias->getAsDouble(c) : 0) * scale[c] + shift[c]);
  NodeDraft draft = node.getDraft();
  draft.operands[ConvolutionNode::filterIdx] =
      context.createConstant(std::move(newFilter));
  draft.operands[ConvolutionNode::biasIdx] =
      context.createConstant(std::move(newBias));
  return context.getFunction()
      .create(node.getName(), std::move(draft))
      ->getResult();
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
    double factor =
        (*scale)[c] / std::sqrt((*variance)[c] + node.getEpsilon());
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
  NodeValue product = context.create<MulNode>(
      input, context.createConstant(std::move(scale)));
  return context.create<AddNode>(product,
                                 context.createConstant(std::move(shift)));
}

//===- Behind the convolution -----------------------------------------------===//

/// Mul, Add, Sub and Div of a convolution and constants along its channels.
template <typename T>
static NodeValue foldOperation(T &root, RewriteContext &context) {
  constexpr bool isProduct =
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
    (isProduct ? scale : shift)[c] = value;
  }
  return scaleConvolution(*convolution, scale, shift, context);
}

//===- Before the convolution ---------------------------------------------===//

/// The \p count numbers along \p axis of \p rank dimensions that \p value has;
/// none where it is no constant, or more.
static std::optional<std::vector<double>>
getValuesAlong(NodeValue value, int64_t axis, int64_t rank, int64_t count) {
  DimsRef shape = value.getShape();
  int64_t own = axis - (rank - int64_t(shape.size()));
  for (auto [d, extent] : llvm::enumerate(shape))
    if (int64_t(d) != own && extent != 1)
      return std::nullopt;
  const Tensor *tensor = getConstantTensor(value);
  int64_t elements = value.getType().getNumElements();
  if (!tensor || (elements != 1 && elements != count))
    return std::nullopt;
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(tensor->getAsDouble(elements == 1 ? 0 : i));
  return values;
}

/// x of x * scale + shift, which \p node is, and the numbers for the \p channels
/// along \p axis; null where it is something else.
static NodeValue matchAffine(Node &node, int64_t axis, int64_t channels,
                             Affine &affine) {
  affine = {std::vector<double>(channels, 1), std::vector<double>(channels, 0)};
  bool isProduct = llvm::isa<MulNode, DivNode>(&node);
  if (!isProduct && !llvm::isa<AddNode, SubNode>(&node))
    return {};
  const Type &type = node.getTypes()[0];
  bool isSwappable = llvm::isa<MulNode, AddNode>(&node);
  for (unsigned x = 0; x < (isSwappable ? 2 : 1); ++x) {
    NodeValue value = node.getOperand(x);
    auto numbers = getValuesAlong(node.getOperand(1 - x), axis,
                                  int64_t(type.getRank()), channels);
    if (!numbers || value.getType() != type)
      continue;
    for (int64_t c = 0; c < channels; ++c)
      if (isProduct)
        affine.scale[c] = llvm::isa<DivNode>(&node) ? 1 / (*numbers)[c]
                                                    : (*numbers)[c];
      else
        affine.shift[c] = llvm::isa<SubNode>(&node) ? -(*numbers)[c]
                                                    : (*numbers)[c];
    return value;
  }
  return {};
}

/// \p root of \p input instead, which is what it had before \p affine.
static NodeValue unscaleInput(ConvolutionNode &root, NodeValue input,
                              const Affine &affine, RewriteContext &context) {
  const Tensor &filter = *getConstantTensor(root.getFilter());
  DimsRef shape = filter.getType().getShape();
  int64_t outputs = shape[0], inputs = shape.back();
  int64_t perOutput = filter.getNumElements() / outputs;
  Tensor newFilter(filter.getType());
  Tensor newBias(Type(filter.getType().getKind(), {outputs}));
  for (int64_t o = 0; o < outputs; ++o) {
    const Tensor *bias = getConstantTensor(root.getBias());
    double sum = bias ? bias->getAsDouble(o) : 0;
    int64_t firstInput = o / (outputs / root.getGroup()) * inputs;
    for (int64_t i = o * perOutput; i < (o + 1) * perOutput; ++i) {
      double weight = filter.getAsDouble(i);
      newFilter.setFromDouble(i, weight * affine.scale[firstInput + i % inputs]);
      sum += weight * affine.shift[firstInput + i % inputs];
    }
    newBias.setFromDouble(o, sum);
  }
  NodeDraft draft = root.getDraft();
  draft.operands[ConvolutionNode::inputIdx] = input;
  draft.operands[ConvolutionNode::filterIdx] =
      context.createConstant(std::move(newFilter));
  draft.operands[ConvolutionNode::biasIdx] =
      context.createConstant(std::move(newBias));
  return context.getFunction()
      .create(root.getName(), std::move(draft))
      ->getResult();
}

/// A picture that is scaled and shifted channel by channel before its
/// convolution, perhaps with a transpose to the layout of images between. What
/// is padded is not shifted.
static NodeValue foldPreparation(ConvolutionNode &root,
                                 RewriteContext &context) {
  NodeValue value = root.getInput();
  auto *transpose = value.getNodeAs<TransposeNode>();
  int64_t axis = int64_t(value.getShape().size()) - 1;
  int64_t channels = value.getShape().back();
  if (transpose && value.hasOneUse()) {
    axis = transpose->getPermutation()[axis];
    value = transpose->getInput();
  }
  NodeValue bias = root.getBias();
  ElemKind kind = value.getElemKind();
  if (!value.hasOneUse() || value.node->hasPredicate() ||
      root.getType().getNumElements() == 0 ||
      (kind != ElemKind::Float && kind != ElemKind::Double) ||
      !getConstantTensor(root.getFilter()) || !root.getFilter().hasOneUse() ||
      (bias && !getConstantTensor(bias)))
    return {};
  Affine affine;
  NodeValue input = matchAffine(*value.node, axis, channels, affine);
  auto isZero = [](double number) { return number == 0; };
  auto isFinite = [](double number) { return std::isfinite(number); };
  if (!input || !llvm::all_of(affine.scale, isFinite) ||
      !llvm::all_of(affine.shift, isFinite) ||
      (!llvm::all_of(root.getPads(), isZero) &&
       !llvm::all_of(affine.shift, isZero)))
    return {};
  if (value != root.getInput())
    input = context.transpose(input, transpose->getPermutation());
  return unscaleInput(root, input, affine, context);
}

llvm::Expected<bool> glowish::foldArithmetic(Function &function,
                                             const GraphPassContext &context) {
  static const RewriteSet set = [] {
    RewriteSet rewrites;
    rewrites.add<foldBatchNorm>(NodeKind::BatchNormalization);
    rewrites.add<foldPreparation>(NodeKind::Convolution);
    rewrites.add<foldOperation<MulNode>>(NodeKind::Mul);
    rewrites.add<foldOperation<DivNode>>(NodeKind::Div);
    rewrites.add<foldOperation<AddNode>>(NodeKind::Add);
    rewrites.add<foldOperation<SubNode>>(NodeKind::Sub);
    return rewrites;
  }();
  return applyRewrites(function, set, context);
}
