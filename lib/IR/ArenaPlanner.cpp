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
/// The number of pairs that all attempts of improve() together may compare, and
/// an order of touchLess().
static constexpr uint64_t improvementBudget = uint64_t(1) << 22;
static constexpr unsigned maxImprovements = 256;

ArenaPlanner::ArenaPlanner(llvm::ArrayRef<ArenaInterval> intervals)
    : intervals(intervals), offsets(intervals.size(), 0),
      isPlaced(intervals.size(), false) {
  computePeak();
  placeInTime();
  if ((best == peak && !hasSmallRuns()) || !findNeighbours())
    return;
  if (best != peak) {
    attemptOrders();
    improve();
  }
  if (hasSmallRuns())
    touchLess();
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

uint64_t ArenaPlanner::findPlace(unsigned number, Fit fit) {
  uint64_t size = intervals[number].size;
  occupied.clear();
  for (unsigned other : neighbours[number])
    if (isPlaced[other])
      occupied.push_back(
          {offsets[other], offsets[other] + intervals[other].size});
  llvm::sort(occupied);
  if (fit == Fit::Touched)
    return findTouchedPlace(number);
  uint64_t top = 0, place = UINT64_MAX, smallest = UINT64_MAX;
  for (const llvm::AddressRange &other : occupied) {
    uint64_t begin = other.start();
    if (begin > top && begin - top >= size && begin - top < smallest) {
      if (fit == Fit::First)
        return top;
      place = top;
      smallest = begin - top;
    }
    top = std::max(top, other.end());
  }
  return place == UINT64_MAX ? top : place;
}

uint64_t ArenaPlanner::placeInOrder(const Order &order, Fit fit) {
  isPlaced.assign(intervals.size(), false);
  touched = {};
  uint64_t arena = 0;
  for (unsigned number : order) {
    offsets[number] = intervals[number].size ? findPlace(number, fit) : 0;
    isPlaced[number] = intervals[number].size != 0;
    if (fit == Fit::Touched)
      touched.insert(
          {offsets[number], offsets[number] + intervals[number].leastSize});
    arena = std::max(arena, offsets[number] + intervals[number].size);
  }
  return arena;
}

void ArenaPlanner::attempt(const Order &order, Fit fit) {
  uint64_t arena = placeInOrder(order, fit);
  if (arena < best || bestOrder.empty()) {
    bestOrder = order;
    bestOrderFit = fit;
  }
  keepIfBest(arena);
}

std::vector<ArenaPlanner::Order> ArenaPlanner::makeOrders() const {
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
  std::vector<Order> orders;
  for (const auto &key : keys) {
    std::vector<std::pair<Key, unsigned>> sorted;
    for (unsigned i = 0; i < intervals.size(); ++i) {
      Key k = key(i);
      sorted.push_back({{-k.first, -k.second}, i});
    }
    llvm::sort(sorted);
    Order &order = orders.emplace_back();
    for (const auto &entry : sorted)
      order.push_back(entry.second);
  }
  return orders;
}

void ArenaPlanner::attemptOrders() {
  for (const Order &order : makeOrders())
    for (Fit fit : {Fit::First, Fit::Best})
      if (best != peak)
        attempt(order, fit);
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
    uint64_t arena = placeInOrder(order, bestOrderFit);
    keepIfBest(arena);
    auto highest = llvm::find_if(order, [&](unsigned i) {
      return offsets[i] + intervals[i].size == arena;
    });
    if (highest == order.end() || highest == order.begin())
      break;
    std::rotate(order.begin(), highest, std::next(highest));
  }
}

//===- Runs that need less ------------------------------------------------===//

/// Returns the first of \p ranges that ends behind \p address.
static const llvm::AddressRange *findBehind(const llvm::AddressRanges &ranges,
                                            uint64_t address) {
  return llvm::partition_point(ranges, [&](const llvm::AddressRange &each) {
    return each.end() <= address;
  });
}

/// Returns how many bytes of \p range are in none of \p ranges.
static uint64_t countMissing(const llvm::AddressRanges &ranges,
                             const llvm::AddressRange &range) {
  uint64_t missing = range.size();
  const auto *each = findBehind(ranges, range.start());
  for (; each != ranges.end() && each->start() < range.end(); ++each)
    missing -= std::min(range.end(), each->end()) -
               std::max(range.start(), each->start());
  return missing;
}

static uint64_t countBytes(const llvm::AddressRanges &ranges) {
  uint64_t bytes = 0;
  for (const llvm::AddressRange &each : ranges)
    bytes += each.size();
  return bytes;
}

bool ArenaPlanner::hasSmallRuns() const {
  return llvm::any_of(intervals, [](const ArenaInterval &interval) {
    return interval.leastSize < interval.size;
  });
}

/// The lowest of the places with the fewest bytes that nothing placed touches;
/// the end of the neighbours where no gap in the best arena is large enough. In
/// a gap the best place is at one of its ends, or begins or ends with what is
/// touched.
uint64_t ArenaPlanner::findTouchedPlace(unsigned number) const {
  auto [size, begin, end, leastSize] = intervals[number];
  uint64_t place = 0, fewest = UINT64_MAX;
  auto offer = [&](uint64_t offset) {
    uint64_t missing = countMissing(touched, {offset, offset + leastSize});
    if (missing < fewest) {
      fewest = missing;
      place = offset;
    }
  };
  auto offerGap = [&](uint64_t from, uint64_t to) {
    if (to < from + size)
      return;
    uint64_t last = to - size;
    offer(from);
    const auto *range = findBehind(touched, from);
    for (; range != touched.end() && range->start() < to; ++range)
      for (uint64_t offset :
           {range->start(), range->end() - std::min(range->end(), leastSize)})
        if (offset > from && offset < last)
          offer(offset);
    offer(last);
  };
  uint64_t top = 0;
  for (const llvm::AddressRange &other : occupied) {
    offerGap(top, other.start());
    top = std::max(top, other.end());
  }
  offerGap(top, best);
  return fewest == UINT64_MAX ? top : place;
}

void ArenaPlanner::touchLess() {
  llvm::AddressRanges own;
  for (auto [interval, offset] : llvm::zip_equal(intervals, bestOffsets))
    own.insert({offset, offset + interval.leastSize});
  // Each interval is offered places at what is touched.
  if (numPairs + intervals.size() * own.size() > improvementBudget)
    return;
  uint64_t fewest = countBytes(own);
  for (const Order &order : makeOrders()) {
    if (placeInOrder(order, Fit::Touched) > best ||
        countBytes(touched) >= fewest)
      continue;
    fewest = countBytes(touched);
    bestOffsets = offsets;
  }
}
