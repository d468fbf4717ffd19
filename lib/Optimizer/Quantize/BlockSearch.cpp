//===- BlockSearch.cpp - Scales of blocks with the least squared error ----===//
//
// The range of a block need not be that of its integers: where few weights are
// far from 0, a smaller scale makes the others more exact. A search tries
// several scales, and refits each by least squares: for integers q the best
// scale is sum(w * q) / sum(q * q). The sums that this takes also tell the
// error, so that a trial reads the weights once.
//
// Weights are measured in units of the scale, in single precision. The result
// is compared with the given parameters in double precision at the end, so that
// it is never worse.
//
//===----------------------------------------------------------------------===//

#include "Quantize/WeightBlocks.h"
#include <cmath>

using namespace glowish;

namespace {

/// What one trial of a tile measures: sums over the rows of e * e, e * q and
/// q * q for the integers q, and e, the weights in units of the scale less q.
struct TrialSums {
  double error[tileColumns] = {}, cross[tileColumns] = {},
         square[tileColumns] = {};
};

/// The best parameters of a column so far.
struct Best {
  double scale = 1;
  int zeroPoint = 0;
  double error = 0;
  /// The scale that suits the integers.
  double refit = 1;
};

/// Tries parameters for all columns of a tile.
class Searcher {
public:
  Searcher(const WeightTile &tile, const IntegerRange &range)
      : tile(tile), range(range) {}

  void run(TileParameters &chosen);

private:
  /// Tries \p candidates, and takes those with smaller errors.
  void attempt(const TileParameters &candidates);
  /// Tries what \p fn makes of the best parameters of each column so far.
  template <typename Fn> void attemptNext(Fn fn) {
    TileParameters candidates;
    for (size_t n = 0; n < tileColumns; ++n)
      candidates.columns[n] = fn(best[n]);
    attempt(candidates);
  }

  const WeightTile &tile;
  const IntegerRange &range;
  Best best[tileColumns];
};

} // namespace

/// Adds to \p sums those of \p rows rows from \p from on. Four columns at a
/// time stay in vector registers.
static void addRows(const float *from, int64_t rows,
                    const TileParameters &candidates, const IntegerRange &range,
                    TrialSums &sums) {
  constexpr size_t lanes = 4;
  constexpr float shift = 12582912.0f; // 1.5 * 2^23: leaves no fraction.
  for (size_t first = 0; first < tileColumns; first += lanes) {
    float inverse[lanes], low[lanes], high[lanes];
    for (size_t n = 0; n < lanes; ++n) {
      const BlockParameters &parameters = candidates.columns[first + n];
      inverse[n] = 1 / parameters.scale;
      low[n] = float(range.least - parameters.zeroPoint);
      high[n] = float(range.greatest - parameters.zeroPoint);
    }
    float error[lanes] = {}, cross[lanes] = {}, square[lanes] = {};
    for (int64_t row = 0; row < rows; ++row)
      for (size_t n = 0; n < lanes; ++n) {
        float x = from[size_t(row) * tileColumns + first + n] * inverse[n];
        float q = x < low[n] ? low[n] : x;
        q = q > high[n] ? high[n] : q;
        q = q + shift - shift;
        float e = x - q;
        error[n] += e * e;
        cross[n] += e * q;
        square[n] += q * q;
      }
    for (size_t n = 0; n < lanes; ++n) {
      sums.error[first + n] += error[n];
      sums.cross[first + n] += cross[n];
      sums.square[first + n] += square[n];
    }
  }
}

void Searcher::attempt(const TileParameters &candidates) {
  // Short enough for sums of single precision.
  constexpr int64_t mostRows = 256;
  TrialSums sums;
  for (int64_t row = 0; row < tile.rows; row += mostRows)
    addRows(tile.values.data() + size_t(row) * tileColumns,
            std::min(mostRows, tile.rows - row), candidates, range, sums);
  for (size_t n = 0; n < tileColumns; ++n) {
    if (!(sums.square[n] > 0))
      continue;
    double scale = candidates.columns[n].scale;
    double change = sums.cross[n] / sums.square[n];
    double error = scale * scale * (sums.error[n] - change * sums.cross[n]);
    if (error < best[n].error)
      best[n] = {scale, candidates.columns[n].zeroPoint, error,
                 scale * (1 + change)};
  }
}

void Searcher::run(TileParameters &chosen) {
  // Of the range's scale. Those above 1 let the greatest weight lie within the
  // outermost step.
  static constexpr double coarse[] = {1.12, 1.06, 1,    0.94, 0.88, 0.82, 0.76,
                                      0.7,  0.64, 0.57, 0.5,  0.42, 0.34};
  for (size_t n = 0; n < tileColumns; ++n)
    best[n] = {chosen.columns[n].scale, chosen.columns[n].zeroPoint,
               chosen.errors[n], chosen.columns[n].scale};
  for (double factor : coarse) {
    TileParameters candidates = chosen;
    for (BlockParameters &parameters : candidates.columns)
      parameters.scale = float(parameters.scale * factor);
    attempt(candidates);
  }
  auto scaled = [](const Best &from, double factor, int zeroPoint) {
    return BlockParameters{float(from.scale * factor), zeroPoint};
  };
  attemptNext([&](auto &b) { return scaled(b, 0.97, b.zeroPoint); });
  attemptNext([&](auto &b) { return scaled(b, 1.03, b.zeroPoint); });
  // With a zero point of 0, more integers on the other side of it.
  for (int step : {-1, 1}) {
    if (range.isSigned && step > 0)
      continue;
    attemptNext([&](auto &b) {
      return range.isSigned ? scaled(b, -1, 0)
                            : scaled(b, 1,
                                     std::clamp(b.zeroPoint + step, range.least,
                                                range.greatest));
    });
  }
  attemptNext(
      [](auto &b) { return BlockParameters{float(b.refit), b.zeroPoint}; });
  // Rounding to the refitted scale makes the error smaller once more.
  TileParameters found;
  for (size_t n = 0; n < tileColumns; ++n)
    found.columns[n] = {float(best[n].refit), best[n].zeroPoint};
  measureErrors(tile, range, found);
  for (size_t n = 0; n < tileColumns; ++n)
    if (found.errors[n] < chosen.errors[n]) {
      chosen.columns[n] = found.columns[n];
      chosen.errors[n] = found.errors[n];
    }
}

void glowish::searchParameters(const WeightTile &tile,
                               const IntegerRange &range,
                               TileParameters &chosen) {
  Searcher(tile, range).run(chosen);
}
