//===- Rewriter.cpp - Small rewrites driven by one worklist ---------------===//

#include "Util/Rewriter.h"
#include "Util/NodeTrial.h"
#include "glowish/Ops/Predicate.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SetVector.h"

using namespace glowish;

NodeValue RewriteContext::createScalar(ElemKind kind, double value) {
  Tensor tensor(Type(kind, Dims()));
  tensor.setFromDouble(0, value);
  return createConstant(std::move(tensor));
}

NodeValue RewriteContext::transposeMatrices(NodeValue value) {
  // A transposition of matrices is its own inverse.
  auto permutation =
      llvm::to_vector(llvm::seq<int64_t>(value.getType().getRank()));
  std::swap(permutation.back(), permutation[permutation.size() - 2]);
  auto *transpose = value.getNodeAs<TransposeNode>();
  if (transpose && transpose->getPermutation() == llvm::ArrayRef(permutation))
    return transpose->getInput();
  return this->transpose(value, permutation);
}

NodeValue RewriteContext::reshape(NodeValue value, DimsRef shape) {
  if (value.getShape() == shape)
    return value;
  return create<ReshapeNode>(value, shape);
}

NodeValue RewriteContext::transpose(NodeValue value,
                                    llvm::ArrayRef<int64_t> permutation) {
  for (size_t d = 0; d < permutation.size(); ++d)
    if (permutation[d] != int64_t(d))
      return create<TransposeNode>(value, permutation);
  return value;
}

NodeValue glowish::joinReshapes(ReshapeNode &root, RewriteContext &context) {
  NodeValue input = root.getInput();
  if (input.getType() == root.getType())
    return input;
  auto *inner = input.getNodeAs<ReshapeNode>();
  return inner ? context.reshape(inner->getInput(), root.getShape())
               : NodeValue();
}

llvm::ArrayRef<NamedRewrite> RewriteSet::get(NodeKind kind) const {
  auto found = rewrites.find(unsigned(kind));
  if (found == rewrites.end())
    return {};
  return found->second;
}

std::string RewriteSet::describe(NodeKind kind,
                                 const NamedRewrite &rewrite) const {
  for (const auto &[otherKind, list] : rewrites)
    for (const NamedRewrite &other : list)
      if (other.name == rewrite.name && other.apply != rewrite.apply)
        return (rewrite.name + "<" + getNodeInfo(kind).name + ">").str();
  return rewrite.name.str();
}

std::set<std::string> RewriteSet::describeAll() const {
  std::set<std::string> all;
  for (const auto &[kind, list] : rewrites)
    for (const NamedRewrite &rewrite : list)
      all.insert(describe(NodeKind(kind), rewrite));
  return all;
}

namespace {

class Worklist {
public:
  explicit Worklist(Function &function) : function(function) {
    for (Node &node : function.getNodes())
      push(&node);
    // Taken from the back: operands come before their users.
    std::reverse(stack.begin(), stack.end());
  }

  Node *pop() {
    while (!stack.empty()) {
      Node *node = stack.back();
      stack.pop_back();
      if (queued.erase(node))
        return node;
    }
    return nullptr;
  }
  void push(Node *node) {
    if (node && node->getParent() == &function && queued.insert(node).second)
      stack.push_back(node);
  }
  void pushUsers(Node &node) {
    for (Use &use : node.uses())
      push(use.getUser());
  }
  /// Deletes \p node, and the operands that this leaves without users.
  void eraseIfDead(Node *node) {
    // A set: nodes that die may have an operand in common.
    llvm::SmallSetVector<Node *, 8> dying;
    dying.insert(node);
    while (!dying.empty()) {
      Node *next = dying.pop_back_val();
      if (next->getParent() != &function || !isDead(*next))
        continue;
      llvm::SmallVector<NodeValue, 4> operands = next->getReads();
      queued.erase(next);
      function.erase(next);
      llvm::DenseSet<Node *> seen;
      for (NodeValue operand : operands) {
        if (!operand || !seen.insert(operand.node).second)
          continue;
        push(operand.node);
        dying.insert(operand.node);
      }
    }
  }

private:
  Function &function;
  std::vector<Node *> stack;
  llvm::DenseSet<Node *> queued;
};

} // namespace

/// Lets \p replacement, which a rewrite has made for \p root alone, be computed
/// where that was needed.
static void takePredicate(NodeValue replacement, Node &root) {
  Node &node = *replacement.node;
  if (root.getPredicate() && takesPredicate(node.getInfo()) &&
      node.getNumResults() == 1)
    node.setPredicate(root.getPredicate());
}

bool glowish::applyRewrites(Function &function, const RewriteSet &set,
                            const GraphPassContext &pass) {
  Worklist worklist(function);
  if (pass.observer)
    for (const std::string &rewrite : set.describeAll())
      pass.observer->list(rewrite);
  bool changed = false;
  while (Node *node = worklist.pop()) {
    if (isDead(*node)) {
      worklist.eraseIfDead(node);
      changed = true;
      continue;
    }
    for (const NamedRewrite &rewrite : set.get(node->getKind())) {
      if (pass.observer)
        pass.observer->willTry(function);
      NodeValue replacement;
      llvm::SmallVector<Node *, 8> created;
      {
        NodeTrial trial(function, *node);
        RewriteContext context(*node, pass);
        replacement = rewrite.apply(*node, context);
        if (!replacement || !trial.allows(node->getResult(), replacement))
          continue;
        trial.keep();
        llvm::append_range(created, llvm::make_pointer_range(trial.getNodes()));
      }
      changed = true;
      assert(replacement.node != node && "a rewrite replaces its root");
      bool isNew = replacement.node->getParent() == &function &&
                   !replacement.node->hasUses();
      if (isNew)
        takePredicate(replacement, *node);
      node->getResult().replaceAllUsesWith(replacement);
      if (pass.observer)
        pass.observer->didApply(set.describe(node->getKind(), rewrite),
                                function);
      llvm::for_each(created, [&](Node *own) { worklist.push(own); });
      worklist.push(replacement.node);
      worklist.pushUsers(*replacement.node);
      worklist.eraseIfDead(node);
      break;
    }
  }
  return changed;
}
