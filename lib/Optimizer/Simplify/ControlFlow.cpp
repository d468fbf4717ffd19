//===- ControlFlow.cpp - Branches and loops made smaller ------------------===//
//
// Propagates constants into bodies, so that the passes over bodies can fold and
// pack them.
//
//===----------------------------------------------------------------------===//

#include "Util/ConstantTensors.h"
#include "glowish/Optimizer/Passes.h"

using namespace glowish;

/// Puts the branch that a constant condition takes in the place of \p node.
static bool inlineBranch(IfNode &node) {
  const Tensor *condition = getConstantTensor(node.getCondition());
  if (!condition)
    return false;
  Function &function = *node.getParent();
  Function &branch = getFunction(condition->getAsInt(0) ? node.getThenBody()
                                                        : node.getElseBody());
  InsertionGuard guard(function, &node);
  llvm::SmallVector<NodeValue, 4> values =
      branch.inlineInto(function, node.getCaptures());
  for (auto [i, value] : llvm::enumerate(values))
    node.getResult(i).replaceAllUsesWith(value);
  return true;
}

namespace {

/// The operands of a node that arrive in its bodies as they are.
struct Captures {
  unsigned firstOperand;
  unsigned firstParameter;
};

} // namespace

static Captures getCaptures(const Node &node) {
  if (auto *loop = llvm::dyn_cast<LoopNode>(&node)) {
    unsigned numStates = unsigned(loop->getNumStates());
    return {LoopNode::valuesIdx + numStates, 2 + numStates};
  }
  return {IfNode::capturesIdx, 0};
}

/// The replacement of capture \p operand: the first capture of the same value
/// from \p first on; \p operand itself where there is none.
static unsigned findSame(const Node &node, unsigned operand, unsigned first) {
  for (unsigned other = first; other < operand; ++other)
    if (node.getOperand(other) == node.getOperand(operand))
      return other;
  return operand;
}

/// Takes captures away that the bodies don't need. Returns the node that takes
/// the place of \p node, or null.
static Node *dropCaptures(Node &node) {
  auto [first, firstParameter] = getCaptures(node);
  NodeDraft draft = node.getDraft();
  llvm::SmallVector<Function *, 2> bodies = getBodies(node);
  // From the last one on, so that the positions before stay.
  for (unsigned i = node.getNumOperands(); i-- > first;) {
    NodeValue value = node.getOperand(i);
    unsigned same = findSame(node, i, first);
    bool isConstant = llvm::isa<Constant>(value.node);
    auto getParameter = [&](const Function *body, unsigned operand) {
      return NodeValue(
          body->getParameters()[operand - first + firstParameter].get());
    };
    if (isConstant || same != i)
      for (Function *body : bodies)
        getParameter(body, i).replaceAllUsesWith(
            isConstant ? value : getParameter(body, same));
    if (llvm::any_of(bodies, [&](const Function *body) {
          return getParameter(body, i).node->hasUses();
        }))
      continue;
    for (Function *body : bodies)
      body->eraseParameter(i - first + firstParameter);
    draft.operands.erase(draft.operands.begin() + i);
  }
  if (draft.operands.size() == node.getNumOperands())
    return nullptr;
  Function &function = *node.getParent();
  InsertionGuard guard(function, &node);
  Node *smaller = function.create(node.getName(), std::move(draft));
  for (unsigned i = 0; i < node.getNumResults(); ++i)
    node.getResult(i).replaceAllUsesWith(smaller->getResult(i));
  return smaller;
}

llvm::Expected<bool> glowish::simplifyControl(Function &function,
                                              const GraphPassContext &) {
  bool changed = false;
  for (auto it = function.getNodes().begin();
       it != function.getNodes().end();) {
    Node &node = *it++;
    if (!node.getInfo().hasBodies())
      continue;
    auto *branch = llvm::dyn_cast<IfNode>(&node);
    if (!(branch && inlineBranch(*branch)) && !dropCaptures(node))
      continue;
    function.erase(&node);
    changed = true;
  }
  return changed;
}
