//===- LaneSums.cpp - Sums of the lanes of several vectors ----------------===//
//
// Each step adds the upper half of what is left of each vector to the lower
// one. Two vectors become one by it, in which each has half of the lanes: so
// all steps together take about as many additions as there are vectors.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Math/LaneSums.h"

using namespace glowish;
using llvm::Value;

namespace {
/// Segments of equal length, one after the other: those of the vectors
/// `owners`.
struct Segments {
  Value *lanes;
  llvm::SmallVector<unsigned, 16> owners;
};

/// Where the result of a step takes segments from: number `segment` of the
/// first vector or the second.
struct SegmentSource {
  unsigned vector, segment;
};
} // namespace

/// The order in which the segments of two vectors, \p count of each, are those
/// of one. x86 has an instruction for either: pairs of segments of more than a
/// lane, and pairs of pairs of lanes.
static llvm::SmallVector<SegmentSource, 16> orderSegments(unsigned count,
                                                          unsigned length) {
  unsigned together = length == 1 && count >= 2 ? 2 : 1;
  llvm::SmallVector<SegmentSource, 16> order;
  for (unsigned first = 0; first < count; first += together)
    for (unsigned vector : {0u, 1u})
      for (unsigned i = 0; i < together; ++i)
        order.push_back({vector, first + i});
  return order;
}

/// \p x and \p y, of which each segment becomes half as long.
static Segments addHalves(KernelBuilder &b, const Segments &x,
                          const Segments &y) {
  unsigned lanes = KernelBuilder::getLanes(x.lanes);
  auto count = unsigned(x.owners.size());
  unsigned whole = lanes / count, half = whole / 2;
  Segments sum;
  llvm::SmallVector<int, 16> low, high;
  for (const SegmentSource &source : orderSegments(count, half)) {
    unsigned first = source.vector * lanes + source.segment * whole;
    sum.owners.push_back((source.vector ? y : x).owners[source.segment]);
    for (unsigned i = 0; i < half; ++i) {
      low.push_back(int(first + i));
      high.push_back(int(first + half + i));
    }
  }
  sum.lanes = b.CreateFAdd(b.CreateShuffleVector(x.lanes, y.lanes, low),
                           b.CreateShuffleVector(x.lanes, y.lanes, high));
  return sum;
}

/// The same of \p x alone.
static Segments addHalves(KernelBuilder &b, const Segments &x) {
  unsigned lanes = KernelBuilder::getLanes(x.lanes);
  unsigned whole = lanes / unsigned(x.owners.size()), half = whole / 2;
  llvm::SmallVector<int, 16> low, high;
  for (unsigned first = 0; first < lanes; first += whole)
    for (unsigned i = 0; i < half; ++i) {
      low.push_back(int(first + i));
      high.push_back(int(first + half + i));
    }
  return {b.CreateFAdd(b.CreateShuffleVector(x.lanes, low),
                       b.CreateShuffleVector(x.lanes, high)),
          x.owners};
}

Value *glowish::sumLanes(KernelBuilder &b, Values vectors) {
  auto count = unsigned(vectors.size());
  unsigned lanes = KernelBuilder::getLanes(vectors.front());
  assert(llvm::isPowerOf2_32(count) && llvm::isPowerOf2_32(lanes) &&
         count <= lanes && "no such sums");
  auto add = [&](Value *x, Value *y) { return b.CreateFAdd(x, y); };
  if (count == 1)
    return b.reduceLanes(vectors.front(), add);
  std::vector<Segments> parts;
  for (unsigned i = 0; i < count; ++i)
    parts.push_back({vectors[i], {i}});
  for (unsigned length = lanes; length > 1; length /= 2) {
    if (parts.size() == 1) {
      parts.front() = addHalves(b, parts.front());
      continue;
    }
    // With eight lanes, the sums come out in their order by that.
    size_t half = parts.size() / 2;
    bool isFirst = length == lanes && half > 2;
    std::vector<Segments> next;
    for (size_t i = 0; i < half; ++i)
      next.push_back(isFirst ? addHalves(b, parts[i], parts[i + half])
                             : addHalves(b, parts[2 * i], parts[2 * i + 1]));
    parts = std::move(next);
  }
  llvm::SmallVector<int, 16> order(count);
  for (auto [lane, owner] : llvm::enumerate(parts.front().owners))
    order[owner] = int(lane);
  return b.CreateShuffleVector(parts.front().lanes, order);
}
