//===- Histogram.cpp - Counts of numbers ----------------------------------===//

#include "glowish/Optimizer/RangeProfile.h"
#include "glowish/Support/Error.h"
#include <cmath>
#include <numeric>

using namespace glowish;

/// No bin is narrower, and none than 2^-40 of the largest magnitude: numbers of
/// bins stay exact.
static constexpr int leastExponent = -126, leastRelativeExponent = -40;

int64_t Histogram::findBin(double value) const {
  return int64_t(std::floor(std::ldexp(value, -exponent)));
}

void Histogram::joinPairs() {
  auto halve = [](int64_t bin) { return bin >> 1; };
  int64_t begin = halve(first), last = first + int64_t(counts.size()) - 1;
  std::vector<uint64_t> joined(size_t(halve(last) - begin + 1));
  for (size_t i = 0; i < counts.size(); ++i)
    joined[size_t(halve(first + int64_t(i)) - begin)] += counts[i];
  first = begin;
  counts = std::move(joined);
  ++exponent;
}

void Histogram::include(double low, double high) {
  if (isEmpty()) {
    min = low;
    max = high;
    exponent = leastExponent;
  } else {
    min = std::min(min, low);
    max = std::max(max, high);
  }
  int wanted = exponent;
  double magnitude = std::max(std::abs(min), std::abs(max));
  if (magnitude > 0)
    wanted = std::max(wanted, std::ilogb(magnitude) + leastRelativeExponent);
  auto countBins = [&] {
    return std::floor(std::ldexp(max, -wanted)) -
           std::floor(std::ldexp(min, -wanted)) + 1;
  };
  while (countBins() > maxBins)
    ++wanted;
  while (!counts.empty() && exponent < wanted)
    joinPairs();
  exponent = wanted;
  int64_t begin = findBin(min), end = findBin(max) + 1;
  if (!counts.empty())
    counts.insert(counts.begin(), size_t(first - begin), 0);
  first = begin;
  counts.resize(size_t(end - begin));
}

void Histogram::add(llvm::ArrayRef<float> values) {
  double low = INFINITY, high = -INFINITY;
  for (float value : values) {
    if (!std::isfinite(value)) {
      nonFinite = true;
      continue;
    }
    low = std::min(low, double(value));
    high = std::max(high, double(value));
  }
  if (low > high)
    return;
  // -0 is 0 in the text of a profile.
  include(low + 0.0, high + 0.0);
  for (float value : values)
    if (std::isfinite(value))
      ++counts[size_t(findBin(value) - first)];
}

uint64_t Histogram::getTotal() const {
  return std::accumulate(counts.begin(), counts.end(), uint64_t(0));
}

llvm::Expected<Histogram> Histogram::create(double min, double max,
                                            int exponent,
                                            std::vector<uint64_t> counts,
                                            unsigned maxBins) {
  if (maxBins < leastNumBins || maxBins > mostNumBins)
    return makeError("there are up to {0} bins; accepted: {1} to {2}", maxBins,
                     leastNumBins, mostNumBins);
  Histogram histogram(maxBins);
  if (!std::isfinite(min) || !std::isfinite(max) || min > max)
    return makeError("the range is from {0} to {1}; accepted: finite numbers "
                     "in ascending order",
                     min, max);
  histogram.include(min, max);
  if (exponent < histogram.exponent || exponent > 128)
    return makeError("the bins are 2^{0} wide; accepted: at least 2^{1}, with "
                     "{2} bins",
                     exponent, histogram.exponent, maxBins);
  histogram.exponent = exponent;
  histogram.first = histogram.findBin(min);
  size_t size = size_t(histogram.findBin(max) - histogram.first + 1);
  if (counts.size() != size)
    return makeError("the histogram has {0} bins; the range has {1}",
                     counts.size(), size);
  histogram.counts = std::move(counts);
  if (!histogram.getTotal())
    return makeError("the histogram counts nothing");
  return histogram;
}
