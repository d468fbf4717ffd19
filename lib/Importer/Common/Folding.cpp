//===- Folding.cpp - Nodes computed while a model is imported -------------===//

#include "Common/Folding.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace glowish;

/// Shape arithmetic and weights are folded; a small constant that is repeated
/// into a large one is not.
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
  return makeError("it makes a constant of {0} bytes, with which the constants "
                   "that are computed would become too large",
                   bytes);
}

/// Whether the time that \p kind takes is linear in the bytes it reads and
/// writes. The others are never part of shape arithmetic.
static bool isLinear(NodeKind kind) {
  switch (kind) {
  case NodeKind::Convolution:
  case NodeKind::MatMul:
  case NodeKind::Gemm:
  case NodeKind::FullyConnected:
  case NodeKind::MaxPool:
  case NodeKind::AvgPool:
  case NodeKind::LocalResponseNormalization:
    return false;
  default:
    return true;
  }
}

static bool shouldFold(const Node &node, FoldingBudget &budget) {
  if (!hasConstantOperands(node) || node.getNumResults() != 1 ||
      !isLinear(node.getKind()))
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
  GLOWISH_TRY(Node * node, function.tryCreate(name, std::move(draft)));
  if (!evaluate || !shouldFold(*node, budget))
    return node->getResult();
  GLOWISH_TRY(std::vector<Tensor> results, evaluate(*node));
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
