//===- RegionPlanner.h - Intervals of time into several arenas --*- C++ -*-===//

#ifndef GLOWISH_LIB_IR_REGIONPLANNER_H
#define GLOWISH_LIB_IR_REGIONPLANNER_H

#include "ArenaPlanner.h"
#include "llvm/ADT/SmallVector.h"

namespace glowish {

/// Finds a region and an offset in it for each of a list of intervals, which
/// are sorted by begin, so that those that are accessed most are in the first
/// regions. Where everything fits into a region, ArenaPlanner places it there.
/// Else each interval, the most important first, goes into the first region
/// where it fits, and the last region takes the rest, whatever its limit.
///
/// Intervals are important by their accesses for each byte; by all their
/// accesses; or by their size. Of these orders the one is taken that needs no
/// more than there is and has the most accesses in the first regions; if none
/// does, the one whose last region is the smallest.
class RegionPlanner {
public:
  struct Place {
    unsigned region = 0;
    uint64_t offset = 0;
  };
  struct RegionUse {
    uint64_t size = 0;
    double accesses = 0;
  };

  /// \p accesses: of each interval. \p limits: the bytes of each region, of one
  /// at least.
  RegionPlanner(llvm::ArrayRef<ArenaInterval> intervals,
                llvm::ArrayRef<double> accesses,
                llvm::ArrayRef<uint64_t> limits);

  /// Of each interval.
  llvm::ArrayRef<Place> getPlaces() const { return best.places; }
  /// What is in each region.
  llvm::ArrayRef<RegionUse> getRegions() const { return best.regions; }
  /// The largest sum of sizes at one time, in all regions.
  uint64_t getPeak() const { return peak; }

private:
  using Order = std::vector<unsigned>;
  struct Distribution {
    std::vector<Place> places;
    std::vector<RegionUse> regions;
  };

  Distribution distribute(Order order) const;
  /// Places all of \p rest in region \p number, if it has no more than \p limit
  /// bytes then.
  bool placeAll(const Order &rest, unsigned number, uint64_t limit,
                Distribution &into) const;
  bool isBetter(const Distribution &a, const Distribution &b) const;

  llvm::ArrayRef<ArenaInterval> intervals;
  llvm::ArrayRef<double> accesses;
  llvm::ArrayRef<uint64_t> limits;
  uint64_t peak;
  Distribution best;
};

} // namespace glowish

#endif // GLOWISH_LIB_IR_REGIONPLANNER_H
