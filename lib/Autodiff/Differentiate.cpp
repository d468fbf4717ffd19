//===- Differentiate.cpp - Reverse-mode differentiation -------------------===//

#include "GradientContext.h"
#include "GradientSum.h"
#include "Quantized.h"
#include "glowish/Autodiff/Gradients.h"
#include "glowish/Support/Error.h"

using namespace glowish;

DifferentiabilityInfo glowish::getDifferentiability(NodeKind kind) {
  switch (kind) {
#define NODE_GRADIENT(NAME) case NodeKind::NAME:
#define FORMULA_GRADIENT(NAME) case NodeKind::NAME:
#define ZERO_GRADIENT(NAME, REASON)
#define NO_GRADIENT(NAME, REASON)
#define GET_GRADIENT_LIST
#include "glowish/Autodiff/Gradients.inc"
  case NodeKind::Placeholder:
  case NodeKind::Constant:
    return {Differentiability::Differentiable, ""};
#define NODE_GRADIENT(NAME)
#define FORMULA_GRADIENT(NAME)
#define ZERO_GRADIENT(NAME, REASON)                                            \
  case NodeKind::NAME:                                                         \
    return {Differentiability::Zero, REASON};
#define NO_GRADIENT(NAME, REASON)                                              \
  case NodeKind::NAME:                                                         \
    return {Differentiability::Refused, REASON};
#define GET_GRADIENT_LIST
#include "glowish/Autodiff/Gradients.inc"
  }
  llvm_unreachable("not a node kind");
}

/// Adds to the adjoints of the operands of \p node.
static void differentiateNode(Node &node, GradientContext &g) {
  switch (node.getKind()) {
#define NODE_GRADIENT(NAME)                                                    \
  case NodeKind::NAME:                                                         \
    return differentiate##NAME(llvm::cast<NAME##Node>(node), g);
#define FORMULA_GRADIENT(NAME)                                                 \
  case NodeKind::NAME:                                                         \
    return differentiateFormula(node, g);
#define ZERO_GRADIENT(NAME, REASON)                                            \
  case NodeKind::NAME:                                                         \
    return;
#define NO_GRADIENT(NAME, REASON)                                              \
  case NodeKind::NAME:                                                         \
    return g.keepError(makeError("it has no gradient: {0}", REASON));
#define GET_GRADIENT_LIST
#include "glowish/Autodiff/Gradients.inc"
  case NodeKind::Placeholder:
  case NodeKind::Constant:
    break;
  }
  llvm_unreachable("storage is not computed");
}

namespace {

class Differentiation {
public:
  Differentiation(Function &function, llvm::ArrayRef<NodeValue> variables)
      : function(function), variables(variables),
        nodes(llvm::to_vector_of<Node *, 0>(
            llvm::make_pointer_range(function.getNodes()))),
        quantizers(nodes) {}
  llvm::Expected<std::vector<NodeValue>>
  run(llvm::ArrayRef<GradientSeed> seeds);

private:
  llvm::Error check(NodeValue value, llvm::StringRef role) const;
  void findActive();
  llvm::Error visit(Node &node);
  llvm::Error differentiate(Node &node);
  NodeValue sum(NodeValue variable);

  Function &function;
  llvm::ArrayRef<NodeValue> variables;
  /// The forward pass, before gradients are added.
  llvm::SmallVector<Node *, 0> nodes;
  Quantizers quantizers;
  llvm::DenseSet<NodeValue> active;
  GradientMap gradients;
};

} // namespace

llvm::Error Differentiation::check(NodeValue value,
                                   llvm::StringRef role) const {
  if (isFloatKind(value.getElemKind()))
    return llvm::Error::success();
  return makeError("{0} '{1}': {2} is {3}; accepted: a float kind",
                   value.node->getKindName(), value.node->getName(), role,
                   value.getType().str());
}

/// A result is active if an operand is.
void Differentiation::findActive() {
  active.insert(variables.begin(), variables.end());
  for (Node *node : nodes) {
    if (llvm::none_of(node->getOperands(), [&](NodeValue operand) {
          return operand && active.contains(operand);
        }))
      continue;
    for (unsigned i = 0; i < node->getNumResults(); ++i) {
      ElemKind kind = node->getType(i).getKind();
      NodeValue result = node->getResult(i);
      if (!quantizers.isRange(result) &&
          (isFloatKind(kind) ||
           (isIntegerKind(kind) && quantizers.isActive(*node, i, active))))
        active.insert(result);
    }
  }
}

llvm::Error Differentiation::visit(Node &node) {
  bool isReached = false;
  for (unsigned i = 0; i < node.getNumResults(); ++i)
    isReached |= gradients.count(node.getResult(i)) != 0;
  bool isActive = false;
  for (unsigned i = 0; i < node.getNumOperands(); ++i)
    isActive |= active.contains(node.getOperand(i));
  if (!isReached || !isActive)
    return llvm::Error::success();
  llvm::Error error = differentiate(node);
  if (!error)
    return error;
  return addContext(std::move(error),
                    node.getKindName() + " '" + node.getName() + "': ");
}

llvm::Error Differentiation::differentiate(Node &node) {
  if (isQuantized(node, gradients, active))
    return differentiateQuantized(node, gradients, active, differentiateNode);
  GradientContext context(node, gradients, active);
  if (quantizers.isRounding(node))
    context.accumulate(0, context.getGradient());
  else
    differentiateNode(node, context);
  return context.takeError();
}

NodeValue Differentiation::sum(NodeValue variable) {
  auto &parts = gradients[variable];
  NodeBuilder builder(function, (variable.node->getName() + ".grad").str());
  if (parts.empty())
    return builder.splat(variable.getElemKind(), variable.getShape(), 0);
  NodeValue sum = sumGradients(builder, parts);
  parts = {sum};
  return sum;
}

llvm::Expected<std::vector<NodeValue>>
Differentiation::run(llvm::ArrayRef<GradientSeed> seeds) {
  for (NodeValue variable : variables)
    GLOWISH_RETURN_IF_ERROR(check(variable, "the variable of differentiation"));
  // A row that nothing needs may be NaN, and its gradient of 0 would not
  // remove that from sums over all rows.
  function.dropPredicates();
  findActive();
  for (const GradientSeed &seed : seeds) {
    GLOWISH_RETURN_IF_ERROR(check(seed.value, "the differentiated value"));
    assert(seed.value.getType() == seed.gradient.getType());
    gradients[seed.value].push_back(seed.gradient);
  }
  for (Node *node : llvm::reverse(nodes))
    GLOWISH_RETURN_IF_ERROR(visit(*node));
  std::vector<NodeValue> results;
  for (NodeValue variable : variables)
    results.push_back(sum(variable));
  return results;
}

llvm::Expected<std::vector<NodeValue>>
glowish::addGradients(Function &function, llvm::ArrayRef<GradientSeed> seeds,
                      llvm::ArrayRef<NodeValue> variables) {
  return Differentiation(function, variables).run(seeds);
}
