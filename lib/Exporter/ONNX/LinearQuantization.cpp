//===- LinearQuantization.cpp - QuantizeLinear and its inverse ------------===//

#include "ONNX/LinearQuantization.h"
#include "glowish/Graph/RepeatedBlocks.h"
#include <cmath>

using namespace glowish;

/// The tensor of constant \p value, of which integers may have been converted.
static const Tensor *getParameter(NodeValue value) {
  if (auto *cast = value.getNodeAs<CastNode>())
    if (isIntegerKind(cast->getX().getElemKind()) ||
        isLowIntegerKind(cast->getX().getElemKind()))
      value = cast->getX();
  auto *constant = value.getNodeAs<Constant>();
  return constant ? constant->getPayload().get() : nullptr;
}

static bool isByteKind(ElemKind kind) {
  return kind == ElemKind::Int8 || kind == ElemKind::UInt8;
}

static bool isHalfByteKind(ElemKind kind) {
  return kind == ElemKind::Int4 || kind == ElemKind::UInt4;
}

/// Reads the dimension of \p shape along which \p parameter has several
/// elements; false if there are more of them, or another number of elements.
static bool readAxis(const Tensor &parameter, DimsRef shape,
                     std::optional<int64_t> &axis) {
  if (parameter.getNumElements() == 1)
    return true;
  DimsRef own = parameter.getType().getShape();
  if (own.size() > shape.size())
    return false;
  size_t leading = shape.size() - own.size();
  for (size_t d = 0; d < own.size(); ++d) {
    int64_t dim = int64_t(leading + d);
    if (own[d] == 1)
      continue;
    if (own[d] != shape[size_t(dim)] || (axis && *axis != dim))
      return false;
    axis = dim;
  }
  // The other parameter may have the only dimension.
  return axis && parameter.getNumElements() == shape[size_t(*axis)];
}

/// \p from as a scalar, or a vector of \p shape, of \p kind; nullopt if the
/// kind does not have its values.
static std::optional<Tensor> convert(const Tensor &from, ElemKind kind,
                                     DimsRef shape) {
  Tensor result(Type(kind, shape));
  for (int64_t i = 0; i < result.getNumElements(); ++i) {
    double value = from.getAsDouble(from.getNumElements() == 1 ? 0 : i);
    result.setFromDouble(i, value);
    if (result.getAsDouble(i) != value)
      return std::nullopt;
  }
  return result;
}

/// Adds the parameters to \p found, whose input and kind are known. \p zero may
/// be null.
static std::optional<LinearQuantization> addParameters(LinearQuantization found,
                                                       const Tensor &scale,
                                                       const Tensor *zero) {
  if (scale.getType().getKind() != ElemKind::Float)
    return std::nullopt;
  DimsRef shape = found.input.getShape();
  if (!readAxis(scale, shape, found.axis) ||
      (zero && !readAxis(*zero, shape, found.axis)))
    return std::nullopt;
  Dims own;
  if (found.axis)
    own = {shape[size_t(*found.axis)]};
  auto scales = convert(scale, ElemKind::Float, own);
  auto zeros = zero ? convert(*zero, found.kind, own)
                    : std::optional(Tensor(Type(found.kind, own)));
  if (!scales || !zeros)
    return std::nullopt;
  found.scale = std::move(*scales);
  found.zeroPoint = std::move(*zeros);
  return found;
}

/// Matches Cast(Add(Round(Div(x, scale)), zero point)).
static std::optional<LinearQuantization> matchQuantize(const CastNode &cast) {
  LinearQuantization found = {.isToIntegers = true, .kind = cast.getTo()};
  NodeValue value = cast.getX();
  if (!isByteKind(found.kind) || value.getElemKind() != ElemKind::Float)
    return std::nullopt;
  const Tensor *zero = nullptr;
  if (auto *add = value.getNodeAs<AddNode>()) {
    zero = getParameter(add->getY());
    value = add->getX();
    if (!zero)
      return std::nullopt;
  }
  auto *round = value.getNodeAs<RoundNode>();
  auto *div = round ? round->getX().getNodeAs<DivNode>() : nullptr;
  auto *scale = div ? div->getY().getNodeAs<Constant>() : nullptr;
  if (!scale || div->getX().getShape() != cast.getType().getShape())
    return std::nullopt;
  found.input = div->getX();
  return addParameters(std::move(found), *scale->getPayload(), zero);
}

/// Matches \p value, the parameter of blocks of a constant of \p shape: the
/// constant, in the shape that LinearQuantization has it in. Sets \p axis and
/// \p block, which must be the same if they are set.
static std::optional<Tensor> matchBlocks(NodeValue value, DimsRef shape,
                                         ElemKind kind,
                                         std::optional<int64_t> &axis,
                                         std::optional<int64_t> &block) {
  if (auto *cast = value.getNodeAs<CastNode>())
    value = cast->getX();
  auto repeated = matchRepeatedBlocks(value);
  if (!repeated || value.getShape() != shape ||
      (axis && *axis != repeated->axis) || (block && *block != repeated->block))
    return std::nullopt;
  NodeValue stored = repeated->parameter;
  while (auto *reshape = stored.getNodeAs<ReshapeNode>())
    stored = reshape->getInput();
  const Tensor *parameter = getParameter(stored);
  if (!parameter)
    return std::nullopt;
  axis = repeated->axis;
  block = repeated->block;
  Dims own(shape);
  own[size_t(*axis)] = (own[size_t(*axis)] + *block - 1) / *block;
  return convert(*parameter, kind, own);
}

/// Adds the parameters of blocks to \p found; \p zero may be null.
static std::optional<LinearQuantization>
addBlockParameters(LinearQuantization found, NodeValue scale, NodeValue zero) {
  DimsRef shape = found.input.getShape();
  auto scales =
      matchBlocks(scale, shape, ElemKind::Float, found.axis, found.block);
  if (!scales)
    return std::nullopt;
  DimsRef own = scales->getType().getShape();
  std::optional<Tensor> zeros;
  const Tensor *number = zero ? getParameter(zero) : nullptr;
  if (!zero)
    zeros = Tensor(Type(found.kind, own));
  else if (number && number->getNumElements() == 1)
    zeros = convert(*number, found.kind, own);
  else
    zeros = matchBlocks(zero, shape, found.kind, found.axis, found.block);
  if (!zeros)
    return std::nullopt;
  found.scale = std::move(*scales);
  found.zeroPoint = std::move(*zeros);
  return found;
}

/// \p value before a conversion from bytes, or from integers of 4 bits.
static NodeValue stripCast(NodeValue value) {
  auto *cast = value.getNodeAs<CastNode>();
  if (!cast)
    return value;
  ElemKind kind = cast->getX().getElemKind();
  return isByteKind(kind) || isHalfByteKind(kind) ? cast->getX() : value;
}

/// Matches Mul(Cast(Sub(Cast(integer), zero point)), scale).
static std::optional<LinearQuantization> matchDequantize(const MulNode &mul) {
  auto *cast = mul.getX().getNodeAs<CastNode>();
  if (!cast || cast->getTo() != ElemKind::Float)
    return std::nullopt;
  NodeValue value = stripCast(cast->getX()), zero;
  auto *sub = value.getNodeAs<SubNode>();
  if (sub && value.getElemKind() == ElemKind::Int32) {
    zero = sub->getY();
    value = stripCast(sub->getX());
  }
  ElemKind kind = value.getElemKind();
  bool isConstant = value.getNodeAs<Constant>();
  // Sums of int32 are no quantized values, but biases are. What is computed has
  // no kinds of 4 bits.
  bool isInteger = isByteKind(kind) || (isConstant && isHalfByteKind(kind)) ||
                   (isConstant && !zero && kind == ElemKind::Int32);
  if (!isInteger || value.getShape() != mul.getType().getShape())
    return std::nullopt;
  LinearQuantization found = {.input = value, .kind = kind};
  auto *scale = mul.getY().getNodeAs<Constant>();
  if (!scale)
    return isHalfByteKind(kind)
               ? addBlockParameters(std::move(found), mul.getY(), zero)
               : std::nullopt;
  const Tensor *zeroPoint = zero ? getParameter(zero) : nullptr;
  if (zero && !zeroPoint)
    return std::nullopt;
  return addParameters(std::move(found), *scale->getPayload(), zeroPoint);
}

std::optional<LinearQuantization>
glowish::matchLinearQuantization(const Node &node) {
  if (auto *cast = llvm::dyn_cast<CastNode>(&node))
    return matchQuantize(*cast);
  if (auto *mul = llvm::dyn_cast<MulNode>(&node))
    return matchDequantize(*mul);
  return std::nullopt;
}

std::optional<LinearQuantization>
glowish::describeWeights(const MatMulNBitsNode &node) {
  const Tensor *scales = getParameter(node.getScales());
  const Tensor *zeros =
      node.getZeroPoints() ? getParameter(node.getZeroPoints()) : nullptr;
  if (!node.getRhs().getNodeAs<Constant>() || !scales ||
      (node.getZeroPoints() && !zeros))
    return std::nullopt;
  LinearQuantization weights = {.input = node.getRhs(),
                                .kind = node.getRhs().getElemKind()};
  // One block is a vector.
  Dims own(scales->getType().getShape());
  bool isOne = own[0] == 1;
  weights.axis = isOne ? 1 : 0;
  if (isOne)
    own.erase(own.begin());
  else
    weights.block = node.getBlock();
  weights.scale = *convert(*scales, ElemKind::Float, own);
  weights.zeroPoint = zeros ? *convert(*zeros, weights.kind, own)
                            : Tensor(Type(weights.kind, own));
  return weights;
}

std::optional<Tensor>
glowish::findBiasMultiples(const Constant &bias,
                           const LinearQuantization &input,
                           const LinearQuantization &weights, Tensor &scale) {
  const Tensor &values = *bias.getPayload();
  const Tensor &ofWeights = weights.scale;
  if (values.getType().getKind() != ElemKind::Float ||
      values.getType().getRank() != 1 || input.scale.getNumElements() != 1)
    return std::nullopt;
  int64_t count = values.getNumElements();
  bool isOne = ofWeights.getNumElements() == 1;
  if (!isOne && ofWeights.getNumElements() != count)
    return std::nullopt;
  scale = Tensor(Type(ElemKind::Float, ofWeights.getType().getShape()));
  for (int64_t i = 0; i < ofWeights.getNumElements(); ++i)
    scale.setFromDouble(i,
                        input.scale.getAsDouble(0) * ofWeights.getAsDouble(i));
  Tensor multiples(Type(ElemKind::Int32, {count}));
  for (int64_t i = 0; i < count; ++i) {
    double multiple = values.getAsDouble(i) / input.scale.getAsDouble(0) /
                      ofWeights.getAsDouble(isOne ? 0 : i);
    double rounded = std::nearbyint(multiple);
    if (!(std::abs(rounded) < 0x1p31) ||
        std::abs(multiple - rounded) > 0x1p-21 * std::abs(rounded))
      return std::nullopt;
    multiples.data<int32_t>()[size_t(i)] = int32_t(rounded);
  }
  return multiples;
}
