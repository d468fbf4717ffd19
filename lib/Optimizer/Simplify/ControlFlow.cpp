//===- ControlFlow.cpp - Branches and loops made smaller ------------------===//
//
// Propagates constants into bodies, so that the passes over bodies can fold and
// pack them, and takes results away that have no use.
//
//===----------------------------------------------------------------------===//

#include "Util/ConstantTensors.h"
#include "Util/Rewriter.h"
#include "glowish/Graph/NodeBuilder.h"
#include "glowish/Optimizer/Passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Sequence.h"

using namespace glowish;

/// Whether the results of \p node have the types of the values that \p branch
/// saves, but for extents that its own nodes declare.
static bool hasTypesOf(const IfNode &node, const Function &branch) {
  for (unsigned i = 0; i < node.getNumResults(); ++i) {
    const Type &own = branch.getResultValue(i).getType();
    if (node.getType(i) != own && node.getType(i) != own.withoutExtents())
      return false;
  }
  return true;
}

/// Puts the branch that a constant condition takes in the place of \p node.
static bool inlineBranch(IfNode &node) {
  const Tensor *condition = getConstantTensor(node.getCondition());
  if (!condition)
    return false;
  Function &function = *node.getParent();
  Function &branch = getFunction(condition->getAsInt(0) ? node.getThenBody()
                                                        : node.getElseBody());
  if (!hasTypesOf(node, branch))
    return false;
  InsertionGuard guard(function, &node);
  NodeBuilder b(function, node.getName());
  llvm::SmallVector<NodeValue, 4> values =
      branch.inlineInto(function, node.getCaptures());
  for (auto [i, value] : llvm::enumerate(values))
    node.getResult(i).replaceAllUsesWith(
        llvm::cantFail(b.finish(b.declareExtents(value, node.getType(i)))));
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

/// Creates a node of \p draft, whose bodies have the results that \p kept names
/// by their positions in \p node, and lets it take the place of that.
static Node *replaceResults(Node &node, NodeDraft draft,
                            llvm::ArrayRef<unsigned> kept) {
  Function &function = *node.getParent();
  InsertionGuard guard(function, &node);
  Node *smaller = function.create(node.getName(), std::move(draft));
  for (auto [i, old] : llvm::enumerate(kept))
    node.getResult(old).replaceAllUsesWith(smaller->getResult(unsigned(i)));
  return smaller;
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
  return replaceResults(node, std::move(draft),
                        llvm::to_vector(llvm::seq(node.getNumResults())));
}

//===- Results ------------------------------------------------------------===//

/// Takes results away that have no use. Returns the node that takes the place
/// of \p node, or null.
static Node *dropResults(IfNode &node, const GraphPassContext &context) {
  std::vector<unsigned> kept;
  for (unsigned i = 0; i < node.getNumResults(); ++i)
    if (!node.getResult(i).hasUses(0))
      kept.push_back(i);
  // Without any result it is dead code.
  if (kept.size() == node.getNumResults() || kept.empty())
    return nullptr;
  for (Function *body : getBodies(node)) {
    for (unsigned i = node.getNumResults(); i-- > 0;)
      if (node.getResult(i).hasUses(0))
        body->eraseResult(i);
    applyRewrites(*body, RewriteSet(), context);
  }
  return replaceResults(node, node.getDraft(), kept);
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
      for (NodeValue value : last->getReads())
        visit(value);
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

/// Takes states away that decide about nothing. Returns the node that takes the
/// place of \p node, or null.
static Node *dropStates(LoopNode &node, const GraphPassContext &context) {
  Function &body = getFunction(node.getBody());
  std::vector<bool> isLive = findLiveStates(node, body);
  if (llvm::all_of(isLive, [](bool own) { return own; }))
    return nullptr;
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
  return replaceResults(node, std::move(draft), kept);
}

/// Takes away what is not needed of \p node. Returns the node that takes its
/// place, or null.
static Node *makeSmaller(Node &node, const GraphPassContext &context) {
  auto *branch = llvm::dyn_cast<IfNode>(&node);
  auto *loop = llvm::dyn_cast<LoopNode>(&node);
  Node *smaller = branch ? dropResults(*branch, context)
                  : loop ? dropStates(*loop, context)
                         : nullptr;
  return smaller ? smaller : dropCaptures(node);
}

llvm::Expected<bool> glowish::simplifyControl(Function &function,
                                              const GraphPassContext &context) {
  bool changed = false;
  // From the last one on: what a node needs no more may be the only use of an
  // earlier one's result.
  llvm::SmallVector<Node *> nodes =
      llvm::to_vector(llvm::make_pointer_range(function.getNodes()));
  for (Node *node : llvm::reverse(nodes)) {
    if (isDead(*node)) {
      function.erase(node);
      changed = true;
      continue;
    }
    if (!node->getInfo().hasBodies())
      continue;
    while (Node *smaller = makeSmaller(*node, context)) {
      function.erase(node);
      node = smaller;
      changed = true;
    }
    auto *branch = llvm::dyn_cast<IfNode>(node);
    if (branch && inlineBranch(*branch)) {
      function.erase(branch);
      changed = true;
    }
  }
  return changed;
}
