//===- ReductionConvolution.h - Sums over lanes -----------------*- C++ -*-===//
//
// Convolutions of 8-bit integers by an instruction that multiplies all bytes of
// two vectors and adds them up in a general register.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_REDUCTION_REDUCTIONCONVOLUTION_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_REDUCTION_REDUCTIONCONVOLUTION_H

#include "Kernels/Convolution/WindowRows.h"

namespace glowish {

/// How weights are packed for sums over input channels.
///
/// A segment is what lies side by side in a row: a kernel row, or with dilation
/// one of its taps. It is cut into vectors of 16 elements and perhaps a last
/// one of 4, 8 or 16, which is filled up with zeros. The weights are
/// [group][block of output channels][kernel row][segment][vector][channel][16],
/// where the last vector has as many elements as it has.
struct ReductionWeights {
  static constexpr int64_t lanes = 16;
  /// Output channels of a block: a vector of sums.
  static constexpr int64_t channels = 4;

  explicit ReductionWeights(const ConvolutionShape &shape);

  /// Of a kernel row.
  int64_t segments;
  /// Whole vectors of a segment, and elements of the last one; 0 without one.
  int64_t vectors, lastLanes;
  /// Of a group; the last may be filled up.
  int64_t blocks;
  int64_t kernelRows;

  int64_t getSegmentBytes() const {
    return channels * (vectors * lanes + lastLanes);
  }
  int64_t getBlockBytes() const {
    return kernelRows * segments * getSegmentBytes();
  }
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
