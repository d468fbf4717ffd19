//===- ExactSchedule.cpp - The best order of a few nodes ------------------===//
//
// Dynamic programming over the subsets of a group of neighbours: what is live
// after a subset has run does not depend on the order in which it ran, so that
// the smallest peak of a subset follows from those of the subsets with one node
// less.
//
//===----------------------------------------------------------------------===//

#include "ExactSchedule.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace glowish;

static constexpr unsigned groupSize = 12;
static constexpr unsigned maxRounds = 64;

namespace {

using Subset = uint32_t;

/// Memory that a group allocates or frees.
struct PlaceUse {
  int64_t bytes = 0;
  /// Whether a node before the group allocates it, else those that do.
  bool isThere = false;
  Subset allocators = 0;
  /// Those that read it; it is freed when all have, if no node after the group
  /// reads it.
  Subset readers = 0;
  bool isFreed = true;

  bool isLive(Subset done) const {
    bool isAllocated = isThere || (done & allocators);
    return isAllocated && !(isFreed && (done & readers) == readers);
  }
};

/// Neighbours in an order.
class Group {
public:
  Group(const ScheduleGraph &graph, llvm::ArrayRef<unsigned> order,
        unsigned begin, unsigned end);
  /// The order of its nodes with the smallest peak.
  std::vector<unsigned> findBest() const;

private:
  PlaceUse &use(unsigned place);
  int64_t getLive(Subset done) const;
  /// Bytes that node \p k allocates when \p done have run.
  int64_t getAllocation(unsigned k, Subset done) const;

  const ScheduleGraph &graph;
  llvm::ArrayRef<unsigned> nodes;
  std::vector<Subset> sources;
  std::vector<PlaceUse> uses;
  llvm::DenseMap<unsigned, unsigned> numbers; // of places in uses
};

} // namespace

PlaceUse &Group::use(unsigned place) {
  auto [found, isNew] = numbers.try_emplace(place, uses.size());
  if (isNew) {
    uses.emplace_back();
    uses.back().bytes = graph.getBytes(place);
  }
  return uses[found->second];
}

Group::Group(const ScheduleGraph &graph, llvm::ArrayRef<unsigned> order,
             unsigned begin, unsigned end)
    : graph(graph), nodes(order.slice(begin, end - begin)) {
  llvm::DenseMap<unsigned, unsigned> inside;
  for (auto [k, node] : llvm::enumerate(nodes))
    inside[node] = k;
  for (auto [k, node] : llvm::enumerate(nodes)) {
    Subset &needed = sources.emplace_back(0);
    for (unsigned source : graph.getSources(node))
      if (auto found = inside.find(source); found != inside.end())
        needed |= Subset(1) << found->second;
    if (graph.getPlace(node) != ScheduleGraph::none)
      use(graph.getPlace(node)).allocators |= Subset(1) << k;
    for (unsigned read : graph.getReads(node))
      if (graph.getPlace(read) == read)
        use(read).readers |= Subset(1) << k;
  }
  for (auto [position, node] : llvm::enumerate(order))
    if (position < begin) {
      unsigned place = graph.getPlace(node);
      if (place != ScheduleGraph::none && numbers.count(place))
        use(place).isThere = true;
    } else if (position >= end) {
      for (unsigned read : graph.getReads(node))
        if (auto found = numbers.find(read); found != numbers.end())
          uses[found->second].isFreed = false;
    }
  // A result without readers is freed when its node has run.
  for (auto [place, number] : numbers)
    if (graph.getReaders(place).empty()) {
      auto found = inside.find(place);
      uses[number].isFreed = found != inside.end();
      if (found != inside.end())
        uses[number].readers = Subset(1) << found->second;
    }
}

int64_t Group::getLive(Subset done) const {
  int64_t live = 0;
  for (const PlaceUse &each : uses)
    live += each.isLive(done) ? each.bytes : 0;
  return live;
}

int64_t Group::getAllocation(unsigned k, Subset done) const {
  unsigned place = graph.getPlace(nodes[k]);
  if (place == ScheduleGraph::none)
    return 0;
  const PlaceUse &own = uses[numbers.lookup(place)];
  return own.isThere || (done & own.allocators) ? 0 : own.bytes;
}

std::vector<unsigned> Group::findBest() const {
  constexpr int64_t unreached = std::numeric_limits<int64_t>::max();
  Subset all = (Subset(1) << nodes.size()) - 1;
  std::vector<int64_t> peaks(all + 1, unreached);
  std::vector<uint8_t> last(all + 1, 0);
  peaks[0] = 0;
  for (Subset done = 0; done < all; ++done) {
    if (peaks[done] == unreached)
      continue;
    int64_t live = getLive(done);
    for (unsigned k = 0; k < nodes.size(); ++k) {
      Subset bit = Subset(1) << k;
      if ((done & bit) || (sources[k] & ~done))
        continue;
      int64_t peak = std::max(peaks[done], live + getAllocation(k, done));
      if (peak < peaks[done | bit]) {
        peaks[done | bit] = peak;
        last[done | bit] = uint8_t(k);
      }
    }
  }
  std::vector<unsigned> best;
  for (Subset done = all; done;) {
    best.push_back(nodes[last[done]]);
    done &= ~(Subset(1) << last[done]);
  }
  std::reverse(best.begin(), best.end());
  return best;
}

namespace {

/// The peak of an order and where it is reached first.
struct Peak {
  uint64_t bytes;
  unsigned position;
};

} // namespace

static Peak findPeak(const ScheduleGraph &graph,
                     llvm::ArrayRef<unsigned> order) {
  auto [bytes, node] = graph.getPeak(order);
  return {bytes, unsigned(llvm::find(order, node) - order.begin())};
}

/// Finds a better order for a group with the peak; false if there is none. The
/// new peak is lower, or a later one of the same height.
static bool lowerAt(const ScheduleGraph &graph, std::vector<unsigned> &order,
                    Peak &peak) {
  unsigned size = std::min<unsigned>(groupSize, unsigned(order.size()));
  for (unsigned before : {size / 2, size - 1, 0u}) {
    unsigned begin = peak.position - std::min(peak.position, before);
    begin = std::min<unsigned>(begin, unsigned(order.size()) - size);
    std::vector<unsigned> best =
        Group(graph, order, begin, begin + size).findBest();
    std::vector<unsigned> attempt = order;
    llvm::copy(best, attempt.begin() + begin);
    Peak next = findPeak(graph, attempt);
    if (next.bytes > peak.bytes ||
        (next.bytes == peak.bytes && next.position < begin + size))
      continue;
    order = std::move(attempt);
    peak = next;
    return true;
  }
  return false;
}

void glowish::lowerPeakExactly(const ScheduleGraph &graph,
                               std::vector<unsigned> &order) {
  if (order.empty())
    return;
  Peak peak = findPeak(graph, order);
  uint64_t before = peak.bytes;
  std::vector<unsigned> attempt = order;
  for (unsigned round = 0; round < maxRounds; ++round)
    if (!lowerAt(graph, attempt, peak))
      break;
  if (peak.bytes < before)
    order = std::move(attempt);
}
