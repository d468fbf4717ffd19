//===- Scheduler.cpp - An order with a small peak of live memory ----------===//

#include "Collectives.h"
#include "ExactSchedule.h"
#include "ScheduleGraph.h"
#include "glowish/IRGen/IRGen.h"
#include "glowish/Support/Log.h"
#include "glowish/Support/Numbers.h"
#include <set>

using namespace glowish;

SchedulePeak glowish::findSchedulePeak(llvm::ArrayRef<Node *> order,
                                       bool isFused) {
  std::vector<unsigned> numbers(order.size());
  for (unsigned i = 0; i < numbers.size(); ++i)
    numbers[i] = i;
  auto [bytes, node] = ScheduleGraph(order, isFused).getPeak(numbers);
  return {bytes, order.empty() ? nullptr : order[node]};
}

//===- Depth first --------------------------------------------------------===//

namespace {

/// How scheduleDepthFirst chooses.
struct DepthFirst {
  /// Of a node's sources the one whose computation needs most beyond what it
  /// leaves comes first (Sethi and Ullman's rule for trees; shared parts are
  /// counted with each user).
  bool byNeed = true;
  /// The last of the nodes without users comes first: in a training step the
  /// update of the last layer, which needs the least of the backward pass.
  bool lastFirst = false;
};

} // namespace

/// Depth first from the nodes without users.
static std::vector<unsigned> scheduleDepthFirst(const ScheduleGraph &graph,
                                                DepthFirst rule) {
  // Bytes in use at most while a node's tree is computed.
  std::vector<int64_t> need(graph.size());
  auto getSources = [&](unsigned i) {
    llvm::SmallVector<std::pair<int64_t, unsigned>, 4> keys;
    for (unsigned source : graph.getSources(i))
      keys.push_back(
          {rule.byNeed ? graph.getStorageBytes(source) - need[source] : 0,
           unsigned(keys.size())});
    llvm::sort(keys);
    llvm::SmallVector<unsigned, 4> sorted;
    for (auto [key, position] : keys)
      sorted.push_back(graph.getSources(i)[position]);
    return sorted;
  };
  for (unsigned i = 0; i < graph.size(); ++i) {
    int64_t held = 0;
    for (unsigned source : getSources(i)) {
      need[i] = std::max(need[i], held + need[source]);
      held += graph.getStorageBytes(source);
    }
    need[i] = std::max(need[i], held + graph.getBytes(i));
  }

  std::vector<unsigned> order;
  std::vector<bool> isSeen(graph.size(), false);
  // A node and its sources that are still to be looked at, last one first.
  std::vector<std::pair<unsigned, llvm::SmallVector<unsigned, 4>>> stack;
  auto push = [&](unsigned i) {
    if (isSeen[i])
      return;
    isSeen[i] = true;
    llvm::SmallVector<unsigned, 4> sorted = getSources(i);
    std::reverse(sorted.begin(), sorted.end());
    stack.push_back({i, std::move(sorted)});
  };
  for (unsigned i = 0; i < graph.size(); ++i) {
    unsigned root = rule.lastFirst ? graph.size() - 1 - i : i;
    if (!graph.getUsers(root).empty())
      continue;
    push(root);
    while (!stack.empty()) {
      auto &[node, waiting] = stack.back();
      if (waiting.empty()) {
        order.push_back(node);
        stack.pop_back();
      } else {
        push(waiting.pop_back_val());
      }
    }
  }
  return order;
}

//===- Greedy -------------------------------------------------------------===//

namespace {

/// Always takes the ready node that adds least to the live memory; of equal
/// ones, that with the most, or least, recently computed sources.
class GreedyScheduler {
public:
  GreedyScheduler(const ScheduleGraph &graph, bool youngestFirst)
      : graph(graph), youngestFirst(youngestFirst), cost(graph.size()),
        rank(graph.size()), isReady(graph.size(), false) {
    for (unsigned i = 0; i < graph.size(); ++i) {
      waiting.push_back(graph.getSources(i).size());
      unread.push_back(graph.getReaders(i).size());
    }
    for (unsigned i = 0; i < graph.size(); ++i)
      if (waiting[i] == 0)
        addReady(i);
  }

  std::vector<unsigned> run() {
    std::vector<unsigned> order;
    while (!ready.empty()) {
      unsigned node = std::get<2>(*ready.begin());
      removeReady(node);
      order.push_back(node);
      for (unsigned read : graph.getReads(node))
        if (--unread[read] == 1)
          refreshReaders(read);
      for (unsigned user : graph.getUsers(node))
        if (--waiting[user] == 0) {
          rank[user] = youngestFirst ? -int64_t(order.size()) : 0;
          addReady(user);
        }
    }
    return order;
  }

private:
  void addReady(unsigned i) {
    cost[i] = graph.getReaders(i).empty() ? 0 : graph.getBytes(i);
    for (unsigned read : graph.getReads(i))
      if (unread[read] == 1)
        cost[i] -= graph.getBytes(read);
    isReady[i] = true;
    ready.insert({cost[i], rank[i], i});
  }
  void removeReady(unsigned i) {
    isReady[i] = false;
    ready.erase({cost[i], rank[i], i});
  }
  /// The last reader of a storage has become cheaper.
  void refreshReaders(unsigned storage) {
    for (unsigned reader : graph.getReaders(storage)) {
      if (!isReady[reader])
        continue;
      removeReady(reader);
      addReady(reader);
    }
  }

  const ScheduleGraph &graph;
  bool youngestFirst;
  std::vector<int64_t> cost, rank;
  std::vector<bool> isReady;
  std::vector<unsigned> waiting; // sources that are not scheduled
  std::vector<unsigned> unread;  // readers of a storage that are not scheduled
  std::set<std::tuple<int64_t, int64_t, unsigned>> ready;
};

} // namespace

static std::vector<std::vector<unsigned>>
getCandidates(const ScheduleGraph &graph, ScheduleStrategy strategy) {
  if (strategy == ScheduleStrategy::PostOrder)
    return {scheduleDepthFirst(graph, {.byNeed = false})};
  if (strategy == ScheduleStrategy::ChildMemSize)
    return {scheduleDepthFirst(graph, {})};
  std::vector<unsigned> asWritten(graph.size());
  for (unsigned i = 0; i < asWritten.size(); ++i)
    asWritten[i] = i;
  std::vector<std::vector<unsigned>> candidates;
  candidates.push_back(std::move(asWritten));
  for (bool lastFirst : {false, true})
    candidates.push_back(
        scheduleDepthFirst(graph, {.byNeed = true, .lastFirst = lastFirst}));
  for (bool youngestFirst : {true, false})
    candidates.push_back(GreedyScheduler(graph, youngestFirst).run());
  return candidates;
}

static std::vector<Node *> getNodes(Function &function) {
  std::vector<Node *> nodes;
  for (Node &node : function.getNodes())
    nodes.push_back(&node);
  return nodes;
}

/// The nodes with the numbers \p order.
static std::vector<Node *> pick(llvm::ArrayRef<Node *> nodes,
                                llvm::ArrayRef<unsigned> order) {
  assert(order.size() == nodes.size() && "every node is scheduled once");
  std::vector<Node *> picked;
  for (unsigned i : order)
    picked.push_back(nodes[i]);
  return picked;
}

std::vector<std::vector<Node *>>
glowish::getCandidateSchedules(Function &function, ScheduleStrategy strategy) {
  std::vector<Node *> nodes = getNodes(function);
  std::vector<std::vector<Node *>> orders;
  for (const std::vector<unsigned> &candidate :
       getCandidates(ScheduleGraph(nodes), strategy))
    orders.push_back(pick(nodes, candidate));
  return orders;
}

std::vector<Node *> glowish::scheduleNodes(Function &function,
                                           ScheduleStrategy strategy) {
  std::vector<Node *> nodes = getNodes(function);
  ScheduleGraph graph(nodes);
  std::vector<unsigned> best;
  uint64_t bestPeak = 0;
  for (std::vector<unsigned> &candidate : getCandidates(graph, strategy)) {
    uint64_t peak = graph.getPeak(candidate).first;
    GLOWISH_VLOG(3, "schedule: an order whose values need {0}",
                 formatExactBytes(peak));
    if (!best.empty() && peak >= bestPeak)
      continue;
    best = std::move(candidate);
    bestPeak = peak;
  }
  if (strategy == ScheduleStrategy::Best)
    lowerPeakExactly(graph, best);
  return overlapReductions(pick(nodes, best));
}
