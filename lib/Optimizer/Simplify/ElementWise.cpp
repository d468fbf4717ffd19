//===- ElementWise.cpp - Folds element-wise nodes -------------------------===//

#include "Util/ConstantTensors.h"
#include "Util/Patterns.h"
#include "Util/Rewriter.h"
#include <cmath>

using namespace glowish;

//===- Conversions --------------------------------------------------------===//

/// Whether each value of \p from is one of \p to.
static bool keepsValues(ElemKind from, ElemKind to) {
  if (from == to)
    return true;
  if (isQuantizedKind(from) || isQuantizedKind(to) || isLowPrecisionKind(to))
    return false;
  if (isLowPrecisionKind(from))
    return to == ElemKind::Float || to == ElemKind::Double;
  auto isHalf = [](ElemKind kind) {
    return kind == ElemKind::Float16 || kind == ElemKind::BFloat16;
  };
  if (from == ElemKind::Bool || to == ElemKind::Bool)
    return from == ElemKind::Bool;
  if (isFloatKind(from))
    return isFloatKind(to) && getElemSize(to) > getElemSize(from) &&
           !isHalf(to);
  unsigned size = getElemSize(from);
  if (isFloatKind(to))
    return size * 2 <= getElemSize(to) && !isHalf(to);
  bool isSigned = isSignedIntegerKind(from);
  if (isSigned == isSignedIntegerKind(to))
    return getElemSize(to) > size;
  return !isSigned && getElemSize(to) > size;
}

/// A conversion of what was converted without loss. bool is left alone: to it,
/// any value but 0 is true. Floats saturate where integers wrap: between
/// integers one in the middle is left out only if the last kind has all values.
static NodeValue joinCasts(CastNode &root, RewriteContext &context) {
  auto *inner = root.getX().getNodeAs<CastNode>();
  if (!inner)
    return {};
  NodeValue x = inner->getX();
  ElemKind from = x.getElemKind(), to = root.getType().getKind();
  ElemKind between = inner->getType().getKind();
  if (!keepsValues(from, between))
    return {};
  bool saturates =
      isIntegerKind(from) && isFloatKind(between) && isIntegerKind(to);
  if (saturates && !keepsValues(from, to))
    return {};
  if (x.getType() == root.getType())
    return x;
  return context.create<CastNode>(x, to);
}

//===- Limits -------------------------------------------------------------===//

static constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {

/// `x` within limits; NaN stays NaN.
struct Limited {
  NodeValue x;
  double low = -infinity;
  double high = infinity;
};

} // namespace

/// float and double, in which the constants here keep their value.
static bool isWide(const Type &type) {
  return type.getKind() == ElemKind::Float ||
         type.getKind() == ElemKind::Double;
}

static std::optional<Limited> matchLimits(NodeValue value) {
  if (auto *clip = value.getNodeAs<ClipNode>())
    return Limited{clip->getX(), clip->getLow(), clip->getHigh()};
  if (auto *relu = value.getNodeAs<ReluNode>())
    return Limited{relu->getX(), 0};
  Limited result;
  auto match = [&](auto *node, double &bound) {
    if (node)
      for (auto [x, other] : bothOrders(*node))
        if (std::optional<double> limit = getUniformValue(other);
            limit && !std::isnan(*limit) && x.getType() == value.getType()) {
          result.x = x;
          bound = *limit;
          return true;
        }
    return false;
  };
  if (match(value.getNodeAs<MaxNode>(), result.low) ||
      match(value.getNodeAs<MinNode>(), result.high))
    return result;
  return std::nullopt;
}

/// \p limited as one node.
static NodeValue createLimited(const Limited &limited,
                               RewriteContext &context) {
  if (limited.low == 0 && limited.high == infinity)
    return context.createIfSupported<ReluNode>(limited.x);
  return context.createIfSupported<ClipNode>(limited.x, limited.low,
                                             limited.high);
}

/// Max and Min with a constant, Clip and Relu of one another are one Clip, or a
/// Relu.
static NodeValue joinLimits(Node &root, RewriteContext &context) {
  if (!isWide(root.getType()))
    return {};
  std::optional<Limited> outer = matchLimits(root.getResult());
  if (!outer)
    return {};
  if (outer->low == -infinity && outer->high == infinity)
    return outer->x;
  std::optional<Limited> inner = matchLimits(outer->x);
  if (!inner) {
    bool isRelu = outer->low == 0 && outer->high == infinity;
    bool isOneNode =
        isRelu ? llvm::isa<ReluNode>(root) : llvm::isa<ClipNode>(root);
    return isOneNode ? NodeValue() : createLimited(*outer, context);
  }
  // As the formula has it: the lower limit first, then the upper one.
  auto limit = [&](double value) {
    return std::min(std::max(value, outer->low), outer->high);
  };
  return createLimited({inner->x, limit(inner->low), limit(inner->high)},
                       context);
}

//===- Slopes -------------------------------------------------------------===//

/// max(x, alpha * x) with alpha from 0 to 1, and min(x, alpha * x) with a
/// larger one.
template <typename T>
static NodeValue recognizeLeakyRelu(T &root, RewriteContext &context) {
  constexpr bool isMax = std::is_same_v<T, MaxNode>;
  if (!isFloatKind(root.getType().getKind()))
    return {};
  for (auto [x, scaled] : bothOrders(root)) {
    auto [inner, alpha] = splitFactor(scaled);
    bool isSlope =
        isMax ? alpha >= 0 && alpha <= 1 : alpha >= 1 && std::isfinite(alpha);
    if (inner == x && scaled != x && x.getType() == root.getType() && isSlope)
      return context.createIfSupported<LeakyReluNode>(x, alpha);
  }
  return {};
}

//===- Constants ----------------------------------------------------------===//

/// The constant that \p value is, if products of two such are far from the ends
/// of float's range.
static const Tensor *getModerate(NodeValue value) {
  const Tensor *tensor = getConstantTensor(value);
  if (!tensor || !isFloatKind(tensor->getType().getKind()))
    return nullptr;
  for (int64_t i = 0; i < tensor->getNumElements(); ++i) {
    double magnitude = std::abs(tensor->getAsDouble(i));
    if (magnitude != 0 && !(magnitude >= 1e-15 && magnitude <= 1e15))
      return nullptr;
  }
  return tensor;
}

/// x + a + b is x + (a + b), and x * a * b is x * (a * b): the constants are
/// computed now, where one of them broadcasts to the other.
template <typename T>
static NodeValue joinConstants(T &root, RewriteContext &context) {
  if (!isWide(root.getType()))
    return {};
  for (auto [value, b] : bothOrders(root)) {
    auto *inner = value.template getNodeAs<T>();
    if (!inner || !value.hasOneUse() || !getModerate(b))
      continue;
    for (auto [x, a] : bothOrders(*inner)) {
      // Three constants would be joined in turns without end.
      if (!getModerate(a) || getConstantTensor(x) ||
          x.getType() != root.getType())
        continue;
      NodeValue joined = context.create<T>(a, b);
      int64_t size = joined.getType().getNumElements();
      if (size == a.getType().getNumElements() ||
          size == b.getType().getNumElements())
        return context.create<T>(x, joined);
      context.getFunction().erase(joined.node);
    }
  }
  return {};
}

/// x^3, as in the approximation of GELU, is x * x * x: a power takes a
/// logarithm and an exponential. canonicalize does it for squares, which stay
/// exact.
static NodeValue expandCube(PowNode &root, RewriteContext &context) {
  NodeValue x = root.getOperand(0);
  if (getUniformValue(root.getOperand(1)) != 3.0 || !isWide(root.getType()) ||
      x.getType() != root.getType())
    return {};
  return context.create<MulNode>(context.create<MulNode>(x, x), x);
}

llvm::Expected<bool>
glowish::simplifyElementWise(Function &function,
                             const GraphPassContext &context) {
  return applyRewrites(function, context, [](RewriteSet &rewrites) {
    rewrites.add<joinCasts>(NodeKind::Cast);
    rewrites.add<recognizeLeakyRelu<MaxNode>>(NodeKind::Max);
    rewrites.add<recognizeLeakyRelu<MinNode>>(NodeKind::Min);
    for (NodeKind kind :
         {NodeKind::Clip, NodeKind::Max, NodeKind::Min, NodeKind::Relu})
      rewrites.add<joinLimits>(kind);
    rewrites.add<joinConstants<AddNode>>(NodeKind::Add);
    rewrites.add<joinConstants<MulNode>>(NodeKind::Mul);
    rewrites.add<expandCube>(NodeKind::Pow);
  });
}
