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

llvm::Error glowish::differentiateCast(CastNode &node, GradientContext &g) {
  NodeValue gradient = g.getGradient();
  g.accumulate(node.xIdx, g.cast(gradient, node.getX().getElemKind()));
  return llvm::Error::success();
}
