//===- ReductionConvolution.h - Sums over lanes -----------------*- C++ -*-===//
//
// Convolutions of 8-bit integers by an instruction that multiplies all bytes of
// two vectors and adds them up in a general register.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_REDUCTION_REDUCTIONCONVOLUTION_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_REDUCTION_REDUCTIONCONVOLUTION_H

#include "Kernels/Convolution/RowTiles.h"

namespace glowish {

/// How weights are packed for sums over input channels. A segment is cut into
/// vectors of 16 elements and perhaps a last one of 4, 8 or 16, which is filled
/// up with zeros: [vector][channel][16], where the last vector has as many
/// elements as it has.
struct ReductionWeights : RowWeights {
  static constexpr int64_t lanes = 16;
  /// Output channels of a block: a vector of sums.
  static constexpr int64_t blockChannels = 4;

  explicit ReductionWeights(const ConvolutionShape &shape);

  /// Whole vectors of a segment, and elements of the last one; 0 without one.
  int64_t vectors, lastLanes;

  /// The place of element \p element of segment \p segment of kernel row \p kh,
  /// for output channel \p n of group \p group.
  int64_t getPlace(int64_t group, int64_t n, int64_t kh, int64_t segment,
                   int64_t element) const;
};

/// The pixels of a tile.
int64_t chooseReductionPixels(const ConvolutionShape &shape);
/// The instructions that the convolution takes, roughly.
double estimateReductionInstructions(const ConvolutionShape &shape,
                                     int64_t pixels);
/// The output columns that are computed of one copy of rows; 0 where the space
/// on the stack would be too large.
int64_t chooseReductionColumns(const ConvolutionShape &shape, int64_t pixels,
                               const TargetDescription &target);

/// Appends the code of a convolution by tiles of \p pixels. The bias has what
/// the zero point adds to the sums of all taps, for inputs as int8: uint8 less
/// 128.
void emitReductionConvolution(KernelBuilder &b, ConvolutionShape shape,
                              int64_t pixels, ConvolutionOperands operands);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_REDUCTION_REDUCTIONCONVOLUTION_H
