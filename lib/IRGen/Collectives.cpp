//===- Collectives.cpp - Reductions beside other computations -------------===//

#include "Collectives.h"
#include "llvm/ADT/DenseSet.h"

using namespace glowish;

using NodeSet = llvm::DenseSet<const Node *>;

static bool isCollective(const Node &node) {
  return node.getInfo().has(OpTrait::Collective);
}

/// The collective nodes of \p order on which no other one depends.
static NodeSet findLast(llvm::ArrayRef<Node *> order) {
  NodeSet last, feedsOther;
  for (const Node *node : llvm::reverse(order)) {
    bool feeds = llvm::any_of(node->uses(), [&](const Use &use) {
      return isCollective(*use.getUser()) || feedsOther.contains(use.getUser());
    });
    if (feeds)
      feedsOther.insert(node);
    else if (isCollective(*node))
      last.insert(node);
  }
  return last;
}

/// The nodes of \p order that depend on one of \p sources.
static NodeSet findDependent(llvm::ArrayRef<Node *> order,
                             const NodeSet &sources) {
  NodeSet dependent;
  for (const Node *node : order)
    for (NodeValue operand : node->getReads())
      if (operand &&
          (sources.contains(operand.node) || dependent.contains(operand.node)))
        dependent.insert(node);
  return dependent;
}

/// \p reductions and the nodes of \p order that only move elements to them.
static NodeSet findFeeders(llvm::ArrayRef<Node *> order,
                           const NodeSet &reductions) {
  NodeSet feeders = reductions;
  for (const Node *node : llvm::reverse(order)) {
    bool moves = node->getInfo().has(OpTrait::StaticDataMovement) ||
                 node->getInfo().has(OpTrait::View);
    bool isRead = false, isOnlyFed = true;
    for (const Use &use : node->uses()) {
      isRead = true;
      isOnlyFed &= feeders.contains(use.getUser());
    }
    if (moves && isRead && isOnlyFed)
      feeders.insert(node);
  }
  return feeders;
}

namespace {

/// Puts nodes one after the other, and feeders as soon as they can be.
class EarlyOrder {
public:
  EarlyOrder(llvm::ArrayRef<Node *> order, const NodeSet &feeders)
      : feeders(feeders) {
    for (const Node *node : order)
      inOrder.insert(node);
  }
  void add(Node *node);
  std::vector<Node *> take() { return std::move(result); }

private:
  bool isReady(const Node &node) const {
    return llvm::all_of(node.getReads(), [&](NodeValue operand) {
      return !operand || !inOrder.contains(operand.node) ||
             added.contains(operand.node);
    });
  }

  const NodeSet &feeders;
  NodeSet inOrder, added;
  std::vector<Node *> result;
};

} // namespace

void EarlyOrder::add(Node *first) {
  std::vector<Node *> pending = {first};
  while (!pending.empty()) {
    Node *node = pending.back();
    pending.pop_back();
    if (!added.insert(node).second)
      continue;
    result.push_back(node);
    for (const Use &use : node->uses())
      if (feeders.contains(use.getUser()) && isReady(*use.getUser()))
        pending.push_back(use.getUser());
  }
}

std::vector<Node *> glowish::overlapReductions(std::vector<Node *> order) {
  NodeSet reductions = findLast(order);
  if (reductions.empty())
    return order;
  NodeSet dependent = findDependent(order, reductions);
  NodeSet feeders = findFeeders(order, reductions);
  EarlyOrder early(order, feeders);
  for (bool isDependent : {false, true})
    for (Node *node : order)
      if (dependent.contains(node) == isDependent)
        early.add(node);
  return early.take();
}
