//===- ArenaPlanner.h - Intervals of time into one arena --------*- C++ -*-===//

#ifndef GLOWISH_LIB_IR_ARENAPLANNER_H
#define GLOWISH_LIB_IR_ARENAPLANNER_H

#include "llvm/ADT/AddressRanges.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace glowish {

/// Something that takes \p size bytes from time \p begin to time \p end
/// (excluded).
struct ArenaInterval {
  uint64_t size;
  unsigned begin, end;
  /// The bytes from its start on that every run touches; a multiple of what
  /// sizes are multiples of.
  uint64_t leastSize = size;
};

/// Finds an offset for each of a list of intervals, which are sorted by begin,
/// so that no two meet in time and place: dynamic storage allocation, of which
/// the exact solution is NP-hard (Garey and Johnson, SR2). Several orders of
/// placement are tried, then the best order is improved a little. Of arenas of
/// the best size one is chosen in which a run that needs the least of each
/// interval touches few bytes: these are in a cache more often. Costs about
/// n log n plus a bounded multiple of the pairs that meet in time; where these
/// are too many, n log n alone.
class ArenaPlanner {
public:
  explicit ArenaPlanner(llvm::ArrayRef<ArenaInterval> intervals);

  /// Whether \p a and \p b need memory at the same time.
  static bool overlapInTime(const ArenaInterval &a, const ArenaInterval &b) {
    return !isOver(a.end, b.begin) && !isOver(b.end, a.begin);
  }

  /// The largest sum of sizes at one time: no arena can be smaller.
  uint64_t getPeak() const { return peak; }
  uint64_t getArenaSize() const { return best; }
  llvm::ArrayRef<uint64_t> getOffsets() const { return bestOffsets; }

private:
  using Order = std::vector<unsigned>;
  /// The gap that an interval is placed in: the lowest that is large enough,
  /// the smallest, or the one in which the fewest bytes become touched, of
  /// those below the best arena's end.
  enum class Fit : uint8_t { First, Best, Touched };

  /// Whether the memory of an interval that ends at \p end is free for one that
  /// begins at \p begin.
  static bool isOver(unsigned end, unsigned begin) { return end <= begin; }

  void computePeak();
  bool findNeighbours();
  /// As a run-time allocator would: best fit at each begin.
  void placeInTime();
  uint64_t placeInOrder(const Order &order, Fit fit);
  uint64_t findPlace(unsigned number, Fit fit);
  uint64_t findTouchedPlace(unsigned number) const;
  void attempt(const Order &order, Fit fit);
  /// The orders that are tried.
  std::vector<Order> makeOrders() const;
  void attemptOrders();
  void improve();
  void keepIfBest(uint64_t arena);
  /// Returns whether some run touches less than the whole of an interval.
  bool hasSmallRuns() const;
  void touchLess();

  llvm::ArrayRef<ArenaInterval> intervals;
  uint64_t peak = 0;
  /// The largest sum of live sizes during each interval.
  std::vector<uint64_t> peakDuring;
  /// The intervals that overlap each one in time.
  std::vector<std::vector<unsigned>> neighbours;
  uint64_t numPairs = 0;

  std::vector<uint64_t> offsets;
  std::vector<bool> isPlaced;
  std::vector<llvm::AddressRange> occupied; // of findPlace
  llvm::AddressRanges touched;              // by what is placed

  uint64_t best = UINT64_MAX;
  std::vector<uint64_t> bestOffsets;
  Order bestOrder;
  Fit bestOrderFit = Fit::First;
};

} // namespace glowish

#endif // GLOWISH_LIB_IR_ARENAPLANNER_H
