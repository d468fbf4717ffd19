//===- Calibration.cpp - Narrower ranges of quantized values --------------===//
//
// A range is given up at its ends if that makes the rest better: quantized by a
// smaller scale, the many values in the middle are more exact, and the few
// outside become the nearest end.
//
//===----------------------------------------------------------------------===//

#include "glowish/Optimizer/Quantize.h"
#include <algorithm>
#include <cmath>

using namespace glowish;

/// Whether the least and the greatest integer stand for opposite numbers.
static bool hasMirroredRange(const Histogram &histogram,
                             QuantizationSchema schema) {
  return schema == QuantizationSchema::Symmetric ||
         schema == QuantizationSchema::SymmetricWithPower2Scale ||
         (schema == QuantizationSchema::SymmetricWithUInt8 &&
          histogram.getMin() < 0);
}

/// What the numbers of bin \p index are taken to be: the middle, but 0 in the
/// bin that begins there, as most of an activation's numbers often are 0.
static double getNumber(const Histogram &histogram, size_t index) {
  double edge = histogram.getEdge(index);
  return edge == 0 ? 0 : edge + histogram.getWidth() / 2;
}

/// \p value as it is when it has been quantized.
static double roundTrip(double value, const QuantizationParams &params) {
  double integer = std::nearbyint(value / params.scale) + params.zeroPoint;
  integer = std::clamp(integer, double(params.getLeast()),
                       double(params.getGreatest()));
  return (integer - params.zeroPoint) * params.scale;
}

static double getMeanSquareError(const Histogram &histogram, ValueRange range,
                                 QuantizationSchema schema) {
  QuantizationParams params = chooseQuantization(range, schema);
  double sum = 0;
  for (auto [i, count] : llvm::enumerate(histogram.getCounts())) {
    double number = getNumber(histogram, i);
    double error = roundTrip(number, params) - number;
    sum += double(count) * error * error;
  }
  return sum;
}

/// The counts of \p histogram, with as many numbers in the bin that begins at 0
/// as in the next one: zeros, which most of an activation's numbers often are,
/// are exact by any scale, and would hide what differs elsewhere.
static std::vector<uint64_t> getCountsWithoutZeros(const Histogram &histogram) {
  std::vector<uint64_t> counts = histogram.getCounts().vec();
  for (size_t i = 0; i + 1 < counts.size(); ++i)
    if (histogram.getEdge(i) == 0)
      counts[i] = std::min(counts[i], counts[i + 1]);
  return counts;
}

/// How the distribution of \p histogram, cut to \p range, differs from what the
/// quantized values tell of it: the bins of one integer can't be told apart.
/// After Migacz, 8-bit Inference with TensorRT, 2017.
static double getDivergence(const Histogram &histogram, ValueRange range,
                            QuantizationSchema schema) {
  QuantizationParams params = chooseQuantization(range, schema);
  struct Level {
    /// The numbers inside of the range, and the bins that have any.
    double inside = 0, numBins = 0;
  };
  std::vector<Level> levels(256);
  std::vector<uint64_t> counts = getCountsWithoutZeros(histogram);
  std::vector<unsigned> levelOf(counts.size());
  std::vector<double> cut(counts.size());
  std::optional<size_t> begin, end;
  double below = 0, above = 0, total = 0, inside = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    double number = getNumber(histogram, i), count = double(counts[i]);
    double integer = std::nearbyint(number / params.scale) + params.zeroPoint;
    total += count;
    if (integer < params.getLeast() || integer > params.getGreatest()) {
      (integer < params.getLeast() ? below : above) += count;
      continue;
    }
    begin = begin.value_or(i);
    end = i;
    cut[i] = count;
    inside += count;
    levelOf[i] = unsigned(integer - params.getLeast());
    levels[levelOf[i]].inside += count;
    levels[levelOf[i]].numBins += count > 0;
  }
  if (!begin || inside == 0)
    return INFINITY;
  cut[*begin] += below;
  cut[*end] += above;
  // A distribution that says 0 where there is something would be infinitely
  // wrong.
  constexpr double least = 1e-4;
  double divergence = 0;
  for (size_t i = *begin; i <= *end; ++i) {
    if (cut[i] == 0)
      continue;
    const Level &level = levels[levelOf[i]];
    double share = cut[i] / total,
           told = counts[i] ? level.inside / level.numBins / inside : 0;
    divergence += share * std::log(share / std::max(told, least * share));
  }
  return divergence;
}

/// The range with the least \p cost: each end of that of \p histogram is moved
/// towards 0 in steps, one after the other.
static ValueRange search(const Histogram &histogram, bool isMirrored,
                         llvm::function_ref<double(ValueRange range)> getCost) {
  ValueRange whole = {std::min(histogram.getMin(), 0.0),
                      std::max(histogram.getMax(), 0.0)};
  if (isMirrored) {
    whole.max = std::max(-whole.min, whole.max);
    whole.min = -whole.max;
  }
  ValueRange best = whole;
  double leastCost = getCost(best);
  constexpr int numSteps = 100;
  auto tryEnds = [&](bool movesMin, bool movesMax) {
    ValueRange start = best;
    for (int step = 1; step <= numSteps; ++step) {
      ValueRange range = start;
      double factor = double(step) / numSteps;
      if (movesMin)
        range.min = whole.min * factor;
      if (movesMax)
        range.max = whole.max * factor;
      double cost = getCost(range);
      if (cost < leastCost) {
        leastCost = cost;
        best = range;
      }
    }
  };
  if (isMirrored) {
    tryEnds(true, true);
    return best;
  }
  for (int round = 0; round < 2; ++round) {
    if (whole.max > 0)
      tryEnds(false, true);
    if (whole.min < 0)
      tryEnds(true, false);
  }
  return best;
}

/// The range without the outermost share of the numbers, half of it at each
/// end; all of it at one end where no number is on the other side of 0.
static ValueRange cutTails(const Histogram &histogram, bool isMirrored) {
  constexpr double share = 1e-4;
  llvm::ArrayRef<uint64_t> counts = histogram.getCounts();
  double total = double(histogram.getTotal());
  ValueRange range = {histogram.getMin(), histogram.getMax()};
  bool hasBothEnds = range.min < 0 && range.max > 0;
  double most = total * share / (hasBothEnds ? 2 : 1), seen = 0;
  size_t low = 0, high = counts.size() - 1;
  if (isMirrored) {
    // The outermost of both ends, by their magnitudes.
    for (most = total * share; low < high;) {
      bool takesLow = -histogram.getEdge(low) > histogram.getEdge(high + 1);
      seen += double(counts[takesLow ? low : high]);
      if (seen > most)
        break;
      takesLow ? ++low : --high;
    }
  } else {
    if (range.min < 0)
      for (; low < high && seen + double(counts[low]) <= most; ++low)
        seen += double(counts[low]);
    seen = 0;
    if (range.max > 0)
      for (; low < high && seen + double(counts[high]) <= most; --high)
        seen += double(counts[high]);
  }
  return {std::max(range.min, histogram.getEdge(low)),
          std::min(range.max, histogram.getEdge(high + 1))};
}

ValueRange glowish::calibrate(const Histogram &histogram,
                              QuantizationSchema schema,
                              QuantizationCalibration calibration) {
  bool isMirrored = hasMirroredRange(histogram, schema);
  switch (calibration) {
  case QuantizationCalibration::None:
    return {histogram.getMin(), histogram.getMax()};
  case QuantizationCalibration::Percentile:
    return cutTails(histogram, isMirrored);
  case QuantizationCalibration::KL:
    return search(histogram, isMirrored, [&](ValueRange range) {
      return getDivergence(histogram, range, schema);
    });
  case QuantizationCalibration::MeanSquare:
    return search(histogram, isMirrored, [&](ValueRange range) {
      return getMeanSquareError(histogram, range, schema);
    });
  }
  llvm_unreachable("covered switch");
}
