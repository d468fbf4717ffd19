//===- Dequantization.cpp - What quantized integers stand for -------------===//

#include "Util/Dequantization.h"

using namespace glowish;

const Tensor *glowish::getOrderedElements(NodeValue value) {
  while (auto *reshape = value.getNodeAs<ReshapeNode>())
    value = reshape->getInput();
  return getConstantTensor(value);
}

/// \p value without conversions to int32 of what has all values there.
static NodeValue stripCast(NodeValue value) {
  auto *cast = value.getNodeAs<CastNode>();
  if (!cast || cast->getTo() != ElemKind::Int32)
    return value;
  ElemKind from = cast->getX().getElemKind();
  return from == ElemKind::Int8 || from == ElemKind::UInt8 ? cast->getX()
                                                           : value;
}

/// Matches int32 \p value: integer - zero point.
static std::optional<Dequantization> matchDifference(NodeValue value) {
  if (value.getElemKind() != ElemKind::Int32)
    return std::nullopt;
  auto *sub = value.getNodeAs<SubNode>();
  if (!sub)
    return Dequantization{.integer = stripCast(value)};
  NodeValue integer = stripCast(sub->getX()), zero = stripCast(sub->getY());
  bool isKnown = integer.getElemKind() == zero.getElemKind() ||
                 getOrderedElements(zero) != nullptr;
  if (!isKnown || integer.getShape() != value.getShape())
    return std::nullopt;
  return Dequantization{.integer = integer, .zeroPoint = zero};
}

std::optional<Dequantization> glowish::matchDequantization(NodeValue value) {
  llvm::SmallVector<Node *, 2> moves;
  while (llvm::isa<ReshapeNode, TransposeNode>(value.node)) {
    moves.push_back(value.node);
    value = value.node->getOperand(0);
  }
  NodeValue scale;
  if (value.getElemKind() == ElemKind::Float) {
    auto *mul = value.getNodeAs<MulNode>();
    auto *cast = mul ? mul->getX().getNodeAs<CastNode>() : nullptr;
    if (!cast || cast->getType().getShape() != mul->getType().getShape())
      return std::nullopt;
    scale = mul->getY();
    value = cast->getX();
    // The kind of an integer may have been converted in one step.
    if (value.getElemKind() == ElemKind::Int8 ||
        value.getElemKind() == ElemKind::UInt8)
      return Dequantization{.integer = value, .scale = scale, .moves = moves};
  }
  std::optional<Dequantization> found = matchDifference(value);
  if (!found)
    return std::nullopt;
  found->scale = scale;
  found->moves = moves;
  return found;
}

NodeValue glowish::moveAlike(const Dequantization &c, NodeValue value,
                             RewriteContext &context) {
  for (Node *node : llvm::reverse(c.moves)) {
    if (auto *transpose = llvm::dyn_cast<TransposeNode>(node))
      value = context.transpose(value, transpose->getPermutation());
    else
      value = context.reshape(value, node->getType().getShape());
  }
  return value;
}
