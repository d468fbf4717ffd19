//===- Dequantization.cpp - What quantized integers stand for -------------===//

#include "Util/Dequantization.h"
#include "glowish/Graph/NodeBuilder.h"

using namespace glowish;

const Tensor *glowish::getOrderedElements(NodeValue value) {
  while (auto *reshape = value.getNodeAs<ReshapeNode>())
    value = reshape->getInput();
  return getConstantTensor(value);
}

/// Whether \p kind is an integer of 8 bits or fewer.
static bool isSmallInteger(ElemKind kind) {
  return kind == ElemKind::Int8 || kind == ElemKind::UInt8 ||
         isLowIntegerKind(kind);
}

/// \p value without conversions to int32 of what has all values there.
static NodeValue stripCast(NodeValue value) {
  auto *cast = value.getNodeAs<CastNode>();
  if (!cast || cast->getTo() != ElemKind::Int32)
    return value;
  return isSmallInteger(cast->getX().getElemKind()) ? cast->getX() : value;
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
    if (isSmallInteger(value.getElemKind()))
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

NodeValue glowish::composeDequantization(Function &function,
                                         llvm::StringRef name,
                                         const Dequantization &x) {
  NodeBuilder b(function, name);
  NodeValue value = x.integer;
  if (x.zeroPoint)
    value = b.sub(b.cast(value, ElemKind::Int32),
                  b.cast(x.zeroPoint, ElemKind::Int32));
  return b.mul(b.cast(value, ElemKind::Float), x.scale);
}
