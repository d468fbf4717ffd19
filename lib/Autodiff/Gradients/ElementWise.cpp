//===- ElementWise.cpp - Gradients of element-wise nodes ------------------===//

#include "../GradientScalar.h"
#include "glowish/Ops/Scalar.h"

using namespace glowish;

namespace {

/// Evaluates the formulas of one node.
class FormulaGradient {
public:
  FormulaGradient(Node &node, GradientContext &g)
      : node(node), g(g), result(g, node.getResult()),
        gradient(g, g.getGradient()) {}

  /// \p Formula is that of the operator, \p Gradient that of its adjoints.
  template <class Formula, class Gradient> void run() {
    runOperands<Formula, Gradient>(
        std::make_index_sequence<Formula::numArgs>());
  }

private:
  template <class Formula, class Gradient, size_t... Is>
  void runOperands(std::index_sequence<Is...>) {
    (runOperand<Formula, Gradient, Is>(
         std::make_index_sequence<Formula::numArgs>(),
         std::make_index_sequence<Formula::numParams>()),
     ...);
  }
  template <class Formula, class Gradient, size_t I, size_t... Args,
            size_t... Params>
  void runOperand(std::index_sequence<Args...>,
                  std::index_sequence<Params...>) {
    if (!g.needsGradient(I) || g.hasFailed())
      return;
    GradientScalar adjoint =
        Gradient::template eval<unsigned(I), GradientScalar>(
            getOperand<Formula, Args>()..., result, gradient,
            getParam(Params)...);
    g.addBroadcast(I, adjoint.value);
  }
  template <class Formula, size_t I> auto getOperand() {
    if constexpr (Formula::firstIsBool && I == 0)
      return GradientBool{&g, node.getOperand(I)};
    else
      return GradientScalar(g, node.getOperand(I));
  }
  double getParam(size_t number) const {
    for (const AttrValue &attr : node.getAttrs())
      if (auto *value = std::get_if<double>(&attr))
        if (number-- == 0)
          return *value;
    llvm_unreachable("the record has the attribute");
  }

  Node &node;
  GradientContext &g;
  GradientScalar result, gradient;
};

} // namespace

void glowish::differentiateFormula(Node &node, GradientContext &g) {
  FormulaGradient formulas(node, g);
  switch (node.getKind()) {
#define NODE_GRADIENT(NAME)
#define ZERO_GRADIENT(NAME, REASON)
#define NO_GRADIENT(NAME, REASON)
#define FORMULA_GRADIENT(NAME)                                                 \
  case NodeKind::NAME:                                                         \
    return formulas.run<formula::NAME, gradient::NAME>();
#define GET_GRADIENT_LIST
#include "glowish/Autodiff/Gradients.inc"
  default:
    llvm_unreachable("it has no formulas");
  }
}

void glowish::differentiateCast(CastNode &node, GradientContext &g) {
  NodeValue gradient = g.getGradient();
  g.accumulate(node.xIdx, g.cast(gradient, node.getX().getElemKind()));
}

//===- Roots and powers ---------------------------------------------------===//

static bool isConstant(NodeValue value) {
  return llvm::isa<Constant, SplatNode>(value.node);
}

/// Whether \p value is a constant with the one element 2.
static bool isTwo(NodeValue value) {
  if (auto *splat = value.getNodeAs<SplatNode>())
    return splat->getValue() == 2;
  auto *constant = value.getNodeAs<Constant>();
  return constant && constant->getTensor().getNumElements() == 1 &&
         constant->getTensor().getAsDouble(0) == 2;
}

/// Whether \p value is a square, or |x|^p.
static bool isPowerOfMagnitude(NodeValue value) {
  if (auto *square = value.getNodeAs<MulNode>())
    return square->getX() == square->getY();
  auto *power = value.getNodeAs<PowNode>();
  return power && (isTwo(power->getY()) || power->getX().getNodeAs<AbsNode>());
}

/// Whether \p value is a sum or mean of powers of magnitudes, perhaps times a
/// constant: what a norm or a standard deviation is a root of.
static bool isSumOfPowers(NodeValue value, unsigned steps = 8) {
  if (!value || steps == 0)
    return false;
  auto isSum = [&](NodeValue operand) {
    return isSumOfPowers(operand, steps - 1);
  };
  if (isPowerOfMagnitude(value))
    return true;
  if (auto *reduce = value.getNodeAs<ReduceNode>())
    return (reduce->getMode() == "sum" || reduce->getMode() == "mean") &&
           isSum(reduce->getInput());
  if (auto *sum = value.getNodeAs<AddNode>())
    return isSum(sum->getX()) && isSum(sum->getY());
  if (auto *scaled = value.getNodeAs<MulNode>())
    return (isConstant(scaled->getY()) && isSum(scaled->getX())) ||
           (isConstant(scaled->getX()) && isSum(scaled->getY()));
  if (auto *quotient = value.getNodeAs<DivNode>())
    return isConstant(quotient->getY()) && isSum(quotient->getX());
  if (llvm::isa<ReshapeNode, BroadcastNode, TransposeNode>(value.node))
    return isSum(value.node->getOperand(0));
  return false;
}

// The derivative of a norm's root is infinite at 0, where those of its powers
// are 0: what goes back to them is 0, the subgradient of least norm, not the
// product of both. The root is taken of another number there, so that nothing
// is infinite in higher derivatives either.

void glowish::differentiateSqrt(SqrtNode &node, GradientContext &g) {
  GradientScalar root(g, node.getResult()), gradient(g, g.getGradient());
  if (!isSumOfPowers(node.getX())) {
    g.addBroadcast(node.xIdx, (gradient * 0.5 / root).value);
    return;
  }
  GradientBool isZero = root == 0.0;
  GradientScalar slope = gradient * 0.5 / select(isZero, 1.0, root);
  g.addBroadcast(node.xIdx, select(isZero, 0.0, slope).value);
}

static GradientScalar getPowSlope(const GradientScalar &x,
                                  const GradientScalar &y,
                                  const GradientScalar &gradient) {
  return select(y == 0.0, 0.0, gradient * y * pow(x, y - 1.0));
}

void glowish::differentiatePow(PowNode &node, GradientContext &g) {
  GradientScalar x(g, node.getX()), y(g, node.getY());
  GradientScalar result(g, node.getResult()), gradient(g, g.getGradient());
  GradientBool isZero = x == 0.0;
  if (g.needsGradient(node.xIdx) && isSumOfPowers(node.getX())) {
    GradientScalar slope = getPowSlope(select(isZero, 1.0, x), y, gradient);
    g.addBroadcast(node.xIdx, select(isZero, 0.0, slope).value);
  } else if (g.needsGradient(node.xIdx)) {
    g.addBroadcast(node.xIdx, getPowSlope(x, y, gradient).value);
  }
  if (g.needsGradient(node.yIdx)) {
    GradientScalar slope = gradient * result * log(x);
    g.addBroadcast(node.yIdx, select(isZero && y >= 0.0, 0.0, slope).value);
  }
}
