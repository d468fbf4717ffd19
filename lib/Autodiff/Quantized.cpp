//===- Quantized.cpp - Gradients through quantized values -----------------===//

#include "Quantized.h"
#include "glowish/Autodiff/Gradients.h"
#include "glowish/Base/ElemRange.h"
#include "glowish/Graph/Module.h"
#include "glowish/Support/Error.h"

using namespace glowish;

/// The element kind of the adjoints of integer values.
static constexpr ElemKind gradientKind = ElemKind::Float;

static bool isInteger(NodeValue value) {
  return value && isIntegerKind(value.getElemKind());
}

static bool isNarrow(ElemKind kind) {
  return isIntegerKind(kind) && getElemSize(kind) <= 2;
}

//===- Quantizing conversions ---------------------------------------------===//

/// Returns the Round that \p value is, possibly shifted by a zero point and
/// clamped, or null.
static RoundNode *findRounding(NodeValue value, unsigned steps = 4) {
  if (!value || !steps)
    return nullptr;
  if (auto *round = value.getNodeAs<RoundNode>())
    return round;
  if (auto *clip = value.getNodeAs<ClipNode>())
    return findRounding(clip->getOperand(0), steps - 1);
  if (!llvm::isa<AddNode, SubNode, MaxNode, MinNode>(value.node))
    return nullptr;
  if (RoundNode *round = findRounding(value.node->getOperand(0), steps - 1))
    return round;
  return findRounding(value.node->getOperand(1), steps - 1);
}

Quantizers::Quantizers(llvm::ArrayRef<Node *> nodes) {
  std::vector<const CastNode *> casts;
  for (Node *node : nodes) {
    auto *cast = llvm::dyn_cast<CastNode>(node);
    if (!cast || !isNarrow(cast->getTo()) ||
        !isFloatKind(cast->getX().getElemKind()))
      continue;
    RoundNode *rounding = findRounding(cast->getX());
    if (!rounding)
      continue;
    quantizers.insert(cast);
    roundings.insert(rounding);
    casts.push_back(cast);
  }
  for (const CastNode *cast : casts)
    addRange(*cast);
}

/// Records scale and zero point if \p quantizer is dynamic: its zero point has
/// itself been quantized.
void Quantizers::addRange(const CastNode &quantizer) {
  auto *shifted = quantizer.getX().getNodeAs<AddNode>();
  if (!shifted)
    return;
  for (unsigned i = 0; i < 2; ++i) {
    auto *zeroPoint = shifted->getOperand(i).getNodeAs<CastNode>();
    auto *rounding = shifted->getOperand(1 - i).getNodeAs<RoundNode>();
    if (!zeroPoint || !rounding || !isQuantizer(*zeroPoint->getX().node))
      continue;
    ranges.insert(zeroPoint->getX());
    if (auto *scaled = rounding->getOperand(0).getNodeAs<DivNode>())
      ranges.insert(scaled->getOperand(1));
  }
}

bool Quantizers::isActive(Node &node, unsigned index,
                          const llvm::DenseSet<NodeValue> &active) const {
  ElemKind kind = node.getType(index).getKind();
  if (isQuantizer(node))
    return true;
  // Not known for nodes with bodies; differentiateQuantized refuses them.
  if (!getBodies(node).empty())
    return isNarrow(kind);
  if (getDifferentiability(node.getKind()).kind == Differentiability::Zero)
    return false;
  return llvm::any_of(node.getOperands(), [&](NodeValue operand) {
    return isInteger(operand) && active.contains(operand) &&
           (operand.getElemKind() == kind || llvm::isa<CastNode>(node));
  });
}

//===- Adjoints -----------------------------------------------------------===//

bool glowish::isQuantized(Node &node, const GradientMap &gradients,
                          const llvm::DenseSet<NodeValue> &active) {
  for (unsigned i = 0; i < node.getNumResults(); ++i)
    if (isInteger(node.getResult(i)) && gradients.count(node.getResult(i)))
      return true;
  // Other nodes that compute floats from integers use them as indices.
  if (!llvm::isa<CastNode>(node) && getBodies(node).empty())
    return false;
  return llvm::any_of(node.getOperands(), [&](NodeValue operand) {
    return isInteger(operand) && active.contains(operand);
  });
}

static llvm::Error differentiateConversion(CastNode &node,
                                           GradientMap &gradients,
                                           GradientContext &g) {
  NodeValue gradient = g.getGradient(), x = node.getX();
  if (!isInteger(x)) {
    // Values that saturate have a gradient of zero.
    auto [low, high] = getFiniteRange(node.getTo());
    NodeValue isInside =
        g.logicalAnd(g.greaterOrEqual(x, low), g.lessOrEqual(x, high));
    gradient = g.cast(gradient, x.getElemKind());
    g.accumulate(node.xIdx,
                 gradient ? g.select(isInside, gradient, g.number(gradient, 0))
                          : gradient);
    return g.takeError();
  }
  if (isIntegerKind(node.getTo())) {
    ElemRange from = getFiniteRange(x.getElemKind());
    ElemRange to = getFiniteRange(node.getTo());
    if (!to.contains(from.low) || !to.contains(from.high))
      return makeError("it has no gradient: quantized values become {0}, "
                       "which does not hold all of {1}",
                       getElemKindName(node.getTo()), x.getType().str());
  }
  if (NodeValue adjoint = g.cast(gradient, gradientKind))
    gradients[x].push_back(adjoint);
  return g.takeError();
}

llvm::Error glowish::differentiateQuantized(
    Node &node, GradientMap &gradients, const llvm::DenseSet<NodeValue> &active,
    llvm::function_ref<void(Node &, GradientContext &)> differentiate) {
  GradientContext outer(node, gradients, active);
  if (!getBodies(node).empty())
    return makeError("it has no gradient: its body takes or returns quantized "
                     "values");
  if (auto *cast = llvm::dyn_cast<CastNode>(&node))
    return differentiateConversion(*cast, gradients, outer);
  if (llvm::isa<DivNode>(node))
    return makeError("it has no gradient: a quotient of integers is truncated");
  // Build the same node on floats; only its gradient uses the results.
  NodeDraft draft = node.getDraft();
  ElemKind kind = node.getType().getKind();
  llvm::DenseSet<NodeValue> activeFloats;
  for (unsigned i = 0; i < node.getNumOperands(); ++i) {
    NodeValue operand = node.getOperand(i);
    if (!isInteger(operand) || operand.getElemKind() != kind)
      continue;
    draft.operands[i] = outer.make<CastNode>(operand, gradientKind);
    if (active.contains(operand))
      activeFloats.insert(draft.operands[i]);
  }
  GLOWISH_RETURN_IF_ERROR(outer.takeError());
  GLOWISH_ASSIGN_OR_RETURN(
      Node *floats,
      node.getParent()->tryCreate(outer.getName(), std::move(draft)));
  for (unsigned i = 0; i < node.getNumResults(); ++i) {
    auto parts = std::move(gradients[node.getResult(i)]);
    gradients[floats->getResult(i)] = std::move(parts);
  }
  GradientContext g(*floats, gradients, activeFloats);
  differentiate(*floats, g);
  GLOWISH_RETURN_IF_ERROR(g.takeError());
  for (unsigned i = 0; i < node.getNumOperands(); ++i) {
    auto adjoint = gradients.find(floats->getOperand(i));
    if (!activeFloats.contains(floats->getOperand(i)) ||
        adjoint == gradients.end())
      continue;
    auto parts = std::move(adjoint->second);
    gradients[node.getOperand(i)].append(parts);
  }
  return llvm::Error::success();
}
