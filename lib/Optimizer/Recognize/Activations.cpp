//===- Activations.cpp - Activations of primitive nodes -------------------===//
//
// Exporters write GELU, Swish and HardSwish as products of x, constants and a
// gate, a function of x, each in its own order; and GELU's tanh takes a
// polynomial of x, which can be written in more. The rewrite looks at what is
// computed: it takes them apart into factors, and the gate's argument
// into a polynomial's coefficients.
//
//===----------------------------------------------------------------------===//

#include "Util/ConstantTensors.h"
#include "Util/Patterns.h"
#include "Util/Rewriter.h"
#include <cmath>

using namespace glowish;

static constexpr double sqrtHalf = 0.70710678118654752;
static constexpr double sqrtTwoOverPi = 0.79788456080286536;
static constexpr double cubeFactor = 0.044715;

/// How deep expressions are taken apart. Bounds the time of a match.
static constexpr unsigned maxDepth = 6;

namespace {

/// c[0] + c[1] x + c[2] x^2 + c[3] x^3.
using Polynomial = std::array<double, 4>;

/// factor * x * gate is the activation `kind` of x.
struct Gate {
  NodeKind kind;
  double factor;
  double alpha = 0; // of Swish
};

/// A factor of the root's value. `isAlone`: without other users on the way
/// to the root, so that it goes when the root goes.
struct Factor {
  NodeValue value;
  bool isAlone;
};

/// constant * x^powerOfX * gate^powerOfGate.
struct Monomial {
  double constant;
  unsigned powerOfX, powerOfGate;
};

} // namespace

/// Constants are compared with the digits that exporters write and the kind
/// has.
static bool isNear(double value, double expected, ElemKind kind) {
  double tolerance = kind == ElemKind::BFloat16  ? 0x1p-7
                     : kind == ElemKind::Float16 ? 0x1p-10
                                                 : 1e-5;
  return std::abs(value - expected) <= tolerance * std::abs(expected);
}

//===- Polynomials --------------------------------------------------------===//

static std::optional<Polynomial> multiply(const Polynomial &p,
                                          const Polynomial &q) {
  Polynomial result = {};
  for (size_t i = 0; i < p.size(); ++i)
    for (size_t k = 0; k < q.size(); ++k) {
      double term = p[i] * q[k];
      if (i + k < result.size())
        result[i + k] += term;
      else if (term != 0)
        return std::nullopt;
    }
  return result;
}

static std::optional<Polynomial> getPolynomial(NodeValue value, NodeValue x,
                                               unsigned depth);

/// \p base to a constant power.
static std::optional<Polynomial> getPower(PowNode &node, NodeValue x,
                                          unsigned depth) {
  std::optional<double> exponent = getUniformValue(node.getOperand(1));
  if (exponent != 2.0 && exponent != 3.0)
    return std::nullopt;
  auto base = getPolynomial(node.getOperand(0), x, depth);
  if (!base)
    return std::nullopt;
  auto square = multiply(*base, *base);
  return exponent == 2.0 || !square ? square : multiply(*square, *base);
}

/// \p value, of x's type, as a polynomial in \p x.
static std::optional<Polynomial> getPolynomial(NodeValue value, NodeValue x,
                                               unsigned depth) {
  if (value == x)
    return Polynomial{0, 1};
  if (std::optional<double> constant = getUniformValue(value))
    return Polynomial{*constant};
  if (depth == 0 || value.getType() != x.getType())
    return std::nullopt;
  if (auto *power = value.getNodeAs<PowNode>())
    return getPower(*power, x, depth - 1);
  Node &node = *value.node;
  if (!llvm::isa<AddNode, SubNode, MulNode, DivNode>(node))
    return std::nullopt;
  auto lhs = getPolynomial(node.getOperand(0), x, depth - 1);
  auto rhs = lhs ? getPolynomial(node.getOperand(1), x, depth - 1) : lhs;
  if (!rhs)
    return std::nullopt;
  if (llvm::isa<MulNode>(node))
    return multiply(*lhs, *rhs);
  if (llvm::isa<DivNode>(node)) {
    bool isConstant = (*rhs)[1] == 0 && (*rhs)[2] == 0 && (*rhs)[3] == 0;
    return isConstant ? multiply(*lhs, {1 / (*rhs)[0]}) : std::nullopt;
  }
  double sign = llvm::isa<SubNode>(node) ? -1 : 1;
  for (size_t i = 0; i < lhs->size(); ++i)
    (*lhs)[i] += sign * (*rhs)[i];
  return lhs;
}

/// Whether \p p is \p slope * x.
static bool isLinear(const Polynomial &p, double slope, ElemKind kind) {
  return p[0] == 0 && isNear(p[1], slope, kind) && p[2] == 0 && p[3] == 0;
}

/// Whether \p p is \p scale * sqrt(2 / pi) * (x + 0.044715 x^3).
static bool isTanhArgument(const Polynomial &p, double scale, ElemKind kind) {
  double slope = scale * sqrtTwoOverPi;
  return p[0] == 0 && isNear(p[1], slope, kind) && p[2] == 0 &&
         isNear(p[3], slope * cubeFactor, kind);
}

//===- Gates --------------------------------------------------------------===//

/// The gate 1 + erf(...) or 1 + tanh(...) of GELU.
static std::optional<Gate> matchOnePlus(AddNode &sum, NodeValue x) {
  ElemKind kind = x.getElemKind();
  for (auto [one, function] : bothOrders(sum)) {
    if (getUniformValue(one) != 1.0 || !function.hasOneUse() ||
        !llvm::isa<ErfNode, TanhNode>(function.node))
      continue;
    auto p = getPolynomial(function.node->getOperand(0), x, maxDepth);
    if (!p)
      continue;
    bool isErf = llvm::isa<ErfNode>(function.node);
    if (isErf && isLinear(*p, sqrtHalf, kind))
      return Gate{NodeKind::Gelu, 0.5};
    if (!isErf && isTanhArgument(*p, 1, kind))
      return Gate{NodeKind::GeluTanh, 0.5};
  }
  return std::nullopt;
}

/// The gate sigmoid(...) of Swish, and of GELU, as (1 + tanh(u)) / 2 is
/// sigmoid(2 u).
static std::optional<Gate> matchSigmoid(SigmoidNode &sigmoid, NodeValue x) {
  auto p = getPolynomial(sigmoid.getX(), x, maxDepth);
  if (!p)
    return std::nullopt;
  if (isTanhArgument(*p, 2, x.getElemKind()))
    return Gate{NodeKind::GeluTanh, 1};
  double alpha = (*p)[1];
  if (alpha == 0 || !std::isfinite(alpha) ||
      !isLinear(*p, alpha, x.getElemKind()))
    return std::nullopt;
  return Gate{alpha == 1 ? NodeKind::Silu : NodeKind::Swish, 1, alpha};
}

/// v where \p value is max(v, 0).
static NodeValue matchRelu(NodeValue value) {
  if (auto *relu = value.getNodeAs<ReluNode>())
    return relu->getX();
  if (auto *clip = value.getNodeAs<ClipNode>())
    if (clip->getLow() == 0 && std::isinf(clip->getHigh()))
      return clip->getX();
  if (auto *larger = value.getNodeAs<MaxNode>())
    for (auto [x, bound] : bothOrders(*larger))
      if (getUniformValue(bound) == 0.0)
        return x;
  return {};
}

/// v and the constant where \p value is min(v, constant).
static std::pair<NodeValue, double> matchUpperBound(NodeValue value) {
  if (auto *smaller = value.getNodeAs<MinNode>())
    for (auto [x, bound] : bothOrders(*smaller))
      if (std::optional<double> high = getUniformValue(bound))
        return {x, *high};
  if (auto *clip = value.getNodeAs<ClipNode>())
    if (clip->getLow() == -std::numeric_limits<double>::infinity())
      return {clip->getX(), clip->getHigh()};
  return {};
}

/// v and the upper bound where \p value is v within 0 and that.
static std::pair<NodeValue, double> matchRamp(NodeValue value) {
  if (auto *clip = value.getNodeAs<ClipNode>())
    if (clip->getLow() == 0)
      return {clip->getX(), clip->getHigh()};
  if (auto [inner, high] = matchUpperBound(value); inner)
    return {matchRelu(inner), high};
  if (NodeValue inner = matchRelu(value))
    return matchUpperBound(inner);
  return {};
}

/// The gate of HardSwish, (x + 3) h / 6 between 0 and h: h is 6 or 1.
static std::optional<Gate> matchHardGate(NodeValue value, NodeValue x) {
  if (auto *hard = value.getNodeAs<HardSigmoidNode>())
    if (hard->getX() == x && hard->getBeta() == 0.5 &&
        std::abs(hard->getAlpha() - 1.0 / 6) < 1e-6)
      return Gate{NodeKind::HardSwish, 1};
  auto [ramp, high] = matchRamp(value);
  if (!ramp || ramp.getType() != value.getType() || !(high > 0) ||
      !std::isfinite(high))
    return std::nullopt;
  ElemKind kind = x.getElemKind();
  auto p = getPolynomial(ramp, x, maxDepth);
  if (!p || !isNear((*p)[0], high / 2, kind) ||
      !isNear((*p)[1], high / 6, kind) || (*p)[2] != 0 || (*p)[3] != 0)
    return std::nullopt;
  return Gate{NodeKind::HardSwish, 1 / high};
}

static std::optional<Gate> matchGate(NodeValue value, NodeValue x) {
  if (auto *sum = value.getNodeAs<AddNode>())
    return matchOnePlus(*sum, x);
  if (auto *sigmoid = value.getNodeAs<SigmoidNode>())
    return matchSigmoid(*sigmoid, x);
  return matchHardGate(value, x);
}

//===- Factors ------------------------------------------------------------===//

/// The operands of \p node, theirs and so on; constants are left out.
static void collectFactors(Node &node, bool isAlone, unsigned depth,
                           llvm::SmallVectorImpl<Factor> &factors) {
  unsigned count = llvm::isa<MulNode>(node)   ? 2
                   : llvm::isa<DivNode>(node) ? 1
                                              : 0;
  for (unsigned i = 0; i < count; ++i) {
    NodeValue value = node.getOperand(i);
    if (getUniformValue(value))
      continue;
    bool goes = isAlone && value.hasOneUse();
    factors.push_back({value, goes});
    if (depth > 0)
      collectFactors(*value.node, goes, depth - 1, factors);
  }
}

/// \p value as a product of constants, \p x and \p gate.
static std::optional<Monomial> getMonomial(NodeValue value, NodeValue x,
                                           NodeValue gate, unsigned depth) {
  if (value == x)
    return Monomial{1, 1, 0};
  if (value == gate)
    return Monomial{1, 0, 1};
  if (std::optional<double> constant = getUniformValue(value))
    return Monomial{*constant, 0, 0};
  if (depth == 0 || !llvm::isa<MulNode, DivNode>(value.node))
    return std::nullopt;
  auto lhs = getMonomial(value.node->getOperand(0), x, gate, depth - 1);
  auto rhs = lhs ? getMonomial(value.node->getOperand(1), x, gate, depth - 1)
                 : std::nullopt;
  if (!rhs)
    return std::nullopt;
  bool isMul = llvm::isa<MulNode>(value.node);
  if (!isMul && rhs->powerOfX + rhs->powerOfGate > 0)
    return std::nullopt;
  return Monomial{
      isMul ? lhs->constant * rhs->constant : lhs->constant / rhs->constant,
      lhs->powerOfX + rhs->powerOfX, lhs->powerOfGate + rhs->powerOfGate};
}

static NodeValue createActivation(const Gate &gate, NodeValue x,
                                  RewriteContext &context) {
  switch (gate.kind) {
  case NodeKind::Gelu:
    return context.createIfSupported<GeluNode>(x);
  case NodeKind::GeluTanh:
    return context.createIfSupported<GeluTanhNode>(x);
  case NodeKind::Silu:
    return context.createIfSupported<SiluNode>(x);
  case NodeKind::Swish:
    return context.createIfSupported<SwishNode>(x, gate.alpha);
  case NodeKind::HardSwish:
    return context.createIfSupported<HardSwishNode>(x);
  default:
    llvm_unreachable("not a gated activation");
  }
}

static NodeValue recognizeGated(Node &root, RewriteContext &context) {
  const Type &type = root.getType();
  if (!isFloatKind(type.getKind()))
    return {};
  llvm::SmallVector<Factor, 8> factors;
  collectFactors(root, /*isAlone=*/true, /*depth=*/3, factors);
  for (const Factor &gateFactor : factors) {
    NodeValue gate = gateFactor.value;
    // Otherwise the gate would be computed twice.
    if (!gateFactor.isAlone || gate.getType() != type)
      continue;
    for (const Factor &factor : factors) {
      NodeValue x = factor.value;
      if (x == gate || x.getType() != type)
        continue;
      std::optional<Gate> match = matchGate(gate, x);
      if (!match)
        continue;
      auto monomial = getMonomial(root.getResult(), x, gate, maxDepth);
      if (monomial && monomial->powerOfX == 1 && monomial->powerOfGate == 1 &&
          isNear(monomial->constant, match->factor, type.getKind()))
        return createActivation(*match, x, context);
    }
  }
  return {};
}

llvm::Expected<bool>
glowish::recognizeActivations(Function &function,
                              const GraphPassContext &context) {
  return applyRewrites(function, context, [](RewriteSet &rewrites) {
    rewrites.add<recognizeGated>(NodeKind::Mul);
    rewrites.add<recognizeGated>(NodeKind::Div);
  });
}
