//===- Quantization.cpp - Integers stay integers --------------------------===//

#include "Util/Dequantization.h"

using namespace glowish;

namespace {
/// What Cast(Round(input / scale) + zero point) quantizes.
struct Quantization {
  NodeValue input;
  /// Null for 1.
  NodeValue scale;
  /// Null for 0.
  NodeValue zeroPoint;
};
} // namespace

static std::optional<Quantization> matchQuantization(CastNode &root) {
  NodeValue value = root.getX(), zeroPoint;
  if (auto *add = value.getNodeAs<AddNode>()) {
    value = add->getX();
    zeroPoint = add->getY();
  }
  auto *round = value.getNodeAs<RoundNode>();
  if (!round || !hasOneElement(zeroPoint))
    return std::nullopt;
  auto *div = round->getX().getNodeAs<DivNode>();
  if (!div)
    return Quantization{round->getX(), {}, zeroPoint};
  if (!hasOneElement(div->getY()))
    return std::nullopt;
  return Quantization{div->getX(), div->getY(), zeroPoint};
}

/// Whether both are the same constants, or the same value.
static bool areSame(NodeValue a, NodeValue b) {
  auto getNumber = [](NodeValue value) -> std::optional<double> {
    if (!value)
      return 0.0;
    if (auto *cast = value.getNodeAs<CastNode>())
      value = cast->getX();
    const Tensor *tensor = getOrderedElements(value);
    if (!tensor || tensor->getNumElements() != 1)
      return std::nullopt;
    return tensor->getAsDouble(0);
  };
  std::optional<double> x = getNumber(a);
  return x && x == getNumber(b);
}

/// Whether \p scale is a constant with which numbers of 8 bits neither overflow
/// nor vanish.
static bool isOrdinaryScale(NodeValue scale) {
  const Tensor *tensor = getOrderedElements(scale);
  return tensor && tensor->getNumElements() == 1 &&
         tensor->getAsDouble(0) > 1e-30 && tensor->getAsDouble(0) < 1e30;
}

/// Matches what \p q quantizes, if \p q divides by the scale that it was
/// multiplied with, or both were joined to 1.
static std::optional<Dequantization> matchInput(const Quantization &q) {
  if (!q.scale) {
    auto *cast = q.input.getNodeAs<CastNode>();
    if (!cast || cast->getTo() != ElemKind::Float)
      return std::nullopt;
    if (Dequantization x = {.integer = cast->getX()}; x.isOfBytes())
      return x;
    std::optional<Dequantization> x = matchDequantization(cast->getX());
    return x && !x->scale ? x : std::nullopt;
  }
  std::optional<Dequantization> x = matchDequantization(q.input);
  if (!x || !x->scale || !isOrdinaryScale(x->scale) ||
      !areSame(q.scale, x->scale))
    return std::nullopt;
  return x;
}

/// Quantizing what an integer stands for, by the same scale and zero point,
/// gives the integer.
static NodeValue dropRoundTrip(CastNode &root, RewriteContext &context) {
  std::optional<Quantization> q = matchQuantization(root);
  std::optional<Dequantization> x = q ? matchInput(*q) : std::nullopt;
  if (!x || !hasOneElement(x->zeroPoint) ||
      x->integer.getElemKind() != root.getTo() || !x->isOfBytes() ||
      q->input.getType().getShape() != root.getType().getShape() ||
      !areSame(q->zeroPoint, x->zeroPoint))
    return {};
  return moveAlike(*x, x->integer, context);
}

/// Selects among integers instead of what they stand for: a positive scale
/// keeps their order.
static NodeValue poolIntegers(MaxPoolNode &root, RewriteContext &context) {
  std::optional<Dequantization> x = matchDequantization(root.getInput());
  if (!x || !x->scale || !isOrdinaryScale(x->scale) ||
      !hasOneElement(x->zeroPoint) || !x->isOfBytes())
    return {};
  NodeDraft draft = root.getDraft();
  draft.operands[MaxPoolNode::inputIdx] = moveAlike(*x, x->integer, context);
  NodeValue pooled = context.getFunction()
                         .create(root.getName(), std::move(draft))
                         ->getResult();
  if (x->zeroPoint) {
    NodeValue zero = context.create<CastNode>(context.reshape(x->zeroPoint, {}),
                                              ElemKind::Int32);
    pooled = context.create<SubNode>(
        context.create<CastNode>(pooled, ElemKind::Int32), zero);
  }
  return context.create<MulNode>(
      context.create<CastNode>(pooled, ElemKind::Float),
      context.reshape(x->scale, {}));
}

/// The division by a scale, of int32 sums that were multiplied with one: (sums
/// * factor) / scale is sums * (factor / scale). Limits may be between.
static NodeValue joinScales(DivNode &root, RewriteContext &context) {
  NodeValue value = root.getX(), scale = root.getY();
  if (!isOrdinaryScale(scale) || value.getElemKind() != ElemKind::Float ||
      value.getType() != root.getType())
    return {};
  auto *relu = value.getNodeAs<ReluNode>();
  auto *clip = value.getNodeAs<ClipNode>();
  if (relu || clip) {
    if (!value.hasOneUse())
      return {};
    value = relu ? relu->getX() : clip->getX();
  }
  auto *mul = value.getNodeAs<MulNode>();
  auto *cast = mul ? mul->getX().getNodeAs<CastNode>() : nullptr;
  // A factor for each element would be divided element by element, too.
  if (!mul || !value.hasOneUse() || !cast ||
      cast->getX().getElemKind() != ElemKind::Int32 ||
      mul->getY().getShape() == mul->getType().getShape())
    return {};
  NodeValue factor =
      context.create<DivNode>(mul->getY(), context.reshape(scale, {}));
  NodeValue result = context.create<MulNode>(mul->getX(), factor);
  if (relu)
    return context.create<ReluNode>(result);
  if (!clip)
    return result;
  double divisor = getOrderedElements(scale)->getAsDouble(0);
  return context.create<ClipNode>(result, clip->getLow() / divisor,
                                  clip->getHigh() / divisor);
}

llvm::Expected<bool>
glowish::simplifyQuantization(Function &function,
                              const GraphPassContext &context) {
  static const RewriteSet set = [] {
    RewriteSet rewrites;
    rewrites.add<dropRoundTrip>(NodeKind::Cast);
    rewrites.add<poolIntegers>(NodeKind::MaxPool);
    rewrites.add<joinScales>(NodeKind::Div);
    return rewrites;
  }();
  return applyRewrites(function, set, context);
}
