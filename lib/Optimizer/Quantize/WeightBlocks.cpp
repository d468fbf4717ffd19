//===- WeightBlocks.cpp - Integers of blocks of weights -------------------===//

#include "Quantize/WeightBlocks.h"
#include <cmath>
#include <numeric>

using namespace glowish;

IntegerRange::IntegerRange(ElemKind kind)
    : isSigned(kind == ElemKind::Int8 || kind == ElemKind::Int4) {
  int count = 1 << getElemBits(kind);
  least = isSigned ? -count / 2 : 0;
  greatest = least + count - 1;
}

BlockParameters glowish::chooseParameters(double low, double high,
                                          const IntegerRange &range) {
  // Less is zero.
  constexpr double least = 1e-30;
  if (high - low < least)
    return {};
  if (range.isSigned && range.greatest == 7)
    return {.scale = float((high > -low ? high : low) / double(range.least))};
  if (range.isSigned)
    return {.scale = float(std::max(high, -low) / double(range.greatest))};
  float scale = float((high - low) / double(range.greatest));
  return {.scale = scale, .zeroPoint = int(std::nearbyint(-low / scale))};
}

namespace {

/// The parameters of a tile, as loops over columns use them.
class TileRounding {
public:
  TileRounding(const TileParameters &chosen, const IntegerRange &range) {
    for (size_t n = 0; n < tileColumns; ++n) {
      const BlockParameters &parameters = chosen.columns[n];
      scales[n] = parameters.scale;
      inverses[n] = 1 / scales[n];
      low[n] = range.least - parameters.zeroPoint;
      high[n] = range.greatest - parameters.zeroPoint;
    }
  }

  /// The integer for \p value in column \p n, less the zero point. Calls no
  /// function, so that loops are vectorized: what is added leaves no bits for
  /// the fraction.
  double round(double value, size_t n) const {
    constexpr double shift = 6755399441055744.0; // 1.5 * 2^52
    double integer = value * inverses[n];
    integer = integer < low[n] ? low[n] : integer;
    integer = integer > high[n] ? high[n] : integer;
    return integer + shift - shift;
  }
  double getScale(size_t n) const { return scales[n]; }

private:
  double scales[tileColumns], inverses[tileColumns];
  double low[tileColumns], high[tileColumns];
};

} // namespace

void glowish::measureErrors(const WeightTile &tile, const IntegerRange &range,
                            TileParameters &chosen) {
  TileRounding rounding(chosen, range);
  double errors[tileColumns] = {};
  const float *from = tile.values.data();
  for (int64_t row = 0; row < tile.rows; ++row, from += tileColumns)
    for (size_t n = 0; n < tileColumns; ++n) {
      double error =
          from[n] - rounding.round(from[n], n) * rounding.getScale(n);
      errors[n] += error * error;
    }
  std::copy_n(errors, tileColumns, chosen.errors);
}

//===- Matrices -----------------------------------------------------------===//

namespace {

/// Quantizes a matrix, a tile at a time.
class BlockQuantizer {
public:
  BlockQuantizer(const Tensor &weights, unsigned axis,
                 const WeightQuantization &quantization)
      : weights(weights), quantization(quantization), range(quantization.kind) {
    DimsRef shape = weights.getType().getShape();
    rows = shape[axis];
    columns = shape[1 - axis];
    block = quantization.getBlock(rows);
    rowStride = axis == 0 ? columns : 1;
    columnStride = axis == 0 ? 1 : rows;
    int64_t count = (rows + block - 1) / block;
    blockStride = axis == 0 ? columns : 1;
    parameterStride = axis == 0 ? 1 : count;
    Dims parameters(shape);
    parameters[axis] = count;
    result = {Tensor(Type(quantization.kind, shape)),
              Tensor(Type(ElemKind::Float, parameters)),
              Tensor(Type(quantization.kind, parameters)), block};
  }

  BlockedWeights run() {
    for (int64_t first = 0; first < rows; first += block)
      for (int64_t column = 0; column < columns;
           column += int64_t(tileColumns)) {
        read(first, column);
        TileParameters chosen = choose();
        measureErrors(tile, range, chosen);
        if (quantization.searches)
          searchParameters(tile, range, chosen);
        write(first, column, chosen);
      }
    double square = std::accumulate(squares, squares + tileColumns, 0.0);
    if (square > 0)
      result.error = std::sqrt(errors / square);
    return std::move(result);
  }

private:
  /// How many columns there are from \p column on, at most as many as a tile
  /// has.
  size_t countColumns(int64_t column) const {
    return std::min(tileColumns, size_t(columns - column));
  }
  void read(int64_t first, int64_t column);
  TileParameters choose() const;
  void write(int64_t first, int64_t column, const TileParameters &chosen);

  const Tensor &weights;
  const WeightQuantization &quantization;
  IntegerRange range;
  int64_t rows, columns, block;
  /// Elements from one row, column or block to the next, and between the
  /// parameters of columns.
  int64_t rowStride, columnStride, blockStride, parameterStride;
  WeightTile tile;
  BlockedWeights result;
  /// Sums of squares of the errors, and, by columns of tiles, of the weights.
  double errors = 0, squares[tileColumns] = {};
};

} // namespace

/// Reads a block; columns that the matrix does not have are zeros.
void BlockQuantizer::read(int64_t first, int64_t column) {
  const float *from = weights.data<float>().data();
  tile.rows = std::min(block, rows - first);
  tile.values.assign(size_t(tile.rows) * tileColumns, 0);
  size_t count = countColumns(column);
  for (int64_t row = 0; row < tile.rows; ++row)
    for (size_t n = 0; n < count; ++n)
      tile.values[size_t(row) * tileColumns + n] =
          from[(first + row) * rowStride +
               (column + int64_t(n)) * columnStride];
}

TileParameters BlockQuantizer::choose() const {
  float low[tileColumns] = {}, high[tileColumns] = {};
  for (size_t i = 0; i < tile.values.size(); i += tileColumns)
    for (size_t n = 0; n < tileColumns; ++n) {
      low[n] = std::min(low[n], tile.values[i + n]);
      high[n] = std::max(high[n], tile.values[i + n]);
    }
  TileParameters chosen;
  for (size_t n = 0; n < tileColumns; ++n)
    chosen.columns[n] = chooseParameters(low[n], high[n], range);
  return chosen;
}

void BlockQuantizer::write(int64_t first, int64_t column,
                           const TileParameters &chosen) {
  size_t count = countColumns(column);
  auto *to = static_cast<uint8_t *>(result.integers.getBytes());
  int zeroPoints[tileColumns] = {};
  for (size_t n = 0; n < count; ++n) {
    int64_t index =
        first / block * blockStride + (column + int64_t(n)) * parameterStride;
    result.scales.setFromDouble(index, chosen.columns[n].scale);
    zeroPoints[n] = chosen.columns[n].zeroPoint;
    result.zeroPoints.setFromDouble(index, zeroPoints[n]);
    errors += chosen.errors[n];
  }
  TileRounding rounding(chosen, range);
  const float *from = tile.values.data();
  for (int64_t row = 0; row < tile.rows; ++row, from += tileColumns) {
    int integers[tileColumns];
    for (size_t n = 0; n < tileColumns; ++n) {
      integers[n] = int(rounding.round(from[n], n)) + zeroPoints[n];
      squares[n] += double(from[n]) * double(from[n]);
    }
    for (size_t n = 0; n < count; ++n)
      to[(first + row) * rowStride + (column + int64_t(n)) * columnStride] =
          uint8_t(integers[n]);
  }
}

BlockedWeights glowish::quantizeBlocks(const Tensor &weights, unsigned axis,
                                       const WeightQuantization &quantization) {
  return BlockQuantizer(weights, axis, quantization).run();
}
