//===- ControlFlow.cpp - Branches and loops made smaller ------------------===//
//
// Propagates constants into bodies, so that the passes over bodies can fold and
// pack them, and takes results away that have no use.
//
//===----------------------------------------------------------------------===//

#include "Util/ConstantTensors.h"
#include "Util/Rewriter.h"
#include "glowish/Optimizer/Passes.h"
#include "llvm/ADT/DenseSet.h"

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

//===- Results ------------------------------------------------------------===//

/// Creates a node of \p draft, whose bodies have the results that \p kept names
/// by their positions in \p node, and lets it take the place of that.
static void replaceResults(Node &node, NodeDraft draft,
                           llvm::ArrayRef<unsigned> kept) {
  Function &function = *node.getParent();
  InsertionGuard guard(function, &node);
  Node *smaller = function.create(node.getName(), std::move(draft));
  for (auto [i, old] : llvm::enumerate(kept))
    node.getResult(old).replaceAllUsesWith(smaller->getResult(unsigned(i)));
}

/// Takes results away that have no use. Returns whether there were some.
static llvm::Expected<bool> dropResults(IfNode &node,
                                        const GraphPassContext &context) {
  std::vector<unsigned> kept;
  for (unsigned i = 0; i < node.getNumResults(); ++i)
    if (!node.getResult(i).hasUses(0))
      kept.push_back(i);
  // Without any result it is dead code.
  if (kept.size() == node.getNumResults() || kept.empty())
    return false;
  for (Function *body : getBodies(node)) {
    for (unsigned i = node.getNumResults(); i-- > 0;)
      if (node.getResult(i).hasUses(0))
        body->eraseResult(i);
    applyRewrites(*body, RewriteSet(), context);
  }
  replaceResults(node, node.getDraft(), kept);
  return true;
}

/// Which states of \p node decide about a result that is used, about another
/// such state, or about how often the body is executed.
static std::vector<bool> findLiveStates(LoopNode &node, const Function &body) {
  auto numStates = unsigned(node.getNumStates());
  std::vector<bool> isLive(numStates);
  llvm::DenseSet<const Node *> seen;
  std::vector<const Node *> open;
  auto visit = [&](NodeValue value) {
    if (value && seen.insert(value.node).second)
      open.push_back(value.node);
  };
  auto follow = [&] {
    while (!open.empty()) {
      const Node *last = open.back();
      open.pop_back();
      for (unsigned i = 0; i < last->getNumOperands(); ++i)
        visit(last->getOperand(i));
    }
  };
  // Scan outputs are kept.
  visit(body.getResultValue(0));
  for (unsigned i = 1 + numStates; i < body.getResults().size(); ++i)
    visit(body.getResultValue(i));
  for (bool isChanged = true; isChanged;) {
    follow();
    isChanged = false;
    for (unsigned i = 0; i < numStates; ++i) {
      if (isLive[i] || (node.getResult(i).hasUses(0) &&
                        !seen.contains(body.getParameters()[2 + i].get())))
        continue;
      isLive[i] = isChanged = true;
      visit(body.getResultValue(1 + i));
    }
  }
  return isLive;
}

/// Takes states away that decide about nothing. Returns whether there were
/// some.
static llvm::Expected<bool> dropStates(LoopNode &node,
                                       const GraphPassContext &context) {
  Function &body = getFunction(node.getBody());
  std::vector<bool> isLive = findLiveStates(node, body);
  if (llvm::all_of(isLive, [](bool own) { return own; }))
    return false;
  for (unsigned i = unsigned(isLive.size()); i-- > 0;)
    if (!isLive[i])
      body.eraseResult(1 + i);
  applyRewrites(body, RewriteSet(), context);
  NodeDraft draft = node.getDraft();
  std::vector<unsigned> kept;
  for (unsigned i = 0; i < node.getNumResults(); ++i)
    if (i >= isLive.size() || isLive[i])
      kept.push_back(i);
  for (unsigned i = unsigned(isLive.size()); i-- > 0;)
    if (!isLive[i]) {
      body.eraseParameter(2 + i);
      draft.operands.erase(draft.operands.begin() + LoopNode::valuesIdx + i);
    }
  draft.attrs[LoopNode::numStatesAttr] = llvm::count(isLive, true);
  replaceResults(node, std::move(draft), kept);
  return true;
}

/// Takes unused results of \p node away.
static llvm::Expected<bool> dropUnused(Node &node,
                                       const GraphPassContext &context) {
  if (auto *branch = llvm::dyn_cast<IfNode>(&node))
    return dropResults(*branch, context);
  auto *loop = llvm::dyn_cast<LoopNode>(&node);
  return loop ? dropStates(*loop, context) : false;
}

llvm::Expected<bool> glowish::simplifyControl(Function &function,
                                              const GraphPassContext &context) {
  bool changed = false;
  for (auto it = function.getNodes().begin();
       it != function.getNodes().end();) {
    Node &node = *it++;
    if (!node.getInfo().hasBodies())
      continue;
    auto *branch = llvm::dyn_cast<IfNode>(&node);
    bool isReplaced = (branch && inlineBranch(*branch)) || dropCaptures(node);
    if (!isReplaced) {
      GLOWISH_ASSIGN_OR_RETURN(isReplaced, dropUnused(node, context));
    }
    if (!isReplaced)
      continue;
    function.erase(&node);
    changed = true;
  }
  return changed;
}
