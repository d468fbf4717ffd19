//===- Quantization.cpp - Integers stay integers --------------------------===//

#include "Util/Dequantization.h"
#include "llvm/ADT/Sequence.h"

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
  NodeValue pooled = context.recreate(root, std::move(draft));
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

//===- Divisions by scales ------------------------------------------------===//

namespace {

/// Divides a value by the scale that it is quantized by, in front of what
/// computes it, where a division of few numbers does or a multiplication with
/// the reciprocal: (sums * factor) / scale is sums * (factor / scale). The
/// result is rounded otherwise than a quotient; so what an exact operator makes
/// of an input of the model stays divided.
class ScaleJoiner {
public:
  ScaleJoiner(NodeValue scale, RewriteContext &context)
      : scale(scale), context(context) {}

  static bool canDivide(NodeValue value);
  NodeValue divide(NodeValue value);

private:
  NodeValue divideNumbers(NodeValue value) {
    return context.create<DivNode>(value, context.reshape(scale, {}));
  }

  NodeValue scale;
  RewriteContext &context;
};

} // namespace

/// Whether operand \p index of \p node has fewer elements than its result.
static bool isSmall(Node &node, unsigned index) {
  return node.getOperand(index).getType().getNumElements() <
         node.getType().getNumElements();
}

bool ScaleJoiner::canDivide(NodeValue value) {
  // What is dequantized once more costs no more than what is read once.
  std::optional<Dequantization> x = matchDequantization(value);
  bool isDequantized = x && x->scale && x->moves.empty() && x->isOfBytes();
  Node &node = *value.node;
  if (llvm::isa<Placeholder, Constant>(node) ||
      (!value.hasOneUse() && !isDequantized))
    return false;
  auto isDivisible = [&](unsigned index) {
    return isSmall(node, index) || canDivide(node.getOperand(index));
  };
  auto operands = llvm::seq(node.getNumOperands());
  if (node.getInfo().has(OpTrait::Homogeneous))
    return llvm::all_of(operands, isDivisible);
  if (node.getInfo().has(OpTrait::Multilinear))
    return llvm::any_of(operands, isDivisible);
  return !isExact(node);
}

NodeValue ScaleJoiner::divide(NodeValue value) {
  Node &node = *value.node;
  NodeDraft draft = node.getDraft();
  auto divideOperand = [&](unsigned index) {
    NodeValue &operand = draft.operands[index];
    operand = isSmall(node, index) ? divideNumbers(operand) : divide(operand);
  };
  auto operands = llvm::seq(node.getNumOperands());
  if (node.getInfo().has(OpTrait::Homogeneous)) {
    llvm::for_each(operands, divideOperand);
    for (AttrValue &attr : draft.attrs)
      if (auto *number = std::get_if<double>(&attr))
        *number /= getOrderedElements(scale)->getAsDouble(0);
  } else if (node.getInfo().has(OpTrait::Multilinear)) {
    auto small = llvm::find_if(
        operands, [&](unsigned index) { return isSmall(node, index); });
    divideOperand(small != operands.end()
                      ? *small
                      : *llvm::find_if(operands, [&](unsigned index) {
                          return canDivide(node.getOperand(index));
                        }));
  } else {
    return context.create<MulNode>(
        value, divideNumbers(context.createScalar(ElemKind::Float, 1)));
  }
  return context.recreate(node, std::move(draft));
}

static NodeValue joinScales(DivNode &root, RewriteContext &context) {
  NodeValue value = root.getX(), scale = root.getY();
  bool isQuantized = root.getResult().hasOneUse() &&
                     llvm::isa<RoundNode>(root.uses().begin()->getUser());
  // Bytes in another scale are looked up, or the same bytes.
  std::optional<Dequantization> x = matchDequantization(value);
  if (!isQuantized || (x && x->isOfBytes()) || !isOrdinaryScale(scale) ||
      value.getElemKind() != ElemKind::Float ||
      value.getType() != root.getType() || !ScaleJoiner::canDivide(value))
    return {};
  return ScaleJoiner(scale, context).divide(value);
}

llvm::Expected<bool>
glowish::simplifyQuantization(Function &function,
                              const GraphPassContext &context) {
  return applyRewrites(function, context, [](RewriteSet &rewrites) {
    rewrites.add<dropRoundTrip>(NodeKind::Cast);
    rewrites.add<poolIntegers>(NodeKind::MaxPool);
    rewrites.add<joinScales>(NodeKind::Div);
  });
}
