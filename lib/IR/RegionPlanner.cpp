//===- RegionPlanner.cpp - Intervals of time into several arenas ----------===//

#include "RegionPlanner.h"
#include "llvm/ADT/STLExtras.h"
#include <functional>

using namespace glowish;

/// How many pairs of intervals one region may compare: it takes no more after
/// that.
static constexpr uint64_t maxComparisons = uint64_t(1) << 26;
/// How often all of a region is placed anew to make space for one more
/// interval.
static constexpr unsigned maxRepackings = 32;

/// The intervals \p numbers, which are sorted by begin as all are.
static std::vector<ArenaInterval>
select(llvm::ArrayRef<ArenaInterval> intervals,
       llvm::ArrayRef<unsigned> numbers) {
  std::vector<ArenaInterval> selected;
  for (unsigned number : numbers)
    selected.push_back(intervals[number]);
  return selected;
}

namespace {

/// Takes as many intervals as fit into the limit of a region, one after the
/// other.
class RegionFiller {
public:
  RegionFiller(llvm::ArrayRef<ArenaInterval> intervals, uint64_t limit)
      : intervals(intervals), limit(limit) {}

  /// Returns whether interval \p number fits, and takes it then.
  bool take(unsigned number);

  llvm::ArrayRef<unsigned> getNumbers() const { return numbers; }
  llvm::ArrayRef<uint64_t> getOffsets() const { return offsets; }

private:
  /// An interval that has been taken.
  struct Taken {
    uint64_t offset;
    unsigned number;
    auto operator<=>(const Taken &) const = default;
  };
  /// Those that overlap in time with \p interval, by offset.
  std::vector<Taken> findNeighbours(const ArenaInterval &interval);
  /// The most bytes of \p neighbours at one time of \p interval.
  uint64_t getPeak(const ArenaInterval &interval,
                   llvm::ArrayRef<Taken> neighbours) const;
  bool repackWith(unsigned number);

  llvm::ArrayRef<ArenaInterval> intervals;
  uint64_t limit;
  std::vector<unsigned> numbers;
  std::vector<uint64_t> offsets; // of `numbers`
  uint64_t numComparisons = 0;
  unsigned numRepackings = 0;
};

} // namespace

std::vector<RegionFiller::Taken>
RegionFiller::findNeighbours(const ArenaInterval &interval) {
  numComparisons += numbers.size();
  std::vector<Taken> neighbours;
  for (auto [number, offset] : llvm::zip_equal(numbers, offsets))
    if (ArenaPlanner::overlapInTime(intervals[number], interval))
      neighbours.push_back({offset, number});
  llvm::sort(neighbours);
  return neighbours;
}

uint64_t RegionFiller::getPeak(const ArenaInterval &interval,
                               llvm::ArrayRef<Taken> neighbours) const {
  std::vector<std::pair<unsigned, int64_t>> changes;
  for (auto [offset, number] : neighbours) {
    const ArenaInterval &other = intervals[number];
    changes.push_back({std::max(other.begin, interval.begin), other.size});
    changes.push_back({other.end, -int64_t(other.size)});
  }
  llvm::sort(changes);
  int64_t live = 0, peak = 0;
  for (auto [time, change] : changes) {
    live += change;
    peak = std::max(peak, live);
  }
  return uint64_t(peak);
}

/// Places interval \p number and all that was taken anew: gaps between them may
/// become one.
bool RegionFiller::repackWith(unsigned number) {
  if (numRepackings == maxRepackings)
    return false;
  ++numRepackings;
  std::vector<unsigned> more = numbers;
  more.insert(llvm::upper_bound(more, number), number);
  std::vector<ArenaInterval> selected = select(intervals, more);
  ArenaPlanner planner(selected);
  if (planner.getArenaSize() > limit)
    return false;
  numbers = std::move(more);
  offsets = planner.getOffsets().vec();
  return true;
}

bool RegionFiller::take(unsigned number) {
  const ArenaInterval &interval = intervals[number];
  if (interval.size > limit || numComparisons > maxComparisons)
    return false;
  auto neighbours = findNeighbours(interval);
  uint64_t top = 0;
  for (auto [offset, other] : neighbours) {
    if (offset >= top + interval.size)
      break;
    top = std::max(top, offset + intervals[other].size);
  }
  if (top + interval.size > limit)
    return getPeak(interval, neighbours) + interval.size <= limit &&
           repackWith(number);
  auto place = llvm::upper_bound(numbers, number);
  offsets.insert(offsets.begin() + (place - numbers.begin()), top);
  numbers.insert(place, number);
  return true;
}

bool RegionPlanner::placeAll(const Order &rest, unsigned number, uint64_t limit,
                             Distribution &into) const {
  std::vector<ArenaInterval> selected = select(intervals, rest);
  ArenaPlanner planner(selected);
  if (planner.getArenaSize() > limit)
    return false;
  for (auto [i, offset] : llvm::zip_equal(rest, planner.getOffsets()))
    into.places[i] = {number, offset};
  return true;
}

RegionPlanner::Distribution RegionPlanner::distribute(Order order) const {
  Distribution result;
  result.places.resize(intervals.size());
  result.regions.resize(limits.size());
  for (unsigned region = 0; region < limits.size(); ++region) {
    Order rest = order;
    llvm::sort(rest);
    bool isLast = region + 1 == limits.size();
    if (placeAll(rest, region, isLast ? UINT64_MAX : limits[region], result))
      break;
    RegionFiller filler(intervals, limits[region]);
    llvm::erase_if(order, [&](unsigned i) { return filler.take(i); });
    for (auto [i, offset] :
         llvm::zip_equal(filler.getNumbers(), filler.getOffsets()))
      result.places[i] = {region, offset};
  }
  for (auto [i, place] : llvm::enumerate(result.places)) {
    RegionUse &region = result.regions[place.region];
    region.size = std::max(region.size, place.offset + intervals[i].size);
    region.accesses += accesses[i];
  }
  return result;
}

bool RegionPlanner::isBetter(const Distribution &a,
                             const Distribution &b) const {
  uint64_t needOfA = std::max(a.regions.back().size, limits.back());
  uint64_t needOfB = std::max(b.regions.back().size, limits.back());
  if (needOfA != needOfB)
    return needOfA < needOfB;
  for (auto [own, other] : llvm::zip_equal(a.regions, b.regions))
    if (own.accesses != other.accesses)
      return own.accesses > other.accesses;
  return false;
}

RegionPlanner::RegionPlanner(llvm::ArrayRef<ArenaInterval> intervals,
                             llvm::ArrayRef<double> accesses,
                             llvm::ArrayRef<uint64_t> limits)
    : intervals(intervals), accesses(accesses), limits(limits),
      peak(ArenaPlanner(intervals).getPeak()) {
  auto getSize = [&](unsigned i) { return double(intervals[i].size); };
  auto getAccesses = [&](unsigned i) { return accesses[i]; };
  auto getHeat = [&](unsigned i) { return getAccesses(i) / getSize(i); };
  const std::function<double(unsigned)> keys[] = {getHeat, getAccesses,
                                                  getSize};
  for (const auto &key : keys) {
    std::vector<std::pair<double, unsigned>> sorted;
    // What has no bytes may be anywhere.
    for (unsigned i = 0; i < intervals.size(); ++i)
      if (intervals[i].size)
        sorted.push_back({-key(i), i});
    llvm::sort(sorted);
    Order order;
    for (auto [value, i] : sorted)
      order.push_back(i);
    Distribution next = distribute(std::move(order));
    if (best.regions.empty() || isBetter(next, best))
      best = std::move(next);
  }
}
