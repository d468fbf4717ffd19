//===- DualConvolution.h - Convolutions of pairs of int16 -------*- C++ -*-===//
//
// Convolutions of 8-bit integers on cores without vectors that multiply two
// pairs of int16 in general registers at a time.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_DUAL_DUALCONVOLUTION_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_DUAL_DUALCONVOLUTION_H

#include "Kernels/Convolution/RowTiles.h"
#include "Kernels/Dual/WidenedRows.h"
#include "Selection/FilterPacker.h"

namespace glowish {

/// The stack that a kernel takes for widened elements where that suffices.
constexpr int64_t usualDualBytes = 4 << 10;

/// How weights are packed for sums over all channels of a group: a segment is
/// [pair][channel / 2][4], of which the last four are two elements of it for
/// two channels: those of the first one are bytes 0 and 2, of the second one 1
/// and 3.
struct DualWeights : RowWeights {
  /// \p channels: output channels of a block, an even number.
  DualWeights(const ConvolutionShape &shape, int64_t channels);

  ChannelOrder order;
  /// Pairs of a segment, the last of which may be filled up.
  int64_t pairs;

  /// The place of a weight; \p columnStride: of RowsLayout.
  int64_t getPlace(const WeightIndex &at, int64_t columnStride) const;
};

/// Pixels by output channels whose sums are kept in registers.
struct DualTile {
  int64_t pixels, channels;
};

/// The tile for a convolution that is not depthwise.
DualTile chooseDualTile(const ConvolutionShape &shape);
/// The instructions that the convolution takes, roughly.
double estimateDualInstructions(const ConvolutionShape &shape, DualTile tile);
/// The output columns that are computed of one widening; 0 where the space on
/// the stack would be too large.
int64_t chooseDualColumns(const ConvolutionShape &shape, DualTile tile,
                          const TargetDescription &target);
/// The output rows of a depthwise convolution that are computed of one
/// widening; 0 where it would be too large.
int64_t chooseDualBand(const ConvolutionShape &shape,
                       const TargetDescription &target);

/// Appends the code of a convolution with weights as DualWeights of the tile's
/// channels packs them.
void emitDualConvolution(KernelBuilder &b, ConvolutionShape shape,
                         DualTile tile, ConvolutionOperands operands);

/// The pairs in which the taps of a kernel row of one filter a channel are
/// packed, as int16: [channel][kh][pair][2]. Taps 0 and 1, 2 and 3, ... are
/// pairs, and behind these taps 1 and 2, 3 and 4, ..., for windows that begin
/// at an odd column. A single tap is the first of a pair.
struct DualTaps {
  explicit DualTaps(int64_t taps);

  struct Place {
    int64_t pair;
    bool isUpper;
  };
  /// One of the places of \p tap.
  Place getPlace(int64_t tap) const;
  /// The first tap of \p pair.
  int64_t getTap(int64_t pair) const {
    return pair < evenPairs ? 2 * pair : 2 * (pair - evenPairs) + 1;
  }
  int64_t getPairs() const { return evenPairs + oddPairs; }

  int64_t taps, evenPairs, oddPairs;
};

/// Appends the code of a convolution with one filter a channel.
void emitDualDepthwise(KernelBuilder &b, const ConvolutionShape &shape,
                       ConvolutionOperands operands);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_DUAL_DUALCONVOLUTION_H
