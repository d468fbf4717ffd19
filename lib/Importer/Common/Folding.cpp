//===- Folding.cpp - Constant folding during import -----------------------===//

#include "Common/Folding.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace glowish;

/// Shape arithmetic and weights are folded, but not the expansion of a small
/// constant to a large one.
static constexpr int64_t maxFoldedGrowth = 1 << 16;

bool FoldingBudget::take(int64_t bytes) {
  if (bytes <= maxFoldedGrowth)
    return true;
  if (bytes > left)
    return false;
  left -= bytes;
  return true;
}

llvm::Error FoldingBudget::check(int64_t bytes) {
  if (take(bytes))
    return llvm::Error::success();
  return makeError(
      "it creates a constant of {0} bytes, which exceeds the limit "
      "for computed constants",
      bytes);
}

int64_t glowish::getMostExpanded(int64_t stored) {
  constexpr int64_t maxGrowth = 64, freeBytes = 64 << 20;
  return maxGrowth * stored + freeBytes;
}

/// Whether \p node begins to compute what quantized weights stand for. The
/// optimizer multiplies them as the integers that they are. Lists and numbers
/// may be shapes, bounds or scales, which operators take as constants only.
static bool widensBytes(const Node &node) {
  auto *cast = llvm::dyn_cast<CastNode>(&node);
  if (!cast || cast->getType().getRank() < 2 ||
      cast->getType().getNumElements() == 1)
    return false;
  ElemKind from = cast->getX().getElemKind();
  return (from == ElemKind::Int8 || from == ElemKind::UInt8 ||
          isLowIntegerKind(from)) &&
         (cast->getTo() == ElemKind::Int32 || cast->getTo() == ElemKind::Float);
}

/// Nodes that take long are never part of shape arithmetic.
static bool shouldFold(const Node &node, FoldingBudget &budget) {
  if (!hasConstantOperands(node) || node.getNumResults() != 1 ||
      node.getInfo().has(OpTrait::SuperLinear) || widensBytes(node) ||
      node.getType().hasExtents())
    return false;
  llvm::SmallPtrSet<const Node *, 4> operands;
  int64_t operandBytes = 0;
  for (NodeValue value : node.getOperands())
    if (value && operands.insert(value.node).second)
      operandBytes += value.getType().getSizeInBytes();
  int64_t bytes = node.getType().getSizeInBytes();
  if (bytes > operandBytes + maxFoldedGrowth)
    return false;
  return budget.take(bytes + operandBytes);
}

llvm::Expected<NodeValue>
glowish::createFolded(Function &function, llvm::StringRef name, NodeDraft draft,
                      const NodeEvaluator &evaluate, FoldingBudget &budget) {
  GLOWISH_ASSIGN_OR_RETURN(Node *node,
                           function.tryCreate(name, std::move(draft)));
  if (!evaluate || !shouldFold(*node, budget))
    return node->getResult();
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Tensor> results, evaluate(*node));
  function.erase(node);
  return NodeValue(
      function.getModule().createConstant(name, std::move(results[0])));
}

void glowish::eraseUnusedConstants(Module &module) {
  std::vector<Constant *> unused;
  for (Node &node : module.getConstants())
    if (!node.hasUses())
      unused.push_back(llvm::cast<Constant>(&node));
  for (Constant *constant : unused)
    module.eraseConstant(constant);
}
