//===- WeightBlocks.h - Integers of blocks of weights -----------*- C++ -*-===//

#ifndef GLOWISH_LIB_OPTIMIZER_QUANTIZE_WEIGHTBLOCKS_H
#define GLOWISH_LIB_OPTIMIZER_QUANTIZE_WEIGHTBLOCKS_H

#include "glowish/Base/Tensor.h"
#include "glowish/Optimizer/Quantize.h"

namespace glowish {

/// The scale and zero point of one block.
struct BlockParameters {
  float scale = 1;
  int zeroPoint = 0;
};

/// The least and the greatest integer of a kind of weights.
struct IntegerRange {
  explicit IntegerRange(ElemKind kind);
  bool isSigned;
  int least, greatest;
};

/// Parameters for numbers from \p low, at most 0, to \p high, at least 0, by
/// these alone. Signed integers have the zero point 0. Of the few that have 4
/// bits the least stands for the greatest magnitude, as there is one more of
/// its sign: the scale may be negative.
BlockParameters chooseParameters(double low, double high,
                                 const IntegerRange &range);

/// The columns that are quantized at a time.
constexpr size_t tileColumns = 16;

/// Some rows of as many columns as a tile has, side by side.
struct WeightTile {
  std::vector<float> values;
  int64_t rows = 0;
};

/// Parameters and the sums of squared errors of the columns of a tile.
struct TileParameters {
  BlockParameters columns[tileColumns];
  double errors[tileColumns] = {};
};

/// Sets errors to those of \p tile with the parameters of \p chosen.
void measureErrors(const WeightTile &tile, const IntegerRange &range,
                   TileParameters &chosen);

/// Tries other parameters than \p chosen, which chooseParameters() has found
/// for each column of \p tile, and takes those with smaller errors.
void searchParameters(const WeightTile &tile, const IntegerRange &range,
                      TileParameters &chosen);

/// Integers of the weights' shape. The parameters have a number for each block
/// along one dimension, and the other extents of the weights.
struct BlockedWeights {
  Tensor integers, scales, zeroPoints;
  int64_t block = 0;
  /// The root of the mean squared error, as a share of that of the weights.
  double error = 0;
};

/// Quantizes \p weights, a matrix of finite floats, in blocks along dimension
/// \p axis.
BlockedWeights quantizeBlocks(const Tensor &weights, unsigned axis,
                              const WeightQuantization &quantization);

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_QUANTIZE_WEIGHTBLOCKS_H
