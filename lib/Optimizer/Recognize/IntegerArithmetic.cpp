//===- IntegerArithmetic.cpp - Quantized values are multiplied as integers ===//
//
// A quantized value is an integer q of 8 bits in the graph, and stands for (q -
// zero point) * scale. Importers compose that of Cast, Sub and Mul. A
// convolution or matmul of two such values, or of differences q - zero point,
// becomes one of the integers:
//
//   (sum of (q - zero point) * w) * (scale of q * scale of w)
//
// A sum or mean of such values along some dimensions becomes one of the
// integers, too: (sum of q - count * zero point) * scale, divided by count for
// a mean.
//
// The pass runs before constants are folded, so that weights are still bytes.
//
//===----------------------------------------------------------------------===//

#include "Util/Dequantization.h"
#include "glowish/Base/ElemRange.h"
#include <cmath>

using namespace glowish;

static bool isZero(const Tensor &tensor) {
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    if (tensor.getAsDouble(i) != 0)
      return false;
  return true;
}

//===- Parameters of weights ----------------------------------------------===//

/// The dimension of \p c, after its moves, along which \p parameter has
/// values; -1 for a scalar, nullopt if there is no such dimension.
static std::optional<int64_t> findAxis(const Dequantization &c,
                                       NodeValue parameter) {
  if (hasOneElement(parameter))
    return -1;
  DimsRef shape = c.integer.getShape(), own = parameter.getShape();
  std::optional<int64_t> axis;
  for (size_t d = 0; d < own.size(); ++d)
    if (own[d] != 1) {
      if (axis)
        return std::nullopt;
      axis = int64_t(shape.size() - own.size() + d);
    }
  if (!axis || shape[*axis] != parameter.getType().getNumElements())
    return std::nullopt;
  for (Node *node : llvm::reverse(c.moves)) {
    DimsRef from = node->getOperand(0).getShape();
    DimsRef to = node->getType().getShape();
    if (auto *transpose = llvm::dyn_cast<TransposeNode>(node)) {
      auto permutation = transpose->getPermutation();
      axis = llvm::find(permutation, *axis) - permutation.begin();
      continue;
    }
    // As many elements before it, and as many in it.
    int64_t before = countElements(from.take_front(*axis)),
            extent = from[*axis];
    int64_t moved = 0, seen = 1;
    while (moved < int64_t(to.size()) &&
           (seen != before || to[moved] != extent))
      seen *= to[moved++];
    if (moved == int64_t(to.size()))
      return std::nullopt;
    axis = moved;
  }
  return axis;
}

namespace {

/// Constant weights of bytes.
struct Weights {
  NodeValue bytes;
  /// Null for 0; else of their kind, a scalar or one per output channel.
  NodeValue zeroPoint = {};
};

} // namespace

/// \p bytes less \p zeros, which are along dimension \p axis (-1: one), as
/// int8; nullopt where they don't fit.
static std::optional<Tensor> center(const Tensor &bytes, const Tensor &zeros,
                                    int64_t axis) {
  DimsRef shape = bytes.getType().getShape();
  int64_t inner =
      axis < 0 ? 1 : countElements(shape.drop_front(size_t(axis) + 1));
  Tensor centered(Type(ElemKind::Int8, shape));
  for (int64_t i = 0; i < bytes.getNumElements(); ++i) {
    int64_t index = axis < 0 ? 0 : i / inner % shape[axis];
    double value = bytes.getAsDouble(i) - zeros.getAsDouble(index);
    if (!getFiniteRange(ElemKind::Int8).contains(value))
      return std::nullopt;
    centered.data<int8_t>()[i] = int8_t(value);
  }
  return centered;
}

/// Zero points \p zeros of bytes of \p kind: a scalar or a vector. Nullopt
/// where the kind does not have them.
static std::optional<Tensor> narrow(const Tensor &zeros, ElemKind kind) {
  int64_t count = zeros.getNumElements();
  Tensor bytes(Type(kind, count == 1 ? Dims() : Dims{count}));
  for (int64_t i = 0; i < count; ++i) {
    bytes.setFromDouble(i, zeros.getAsDouble(i));
    if (bytes.getAsDouble(i) != zeros.getAsDouble(i))
      return std::nullopt;
  }
  return bytes;
}

/// The weights before their moves, with output channels along \p channelAxis
/// after them. Those that fit int8 without their zero point are made so.
static std::optional<Weights> getWeights(const Dequantization &weights,
                                         int64_t channelAxis,
                                         RewriteContext &context) {
  const Tensor *bytes = getConstantTensor(weights.integer);
  if (!bytes || !weights.isOfBytes())
    return std::nullopt;
  if (!weights.zeroPoint)
    return Weights{.bytes = weights.integer};
  const Tensor *zeros = getOrderedElements(weights.zeroPoint);
  if (!zeros)
    return std::nullopt;
  if (isZero(*zeros))
    return Weights{.bytes = weights.integer};
  Dequantization unmoved = weights;
  unmoved.moves.clear();
  std::optional<int64_t> axis = findAxis(unmoved, weights.zeroPoint);
  if (!axis)
    return std::nullopt;
  if (auto centered = center(*bytes, *zeros, *axis))
    return Weights{.bytes = context.createConstant(std::move(*centered))};
  std::optional<int64_t> moved = findAxis(weights, weights.zeroPoint);
  auto narrowed = narrow(*zeros, weights.integer.getElemKind());
  if (!moved || (*moved >= 0 && *moved != channelAxis) || !narrowed)
    return std::nullopt;
  return Weights{.bytes = weights.integer,
                 .zeroPoint = context.createConstant(std::move(*narrowed))};
}

//===- Results ------------------------------------------------------------===//

/// The scale of the sums, a scalar or one per output channel; null where
/// neither operand has one.
static NodeValue makeFactor(const Dequantization &x,
                            const Dequantization &weights,
                            RewriteContext &context) {
  if (!x.scale)
    return {};
  NodeValue scale = context.reshape(x.scale, {});
  NodeValue other = weights.scale;
  other = context.reshape(other, hasOneElement(other)
                                     ? Dims()
                                     : Dims{other.getType().getNumElements()});
  return context.create<MulNode>(scale, other);
}

namespace {

/// A bias of a convolution or matmul: an integer one, which the sums are
/// started with, or a float one, which is added at the end. Or none.
struct Bias {
  NodeValue integer = {}, real = {};
};

} // namespace

/// Constant \p bias, [OC], as multiples of the sums' scale, which float
/// rounding hides; nullopt where it is something else.
static std::optional<Tensor> getMultiples(NodeValue bias,
                                          const Dequantization &x,
                                          const Dequantization &weights) {
  const Tensor *values = getOrderedElements(bias),
               *ofX = getOrderedElements(x.scale);
  const Tensor *ofWeights = getOrderedElements(weights.scale);
  if (!values || !ofX || !ofWeights)
    return std::nullopt;
  Tensor multiples(Type(ElemKind::Int32, {values->getNumElements()}));
  for (int64_t i = 0; i < values->getNumElements(); ++i) {
    double scale =
        ofX->getAsDouble(0) *
        ofWeights->getAsDouble(ofWeights->getNumElements() == 1 ? 0 : i);
    double multiple = values->getAsDouble(i) / scale;
    double rounded = std::nearbyint(multiple);
    if (!(std::abs(rounded) < 2147483648.0) ||
        std::abs(multiple - rounded) > 0x1p-21 * std::abs(rounded))
      return std::nullopt;
    multiples.data<int32_t>()[i] = int32_t(rounded);
  }
  return multiples;
}

static Bias splitBias(NodeValue bias, const Dequantization &x,
                      const Dequantization &weights, int64_t channels,
                      RewriteContext &context) {
  if (!bias)
    return {};
  if (bias.getElemKind() == ElemKind::Int32)
    return {.integer = bias};
  if (bias.getType().getNumElements() == channels && !bias.getShape().empty() &&
      bias.getShape().back() == channels)
    if (auto multiples = getMultiples(bias, x, weights))
      return {.integer = context.createConstant(std::move(*multiples))};
  return {.real = bias};
}

/// \p sums as the floats they stand for, plus the bias.
static NodeValue finish(NodeValue sums, NodeValue factor, const Bias &bias,
                        RewriteContext &context) {
  if (!factor)
    return sums;
  NodeValue result = context.create<CastNode>(sums, ElemKind::Float);
  result = context.create<MulNode>(result, factor);
  return bias.real ? context.create<AddNode>(result, bias.real) : result;
}

/// The zero point as a scalar of the integer's kind; null for 0.
static NodeValue getZeroPoint(const Dequantization &x,
                              RewriteContext &context) {
  ElemKind kind = x.integer.getElemKind();
  if (!x.zeroPoint || x.zeroPoint.getElemKind() == kind)
    return x.zeroPoint ? context.reshape(x.zeroPoint, {}) : NodeValue();
  return context.create<CastNode>(context.reshape(x.zeroPoint, {}), kind);
}

/// Whether the zero point is one value, which the kind of the integer has.
static bool hasOneZeroPoint(const Dequantization &x) {
  if (!x.zeroPoint || x.zeroPoint.getElemKind() == x.integer.getElemKind())
    return hasOneElement(x.zeroPoint);
  double value = getOrderedElements(x.zeroPoint)->getAsDouble(0);
  return hasOneElement(x.zeroPoint) &&
         getFiniteRange(x.integer.getElemKind()).contains(value);
}

/// \p sums of the integers of \p x, in which \p weight, int32, multiplies the
/// zero point, without its share.
static NodeValue subtractZeroPoint(const Dequantization &x, NodeValue sums,
                                   NodeValue weight, RewriteContext &context) {
  if (!x.zeroPoint)
    return sums;
  NodeValue zero = context.create<CastNode>(context.reshape(x.zeroPoint, {}),
                                            ElemKind::Int32);
  return context.create<SubNode>(sums, context.create<MulNode>(zero, weight));
}

//===- Convolutions -------------------------------------------------------===//

static NodeValue recognizeConvolution(ConvolutionNode &root,
                                      RewriteContext &context) {
  std::optional<Dequantization> x = matchDequantization(root.getInput());
  std::optional<Dequantization> filter = matchDequantization(root.getFilter());
  if (!x || !filter || !x->isOfBytes() || !hasOneZeroPoint(*x) ||
      !hasOneElement(x->scale) || bool(x->scale) != bool(filter->scale))
    return {};
  std::optional<int64_t> axis = findAxis(*filter, filter->scale);
  if (!axis || *axis > 0)
    return {};
  std::optional<Weights> weights = getWeights(*filter, 0, context);
  if (!weights)
    return {};
  Bias bias =
      splitBias(root.getBias(), *x, *filter, root.getType().getDim(3), context);
  NodeValue zeroPoint = getZeroPoint(*x, context);
  NodeValue sums = context.create<ConvolutionIntegerNode>(
      moveAlike(*x, x->integer, context),
      moveAlike(*filter, weights->bytes, context), zeroPoint,
      weights->zeroPoint, bias.integer, root.getStrides(), root.getPads(),
      root.getDilations(), root.getGroup());
  return finish(sums, makeFactor(*x, *filter, context), bias, context);
}

//===- Matmuls ------------------------------------------------------------===//

/// The sums of the columns of constant \p matrix less \p zeroPoint, int32. As a
/// matmul they are folded, however many weights there are.
static NodeValue sumColumns(NodeValue matrix, NodeValue zeroPoint,
                            RewriteContext &context) {
  Tensor ones(Type(ElemKind::Int8, {1, matrix.getShape()[0]}));
  std::fill_n(ones.data<int8_t>().begin(), ones.getNumElements(), int8_t(1));
  NodeValue sums = context.create<MatMulIntegerNode>(
      context.createConstant(std::move(ones)), matrix, zeroPoint);
  return context.reshape(sums, {matrix.getShape()[1]});
}

/// \p lhs * \p rhs + \p bias, which may be null; null where it doesn't apply.
static NodeValue multiply(NodeValue lhs, NodeValue rhs, NodeValue bias,
                          RewriteContext &context) {
  std::optional<Dequantization> x = matchDequantization(lhs),
                                matrix = matchDequantization(rhs);
  if (!x || !matrix || !x->isOfBytes() || !hasOneZeroPoint(*x) ||
      !hasOneElement(x->scale) || bool(x->scale) != bool(matrix->scale) ||
      rhs.getShape().size() != 2)
    return {};
  // A run decides how many rows the zero point is multiplied with.
  unsigned depth = lhs.getType().getRank() - 1;
  if (x->zeroPoint && lhs.getType().getExtent(depth))
    return {};
  std::optional<int64_t> axis = findAxis(*matrix, matrix->scale);
  if (!axis || *axis == 0)
    return {};
  std::optional<Weights> found =
      getWeights(*matrix, /*channelAxis=*/1, context);
  if (!found)
    return {};
  NodeValue weights = moveAlike(*matrix, found->bytes, context);
  Bias parts = splitBias(bias, *x, *matrix, weights.getShape()[1], context);
  NodeValue sums = context.create<MatMulIntegerNode>(
      moveAlike(*x, x->integer, context), weights, found->zeroPoint);
  if (x->zeroPoint)
    sums = subtractZeroPoint(
        *x, sums, sumColumns(weights, found->zeroPoint, context), context);
  if (parts.integer)
    sums = context.create<AddNode>(sums, parts.integer);
  return finish(sums, makeFactor(*x, *matrix, context), parts, context);
}

static NodeValue recognizeMatMul(MatMulNode &root, RewriteContext &context) {
  return multiply(root.getLhs(), root.getRhs(), NodeValue(), context);
}

static NodeValue recognizeFullyConnected(FullyConnectedNode &root,
                                         RewriteContext &context) {
  return multiply(root.getInput(), root.getWeights(), root.getBias(), context);
}

//===- Reductions ---------------------------------------------------------===//

/// The sums or means of \p value along \p axes, which ascend; null where it
/// doesn't apply.
static NodeValue reduce(NodeValue value, bool isMean,
                        llvm::ArrayRef<int64_t> axes, bool keepDims,
                        RewriteContext &context) {
  std::optional<Dequantization> x = matchDequantization(value);
  // Constants are folded as they are: with the fewest roundings.
  if (!x || !x->isOfBytes() || !hasOneZeroPoint(*x) ||
      !hasOneElement(x->scale) || getConstantTensor(x->integer))
    return {};
  int64_t count = 1;
  for (int64_t axis : axes) {
    // A run decides how many zero points there are.
    if (value.getType().getExtent(unsigned(axis)))
      return {};
    count *= value.getShape()[axis];
  }
  // Neither the sums of integers nor the zero point's share may wrap.
  if (count == 0 || count > INT32_MAX / 255)
    return {};
  NodeValue sums = context.create<ReduceIntegerNode>(
      moveAlike(*x, x->integer, context), axes.vec(), keepDims);
  sums = subtractZeroPoint(
      *x, sums, context.createScalar(ElemKind::Int32, double(count)), context);
  if (!x->scale)
    return sums;
  NodeValue factor = context.reshape(x->scale, {});
  if (isMean)
    factor = context.create<DivNode>(
        factor, context.createScalar(ElemKind::Float, double(count)));
  return finish(sums, factor, Bias(), context);
}

static NodeValue recognizeReduce(ReduceNode &root, RewriteContext &context) {
  bool isMean = root.getMode() == "mean";
  if (!isMean && root.getMode() != "sum")
    return {};
  return reduce(root.getInput(), isMean, root.getAxes(), root.getKeepDims(),
                context);
}

static NodeValue recognizeGlobalAvgPool(GlobalAvgPoolNode &root,
                                        RewriteContext &context) {
  return reduce(root.getInput(), /*isMean=*/true, {1, 2}, /*keepDims=*/true,
                context);
}

/// One window, which is the whole image.
static NodeValue recognizeAvgPool(AvgPoolNode &root, RewriteContext &context) {
  bool isWhole =
      root.getKernels() == root.getInput().getShape().slice(1, 2) &&
      llvm::all_of(root.getPads(), [](int64_t pad) { return pad == 0; });
  if (!isWhole)
    return {};
  return reduce(root.getInput(), /*isMean=*/true, {1, 2}, /*keepDims=*/true,
                context);
}

llvm::Expected<bool>
glowish::recognizeIntegerArithmetic(Function &function,
                                    const GraphPassContext &context) {
  return applyRewrites(function, context, [](RewriteSet &rewrites) {
    rewrites.add<recognizeConvolution>(NodeKind::Convolution);
    rewrites.add<recognizeMatMul>(NodeKind::MatMul);
    rewrites.add<recognizeFullyConnected>(NodeKind::FullyConnected);
    rewrites.add<recognizeReduce>(NodeKind::Reduce);
    rewrites.add<recognizeGlobalAvgPool>(NodeKind::GlobalAvgPool);
    rewrites.add<recognizeAvgPool>(NodeKind::AvgPool);
  });
}
