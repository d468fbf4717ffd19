//===- ArenaPlanner.cpp - Intervals of time into one arena ----------------===//

#include "ArenaPlanner.h"
#include "glowish/Support/Log.h"
#include "glowish/Support/Numbers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <set>

using namespace glowish;

/// Pairs that meet in time: with more, only placeInTime is affordable.
static constexpr uint64_t maxPairs = uint64_t(1) << 20;
/// The number of pairs that all attempts of improve() together may compare.
static constexpr uint64_t improvementBudget = uint64_t(1) << 22;
static constexpr unsigned maxImprovements = 256;

ArenaPlanner::ArenaPlanner(llvm::ArrayRef<ArenaInterval> intervals)
    : intervals(intervals), offsets(intervals.size(), 0),
      isPlaced(intervals.size(), false) {
  computePeak();
  placeInTime();
  if (best == peak || !findNeighbours())
    return;
  attemptOrders();
  improve();
}

void ArenaPlanner::keepIfBest(uint64_t arena) {
  GLOWISH_VLOG(3, "arena: {0} of {1} buffers, of which {2} live at once",
               formatExactBytes(arena), intervals.size(),
               formatExactBytes(peak));
  if (arena >= best)
    return;
  best = arena;
  bestOffsets = offsets;
}

void ArenaPlanner::computePeak() {
  // Buffers that end at a time are freed before others begin.
  std::vector<std::pair<unsigned, int64_t>> changes;
  for (const ArenaInterval &interval : intervals) {
    changes.push_back({interval.begin, interval.size});
    changes.push_back({interval.end, -int64_t(interval.size)});
  }
  llvm::sort(changes);
  uint64_t live = 0;
  // Live bytes after each distinct time, for the maximum over a range.
  std::vector<unsigned> times;
  std::vector<uint64_t> liveAt;
  for (auto [time, change] : changes) {
    live += change;
    if (times.empty() || times.back() != time) {
      times.push_back(time);
      liveAt.push_back(0);
    }
    liveAt.back() = live;
  }
  for (uint64_t bytes : liveAt)
    peak = std::max(peak, bytes);

  // Sparse table: row k has maxima over 2^k neighbouring times.
  std::vector<std::vector<uint64_t>> table = {liveAt};
  for (size_t width = 1; 2 * width <= liveAt.size(); width *= 2) {
    const std::vector<uint64_t> &last = table.back();
    std::vector<uint64_t> row;
    for (size_t i = 0; i + width < last.size(); ++i)
      row.push_back(std::max(last[i], last[i + width]));
    table.push_back(std::move(row));
  }
  for (const ArenaInterval &interval : intervals) {
    size_t first = llvm::lower_bound(times, interval.begin) - times.begin();
    size_t last = llvm::lower_bound(times, interval.end) - times.begin();
    unsigned row = last > first + 1 ? llvm::Log2_64(last - first) : 0;
    peakDuring.push_back(
        last == first
            ? 0
            : std::max(table[row][first], table[row][last - (1u << row)]));
  }
}

bool ArenaPlanner::findNeighbours() {
  neighbours.resize(intervals.size());
  std::vector<unsigned> live;
  for (unsigned i = 0; i < intervals.size(); ++i) {
    llvm::erase_if(live, [&](unsigned other) {
      return isOver(intervals[other].end, intervals[i].begin);
    });
    if (intervals[i].size == 0)
      continue;
    numPairs += live.size();
    if (numPairs > maxPairs)
      return false;
    for (unsigned other : live) {
      neighbours[i].push_back(other);
      neighbours[other].push_back(i);
    }
    live.push_back(i);
  }
  return true;
}

//===- Placing at run time ------------------------------------------------===//

namespace {

/// The free ranges of an arena that grows at its end.
class FreeList {
public:
  uint64_t take(uint64_t size) {
    auto found = bySize.lower_bound({size, 0});
    if (found != bySize.end()) {
      auto [length, offset] = *found;
      remove(byOffset.find(offset));
      if (length > size)
        add(offset + size, length - size);
      return offset;
    }
    // The last range may reach the end, and only its rest is new.
    uint64_t offset = end;
    if (!byOffset.empty()) {
      auto last = std::prev(byOffset.end());
      if (last->first + last->second == end) {
        offset = last->first;
        remove(last);
      }
    }
    end = offset + size;
    return offset;
  }

  void giveBack(uint64_t offset, uint64_t size) {
    auto next = byOffset.lower_bound(offset);
    if (next != byOffset.end() && next->first == offset + size) {
      size += next->second;
      next = remove(next);
    }
    if (next != byOffset.begin()) {
      auto previous = std::prev(next);
      if (previous->first + previous->second == offset) {
        offset = previous->first;
        size += previous->second;
        remove(previous);
      }
    }
    add(offset, size);
  }

  uint64_t getEnd() const { return end; }

private:
  using Ranges = std::map<uint64_t, uint64_t>;
  void add(uint64_t offset, uint64_t size) {
    byOffset[offset] = size;
    bySize.insert({size, offset});
  }
  Ranges::iterator remove(Ranges::iterator range) {
    bySize.erase({range->second, range->first});
    return byOffset.erase(range);
  }

  Ranges byOffset;
  std::set<std::pair<uint64_t, uint64_t>> bySize;
  uint64_t end = 0;
};

} // namespace

void ArenaPlanner::placeInTime() {
  FreeList free;
  std::set<std::pair<unsigned, unsigned>> ends; // time, interval
  for (unsigned i = 0; i < intervals.size(); ++i) {
    while (!ends.empty() && isOver(ends.begin()->first, intervals[i].begin)) {
      unsigned ended = ends.begin()->second;
      free.giveBack(offsets[ended], intervals[ended].size);
      ends.erase(ends.begin());
    }
    offsets[i] = 0;
    if (intervals[i].size == 0)
      continue;
    offsets[i] = free.take(intervals[i].size);
    ends.insert({intervals[i].end, i});
  }
  keepIfBest(free.getEnd());
}

//===- Placing in any order -----------------------------------------------===//

/// The lowest gap between the placed neighbours that is large enough, or the
/// smallest such gap.
uint64_t ArenaPlanner::findPlace(unsigned number, bool bestFit) {
  uint64_t size = intervals[number].size;
  occupied.clear();
  for (unsigned other : neighbours[number])
    if (isPlaced[other])
      occupied.push_back(
          {offsets[other], offsets[other] + intervals[other].size});
  llvm::sort(occupied);
  uint64_t top = 0, place = UINT64_MAX, smallest = UINT64_MAX;
  for (auto [begin, end] : occupied) {
    if (begin > top && begin - top >= size && begin - top < smallest) {
      if (!bestFit)
        return top;
      place = top;
      smallest = begin - top;
    }
    top = std::max(top, end);
  }
  return place == UINT64_MAX ? top : place;
}

uint64_t ArenaPlanner::placeInOrder(const Order &order, bool bestFit) {
  isPlaced.assign(intervals.size(), false);
  uint64_t arena = 0;
  for (unsigned number : order) {
    offsets[number] = intervals[number].size ? findPlace(number, bestFit) : 0;
    isPlaced[number] = intervals[number].size != 0;
    arena = std::max(arena, offsets[number] + intervals[number].size);
  }
  return arena;
}

void ArenaPlanner::attempt(const Order &order, bool bestFit) {
  uint64_t arena = placeInOrder(order, bestFit);
  if (arena < best || bestOrder.empty()) {
    bestOrder = order;
    bestFitIsBest = bestFit;
  }
  keepIfBest(arena);
}

void ArenaPlanner::attemptOrders() {
  auto lifetime = [&](unsigned i) {
    return uint64_t(intervals[i].end - intervals[i].begin);
  };
  auto size = [&](unsigned i) { return intervals[i].size; };
  using Key = std::pair<double, double>;
  llvm::SmallVector<std::function<Key(unsigned)>, 5> keys = {
      [&](unsigned i) { return Key(size(i), lifetime(i)); },
      [&](unsigned i) { return Key(double(size(i)) * lifetime(i), size(i)); },
      [&](unsigned i) { return Key(lifetime(i), size(i)); },
      [&](unsigned i) { return Key(peakDuring[i], size(i)); },
      [&](unsigned i) { return Key(-double(intervals[i].begin), size(i)); }};
  for (const auto &key : keys) {
    std::vector<std::pair<Key, unsigned>> sorted;
    for (unsigned i = 0; i < intervals.size(); ++i) {
      Key k = key(i);
      sorted.push_back({{-k.first, -k.second}, i});
    }
    llvm::sort(sorted);
    Order order;
    for (const auto &entry : sorted)
      order.push_back(entry.second);
    for (bool bestFit : {false, true})
      if (best != peak)
        attempt(order, bestFit);
  }
}

/// Repeatedly moves the buffer with the highest end to the front of the order:
/// it was placed too late.
void ArenaPlanner::improve() {
  Order order = bestOrder;
  uint64_t work = 0;
  for (unsigned round = 0;
       round < maxImprovements && best != peak && work <= improvementBudget;
       ++round) {
    work += numPairs + intervals.size();
    uint64_t arena = placeInOrder(order, bestFitIsBest);
    keepIfBest(arena);
    auto highest = llvm::find_if(order, [&](unsigned i) {
      return offsets[i] + intervals[i].size == arena;
    });
    if (highest == order.end() || highest == order.begin())
      break;
    std::rotate(order.begin(), highest, std::next(highest));
  }
}
