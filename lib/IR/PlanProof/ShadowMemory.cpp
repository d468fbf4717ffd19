//===- ShadowMemory.cpp - Owner of each byte of memory --------------------===//

#include "ShadowMemory.h"
#include <algorithm>
#include <iterator>

using namespace glowish;

void ShadowMemory::splitAt(uint64_t at) {
  auto next = ranges.lower_bound(at);
  if (next == ranges.begin())
    return;
  auto &[begin, range] = *std::prev(next);
  if (range.end <= at)
    return;
  ranges.insert(next, {at, range});
  range.end = at;
}

void ShadowMemory::write(uint64_t begin, uint64_t end, const Buffer *owner) {
  if (begin == end)
    return;
  splitAt(begin);
  splitAt(end);
  auto next = ranges.erase(ranges.lower_bound(begin), ranges.lower_bound(end));
  if (next != ranges.end() && next->first == end &&
      next->second.owner == owner) {
    end = next->second.end;
    next = ranges.erase(next);
  }
  if (next != ranges.begin()) {
    Range &previous = std::prev(next)->second;
    if (previous.end == begin && previous.owner == owner) {
      previous.end = end;
      return;
    }
  }
  ranges.insert(next, {begin, {end, owner}});
}

bool ShadowMemory::isOwned(uint64_t begin, uint64_t end, const Buffer *owner,
                           const Buffer *&other) const {
  other = nullptr;
  auto range = ranges.upper_bound(begin);
  if (range != ranges.begin())
    --range;
  for (; begin < end; ++range) {
    if (range == ranges.end() || range->first > begin ||
        range->second.end <= begin)
      return false;
    if (range->second.owner != owner) {
      other = range->second.owner;
      return false;
    }
    begin = range->second.end;
  }
  return true;
}

void ShadowMemory::meet(const ShadowMemory &other) {
  ShadowMemory common;
  auto a = ranges.cbegin(), b = other.ranges.cbegin();
  while (a != ranges.cend() && b != other.ranges.cend()) {
    uint64_t begin = std::max(a->first, b->first);
    uint64_t end = std::min(a->second.end, b->second.end);
    if (begin < end && a->second.owner == b->second.owner)
      common.write(begin, end, a->second.owner);
    if (a->second.end <= b->second.end)
      ++a;
    else
      ++b;
  }
  *this = std::move(common);
}
