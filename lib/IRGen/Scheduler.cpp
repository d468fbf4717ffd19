//===- Scheduler.cpp - An order with a small peak of live memory ----------===//

#include "glowish/IRGen/IRGen.h"
#include "llvm/ADT/DenseMap.h"
#include <set>

using namespace glowish;

namespace {

/// Nodes as numbers: what depends on what, and which memory each touches.
class ScheduleGraph {
public:
  static constexpr unsigned none = ~0u;

  explicit ScheduleGraph(llvm::ArrayRef<Node *> nodes);

  unsigned size() const { return nodes.size(); }
  /// The distinct nodes that a node uses, and those that use it.
  llvm::ArrayRef<unsigned> getSources(unsigned i) const { return sources[i]; }
  llvm::ArrayRef<unsigned> getUsers(unsigned i) const { return users[i]; }
  /// The node whose results node \p i's results are in: itself, or that of
  /// which it is a view; none if that is a weight.
  unsigned getStorage(unsigned i) const { return storage[i]; }
  /// Bytes of the storage that node \p i makes.
  int64_t getBytes(unsigned i) const { return bytes[i]; }
  int64_t getStorageBytes(unsigned i) const {
    return storage[i] == none ? 0 : bytes[storage[i]];
  }
  /// The distinct storages that a node reads, and the nodes that read one.
  llvm::ArrayRef<unsigned> getReads(unsigned i) const { return reads[i]; }
  llvm::ArrayRef<unsigned> getReaders(unsigned i) const { return readers[i]; }

  /// The largest sum of live bytes, and at which node of \p order it is.
  std::pair<uint64_t, unsigned> getPeak(llvm::ArrayRef<unsigned> order) const;

private:
  std::vector<Node *> nodes;
  std::vector<llvm::SmallVector<unsigned, 4>> sources, reads;
  std::vector<std::vector<unsigned>> users, readers;
  std::vector<unsigned> storage;
  std::vector<int64_t> bytes;

  std::vector<unsigned> findPlaces() const;
};

} // namespace

/// Whether IRGen and the IR passes will make the result a view of the operand:
/// a reshape always, a slice where all users can read with strides.
static bool becomesView(const Node &node) {
  if (llvm::isa<ReshapeNode>(node))
    return true;
  return llvm::isa<SliceNode>(node) &&
         llvm::all_of(node.uses(), [](const Use &use) {
           const Node &user = *use.getUser();
           return isElementWise(user) ||
                  llvm::isa<ConcatNode, SliceNode, TransposeNode, BroadcastNode,
                            SaveNode, PadNode>(user);
         });
}

ScheduleGraph::ScheduleGraph(llvm::ArrayRef<Node *> nodes)
    : nodes(nodes), sources(nodes.size()), reads(nodes.size()),
      users(nodes.size()), readers(nodes.size()), storage(nodes.size()),
      bytes(nodes.size(), 0) {
  llvm::DenseMap<const Node *, unsigned> numbers;
  for (unsigned i = 0; i < nodes.size(); ++i)
    numbers[nodes[i]] = i;
  // The last node that each was noted for as a source, and as a read.
  std::vector<unsigned> lastUser(nodes.size(), none);
  std::vector<unsigned> lastReader(nodes.size(), none);
  for (unsigned i = 0; i < nodes.size(); ++i) {
    const Node &node = *nodes[i];
    for (unsigned k = 0; k <= node.getNumOperands(); ++k) {
      bool isPredicate = k == node.getNumOperands();
      NodeValue value = isPredicate ? node.getPredicate() : node.getOperand(k);
      auto found = numbers.find(value.node);
      if (!value || found == numbers.end())
        continue;
      unsigned source = found->second;
      if (std::exchange(lastUser[source], i) != i) {
        sources[i].push_back(source);
        users[source].push_back(i);
      }
      // A predicate is a hint: no instruction reads it.
      unsigned read = isPredicate ? none : storage[source];
      if (read != none && std::exchange(lastReader[read], i) != i) {
        reads[i].push_back(read);
        readers[read].push_back(i);
      }
    }
    if (becomesView(node)) {
      storage[i] = reads[i].empty() ? none : reads[i].front();
      continue;
    }
    storage[i] = i;
    for (const Type &type : node.getTypes())
      bytes[i] += type.getSizeInBytes();
  }
}

/// The node in whose result the IR passes let each storage lie: that of a
/// concatenation whose part it is and that alone reads it, else its own; none for
/// what is written to an output.
std::vector<unsigned> ScheduleGraph::findPlaces() const {
  std::vector<unsigned> places(size());
  // Readers come after what they read.
  for (unsigned i = size(); i-- > 0;) {
    places[i] = i;
    if (readers[i].size() != 1)
      continue;
    const Node &reader = *nodes[readers[i].front()];
    if (llvm::isa<SaveNode>(reader))
      places[i] = none;
    else if (llvm::isa<ConcatNode>(reader))
      places[i] = places[readers[i].front()];
  }
  return places;
}

std::pair<uint64_t, unsigned>
ScheduleGraph::getPeak(llvm::ArrayRef<unsigned> order) const {
  std::vector<unsigned> places = findPlaces();
  std::vector<unsigned> waiting;
  for (const auto &list : readers)
    waiting.push_back(list.size());
  std::vector<bool> isLive(size(), false);
  int64_t live = 0, peak = 0;
  unsigned peakNode = none;
  for (unsigned i : order) {
    unsigned place = places[i];
    if (place != none && !isLive[place]) {
      live += bytes[place];
      isLive[place] = true;
    }
    if (peakNode == none || live > peak) {
      peak = live;
      peakNode = i;
    }
    if (readers[i].empty() && place == i)
      live -= bytes[i];
    for (unsigned read : reads[i])
      if (--waiting[read] == 0 && places[read] == read)
        live -= bytes[read];
  }
  return {peak, peakNode};
}

SchedulePeak glowish::findSchedulePeak(llvm::ArrayRef<Node *> order) {
  std::vector<unsigned> numbers(order.size());
  for (unsigned i = 0; i < numbers.size(); ++i)
    numbers[i] = i;
  auto [bytes, node] = ScheduleGraph(order).getPeak(numbers);
  return {bytes, order.empty() ? nullptr : order[node]};
}

//===- Depth first -------------------------------------------------------===//

namespace {

/// How scheduleDepthFirst chooses.
struct DepthFirst {
  /// Of a node's sources the one whose computation needs most beyond what it
  /// leaves comes first (Sethi and Ullman's rule for trees; shared parts are
  /// counted with each user).
  bool byNeed = true;
  /// The last of the nodes that nobody uses is the first: of a training step,
  /// the update of the last layer, which needs the least of the way back.
  bool lastFirst = false;
};

} // namespace

/// Depth first from the nodes that nobody uses.
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

//===- Greedy ------------------------------------------------------------===//

namespace {

/// Of the nodes that are ready, always the one that adds least to the live
/// memory; of equal ones, the one whose sources are youngest or oldest.
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

std::vector<std::vector<Node *>>
glowish::getCandidateSchedules(Function &function, ScheduleStrategy strategy) {
  std::vector<Node *> nodes;
  for (Node &node : function.getNodes())
    nodes.push_back(&node);
  std::vector<std::vector<Node *>> orders;
  for (const std::vector<unsigned> &candidate :
       getCandidates(ScheduleGraph(nodes), strategy)) {
    assert(candidate.size() == nodes.size() && "every node is scheduled once");
    std::vector<Node *> &order = orders.emplace_back();
    for (unsigned i : candidate)
      order.push_back(nodes[i]);
  }
  return orders;
}

std::vector<Node *> glowish::scheduleNodes(Function &function,
                                           ScheduleStrategy strategy) {
  std::vector<std::vector<Node *>> candidates =
      getCandidateSchedules(function, strategy);
  std::vector<Node *> *best = nullptr;
  uint64_t bestPeak = 0;
  for (std::vector<Node *> &candidate : candidates) {
    uint64_t peak = getSchedulePeak(candidate);
    if (best && peak >= bestPeak)
      continue;
    best = &candidate;
    bestPeak = peak;
  }
  return std::move(*best);
}
