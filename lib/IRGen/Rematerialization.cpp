//===- Rematerialization.cpp - Computing again instead of keeping ---------===//

#include "glowish/IRGen/Rematerialization.h"
#include "Collectives.h"
#include "MinCut.h"
#include "glowish/Graph/Module.h"
#include "glowish/IRGen/IRGen.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <list>
#include <numeric>

using namespace glowish;

using NodeSet = llvm::DenseSet<const Node *>;

/// Results so much smaller than what they are computed from are kept.
static constexpr int64_t smallFactor = 64;

static bool isCheap(const Node &node) {
  return isElementWise(node) || node.getInfo().has(OpTrait::CheapToRecompute);
}

static int64_t getBytes(const Node &node) {
  int64_t bytes = 0;
  for (const Type &type : node.getTypes())
    bytes += int64_t(type.getSizeInBytes());
  return bytes;
}

/// Whether a copy of \p node computes the same.
static bool canCopy(const Node &node) {
  return !node.hasSideEffects() && getBodies(node).empty() &&
         !node.getInfo().has(OpTrait::Collective);
}

namespace {

/// The nodes of the forward pass, and those of them that the backward pass
/// reads.
class ForwardPass {
public:
  ForwardPass(llvm::ArrayRef<Node *> order, unsigned last);

  /// The position of its last node in \p order; none if there is no backward
  /// pass.
  static std::optional<unsigned> findLast(llvm::ArrayRef<Node *> order,
                                          const Placeholder &loss);

  /// The distinct nodes of it that \p node reads.
  llvm::SmallVector<Node *, 4> getSources(const Node &node) const;
  /// Of one of `nodes`.
  unsigned getPosition(Node *node) const { return positions.lookup(node); }

  std::vector<Node *> nodes;
  /// Those of `nodes` that the backward pass reads, in their order.
  std::vector<Node *> kept;

private:
  llvm::DenseMap<Node *, unsigned> positions; // of nodes
};

} // namespace

ForwardPass::ForwardPass(llvm::ArrayRef<Node *> order, unsigned last)
    : nodes(order.take_front(last + 1)) {
  for (unsigned i = 0; i <= last; ++i)
    positions[order[i]] = i;
  NodeSet isKept;
  for (Node *node : order.drop_front(last + 1))
    for (Node *source : getSources(*node))
      isKept.insert(source);
  for (Node *node : nodes)
    if (isKept.contains(node))
      kept.push_back(node);
}

llvm::SmallVector<Node *, 4> ForwardPass::getSources(const Node &node) const {
  llvm::SmallVector<Node *, 4> sources;
  for (NodeValue operand : node.getReads())
    if (operand && positions.count(operand.node) &&
        !llvm::is_contained(sources, operand.node))
      sources.push_back(operand.node);
  return sources;
}

/// The position of the last node that the loss depends on and others read.
std::optional<unsigned> ForwardPass::findLast(llvm::ArrayRef<Node *> order,
                                              const Placeholder &loss) {
  NodeSet isForward;
  for (Node *node : llvm::reverse(order)) {
    auto *save = llvm::dyn_cast<SaveNode>(node);
    if (!isForward.contains(node) && !(save && save->getOutput().node == &loss))
      continue;
    isForward.insert(node);
    for (NodeValue operand : node->getReads())
      if (operand)
        isForward.insert(operand.node);
  }
  for (unsigned i = order.size(); i-- > 0;)
    if (isForward.contains(order[i]) &&
        llvm::any_of(order[i]->uses(), [&](const Use &use) {
          return !isForward.contains(use.getUser());
        }))
      return i;
  return std::nullopt;
}

//===- Segments -----------------------------------------------------------===//

/// The segment of each node of \p forward: `count` parts of about as many kept
/// bytes, divided where the fewest bytes go from one to the next.
static std::vector<unsigned> findSegments(const ForwardPass &forward,
                                          unsigned count) {
  size_t size = forward.nodes.size();
  std::vector<int64_t> kept(size, 0), live(size, 0);
  for (Node *node : forward.kept)
    kept[forward.getPosition(node)] = getBytes(*node);
  // For each node, the last reader before the boundary.
  std::vector<unsigned> lastRead(size);
  for (unsigned i = 0; i < size; ++i)
    for (Node *source : forward.getSources(*forward.nodes[i]))
      lastRead[forward.getPosition(source)] = i;
  for (unsigned i = 0; i < size; ++i)
    if (lastRead[i] > i) {
      live[i] += getBytes(*forward.nodes[i]);
      live[lastRead[i]] -= getBytes(*forward.nodes[i]);
    }
  std::partial_sum(live.begin(), live.end(), live.begin());
  int64_t total = 0, sum = 0;
  for (int64_t bytes : kept)
    total += bytes;
  std::vector<unsigned> segments(size);
  // The best place to end the present segment, half a segment around its share.
  unsigned segment = 0;
  std::optional<unsigned> best;
  std::vector<bool> isEnd(size, false);
  for (unsigned i = 0; i < size; ++i) {
    sum += kept[i];
    double at = double(sum) / double(std::max<int64_t>(total, 1)) * count;
    if (best && at > segment + 1.5) {
      isEnd[*best] = true;
      best.reset();
      ++segment;
    }
    if (segment + 1 < count && at >= segment + 0.5 &&
        (!best || live[i] < live[*best]))
      best = i;
  }
  if (best)
    isEnd[*best] = true;
  unsigned number = 0;
  for (unsigned i = 0; i < size; ++i) {
    segments[i] = number;
    number += isEnd[i];
  }
  return segments;
}

//===- What is computed again ---------------------------------------------===//

/// The nodes that others in later segments read.
static NodeSet findPassed(const ForwardPass &forward,
                          llvm::ArrayRef<unsigned> segments) {
  NodeSet passed;
  for (auto [position, node] : llvm::enumerate(forward.nodes))
    for (Node *source : forward.getSources(*node))
      if (segments[forward.getPosition(source)] != segments[position])
        passed.insert(source);
  return passed;
}

/// Selects the cheap nodes of \p forward whose rematerialization leaves the
/// fewest bytes to keep. Values that cross segments are kept if they are
/// needed: a chain of cheap nodes (the skips of a residual network) would
/// otherwise be computed again from its beginning, with all of it live at the
/// same time.
static NodeSet findCheap(const ForwardPass &forward,
                         llvm::ArrayRef<unsigned> segments) {
  NodeSet passed = findPassed(forward, segments);
  // The nodes that may be copied: kept nodes and those that they depend on.
  std::vector<Node *> nodes;
  llvm::DenseMap<Node *, unsigned> numbers;
  auto isCopied = [&](const Node &node) {
    return isCheap(node) && canCopy(node) && !passed.contains(&node);
  };
  auto add = [&](Node *node) {
    if (numbers.insert({node, unsigned(nodes.size())}).second)
      nodes.push_back(node);
  };
  for (Node *node : forward.kept)
    add(node);
  for (size_t i = 0; i < nodes.size(); ++i)
    if (isCopied(*nodes[i]))
      for (Node *source : forward.getSources(*nodes[i]))
        add(source);

  // Each node is an edge; cutting it means keeping its results. Nodes that are
  // not copied follow the source; values that the backward pass reads precede
  // the sink.
  unsigned source = 2 * unsigned(nodes.size()), sink = source + 1;
  MinCut graph(sink + 1);
  for (unsigned i = 0; i < nodes.size(); ++i) {
    graph.addEdge(2 * i, 2 * i + 1, getBytes(*nodes[i]));
    if (!isCopied(*nodes[i])) {
      graph.addEdge(source, 2 * i, MinCut::unlimited);
      continue;
    }
    for (Node *operand : forward.getSources(*nodes[i]))
      graph.addEdge(2 * numbers.lookup(operand) + 1, 2 * i, MinCut::unlimited);
  }
  for (Node *node : forward.kept)
    graph.addEdge(2 * numbers.lookup(node) + 1, sink, MinCut::unlimited);
  std::vector<bool> isOnSinkSide = graph.findSinkSide(source, sink);
  NodeSet again;
  for (unsigned i = 0; i < nodes.size(); ++i)
    if (isCopied(*nodes[i]) && isOnSinkSide[2 * i])
      again.insert(nodes[i]);
  return again;
}

/// All nodes of all segments but the last, except those with users in later
/// segments.
static NodeSet findInSegments(const ForwardPass &forward,
                              llvm::ArrayRef<unsigned> segments) {
  NodeSet again, passed = findPassed(forward, segments);
  for (auto [position, node] : llvm::enumerate(forward.nodes)) {
    int64_t largest = 0;
    for (Node *source : forward.getSources(*node))
      largest = std::max(largest, getBytes(*source));
    if (segments[position] != segments.back() && canCopy(*node) &&
        !passed.contains(node) && getBytes(*node) * smallFactor > largest)
      again.insert(node);
  }
  return again;
}

//===- Copies -------------------------------------------------------------===//

namespace {

/// Puts copies of nodes before the nodes of the backward pass that read them.
class Copier {
public:
  Copier(Function &function, const NodeSet &again)
      : function(function), again(again) {}
  void run(std::vector<Node *> &order, unsigned last);
  /// Takes the copies out of the function again.
  void undo();

private:
  void addCopies(Node *node);
  NodeValue get(NodeValue value) const {
    Node *copy = copies.lookup(value.node);
    return copy ? NodeValue(copy, value.result) : value;
  }

  Function &function;
  const NodeSet &again;
  llvm::DenseMap<Node *, Node *> copies;
  /// Nodes and their copies in the order in which these were made.
  std::vector<std::pair<Node *, Node *>> made;
  std::vector<Node *> result;
};

} // namespace

/// Copies of what \p node reads, operands first.
void Copier::addCopies(Node *node) {
  std::vector<std::pair<Node *, unsigned>> stack = {{node, 0}};
  while (!stack.empty()) {
    auto &[top, next] = stack.back();
    if (next < top->getNumOperands()) {
      NodeValue operand = top->getOperand(next++);
      if (operand && again.contains(operand.node) &&
          !copies.count(operand.node))
        stack.push_back({operand.node, 0});
      continue;
    }
    Node *done = top;
    stack.pop_back();
    if (stack.empty() || copies.count(done))
      continue;
    NodeDraft draft = done->getDraft();
    for (NodeValue &operand : draft.operands)
      operand = get(operand);
    Node *copy =
        function.create((done->getName() + ".again").str(), std::move(draft));
    copies[done] = copy;
    made.push_back({done, copy});
    result.push_back(copy);
  }
}

void Copier::run(std::vector<Node *> &order, unsigned last) {
  for (auto [position, node] : llvm::enumerate(order)) {
    if (position > last) {
      addCopies(node);
      for (unsigned i = 0; i < node->getNumOperands(); ++i)
        if (NodeValue operand = node->getOperand(i))
          node->setOperand(i, get(operand));
    }
    result.push_back(node);
  }
  order = std::move(result);
}

void Copier::undo() {
  for (auto [node, copy] : llvm::reverse(made)) {
    for (unsigned i = 0; i < node->getNumResults(); ++i)
      copy->getResult(i).replaceAllUsesWith(node->getResult(i));
    function.erase(copy);
  }
}

//===- The best of several ------------------------------------------------===//

namespace {

/// The options for rewriting an order.
struct Strategy {
  bool copiesCheap = false, copiesSegments = false;
  unsigned numSegments = 1;
};

/// An order with copies in it, in the function as well.
class Attempt {
public:
  Attempt(Function &function, std::vector<Node *> start,
          const Placeholder &loss, const Strategy &strategy);
  void undo() {
    for (Copies &added : llvm::reverse(copies))
      added.copier.undo();
  }
  std::vector<Node *> order;

private:
  struct Copies {
    Copies(Function &function, NodeSet nodes)
        : again(std::move(nodes)), copier(function, again) {}
    NodeSet again;
    Copier copier;
  };
  std::list<Copies> copies;
};

} // namespace

Attempt::Attempt(Function &function, std::vector<Node *> start,
                 const Placeholder &loss, const Strategy &strategy)
    : order(std::move(start)) {
  std::optional<unsigned> last = ForwardPass::findLast(order, loss);
  if (!last || !strategy.copiesCheap)
    return;
  ForwardPass forward(order, *last);
  std::vector<unsigned> segments = findSegments(forward, strategy.numSegments);
  copies.emplace_back(function, findCheap(forward, segments))
      .copier.run(order, *last);
  if (strategy.copiesSegments)
    copies.emplace_back(function, findInSegments(forward, segments))
        .copier.run(order, *last);
}

/// In the order of additional work: more is done only if it lowers the peak.
static std::vector<Strategy>
getStrategies(const RematerializationConfig &config) {
  std::vector<Strategy> strategies(1);
  if (config.cheapNodes)
    for (unsigned numSegments : {32, 16, 8, 4, 2, 1})
      strategies.push_back({true, false, numSegments});
  if (config.numSegments > 1)
    strategies.push_back({true, true, config.numSegments});
  return strategies;
}

std::vector<Node *>
glowish::scheduleWithRematerialization(Function &function,
                                       const Placeholder &loss,
                                       const RematerializationConfig &config) {
  std::vector<std::vector<Node *>> starts = getCandidateSchedules(function);
  const std::vector<Node *> *bestStart = nullptr;
  Strategy best;
  uint64_t bestPeak = 0;
  for (const Strategy &strategy : getStrategies(config))
    for (const std::vector<Node *> &start : starts) {
      Attempt attempt(function, start, loss, strategy);
      uint64_t peak = getSchedulePeak(attempt.order);
      attempt.undo();
      if (bestStart && peak >= bestPeak)
        continue;
      bestStart = &start;
      best = strategy;
      bestPeak = peak;
    }
  std::vector<Node *> order = Attempt(function, *bestStart, loss, best).order;
  function.sortTopologically();
  return overlapReductions(std::move(order));
}
