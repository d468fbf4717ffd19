//===- SlicedImage.h - Float convolutions on int8 slices --------*- C++ -*-===//
//
// The Ozaki scheme: floats that share a scale become fixed-point numbers of 24
// bits, that is, three int8 slices, slice 0 the most significant. Two such
// numbers multiplied are the sum of the partial products of slices i and j with
// i + j < 3, with an error below 2^-23 of the largest such sum. AMX adds
// partial products exactly and many times faster than vector units multiply
// floats.
//
// Images are packed with their padding and in the order in which every tap is
// at a constant offset: for strides (sh, sw) the rows and columns with the same
// remainders form one of sh * sw sub-images.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_SLICEDIMAGE_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_SLICEDIMAGE_H

#include "Kernels/AMX/AmxUnit.h"
#include "Kernels/Convolution/Convolution.h"

namespace glowish {

constexpr int64_t numSlices = 3;
/// The largest integer whose slices are 127 at most.
constexpr int64_t maxSlicedInteger = 127 * 65536 + 127 * 256 + 127;

/// The pixels and output channels of a tile, which has a register of sums for
/// each order i + j of partial products.
constexpr int64_t tilePixels = matrixRows;
constexpr int64_t tileChannels = matrixColumns;

/// The packed layout of the input of a convolution. The pixels of a group of
/// matrixDepth channels are contiguous; the last group is padded with zeros. In
/// a group, channels i, i + 16, i + 32 and i + 48 are neighbours, so that four
/// vectors of integers become one of slices without a permutation.
struct SlicedImage {
  int64_t phasesH, phasesW;
  int64_t batch, rows, columns, groups;

  static SlicedImage forInput(const ConvolutionShape &shape);
};

/// The steps of the reduction: one for each group of channels and tap of the
/// kernel, taps innermost, so that the pixels of a group are reused from the
/// cache.
inline int64_t getSliceSteps(const ConvolutionShape &shape) {
  return shape.kernelH * shape.kernelW * SlicedImage::forInput(shape).groups;
}

/// Bytes of a slice of a step's weights for a block of tileChannels output
/// channels.
constexpr int64_t sliceStepBytes = matrixDepth * matrixColumns;

/// Weights in the packed layout of the kernel.
struct SlicedWeights {
  /// int8: [block][step][slice][row][column][channel of the row].
  Tensor slices;
  /// float: the scale of the sums of output channel n.
  Tensor scales;
};

/// Slices \p weights, of which \p strides are those of element (kh, kw, c, n).
SlicedWeights sliceWeights(const ConvolutionShape &shape, const float *weights,
                           DimsRef strides);

/// Emits the same for weights that are known only at run time: a view
/// [KH, KW, C, OC].
void emitSlicedWeights(KernelBuilder &b, DimsRef shape, llvm::Value *slices,
                       llvm::Value *scales, const StridedOperand &weights);

/// Elements of SlicedWeights::slices for weights [KH, KW, C, OC].
int64_t getSlicedSize(DimsRef shape);

/// Loads \p channels consecutive channels of a group, padded with zeros.
std::array<llvm::Value *, 4>
loadSliceGroup(KernelBuilder &b, llvm::Value *source, int64_t channels);

/// \p floats padded to 16 lanes with zeros.
llvm::Value *widenWithZeros(KernelBuilder &b, llvm::Value *floats);

/// The elementwise maximum of magnitudes, given by their bits. As integers,
/// these have the order of the magnitudes, with infinity and NaN above all
/// others.
llvm::Value *joinMagnitudes(KernelBuilder &b, llvm::Value *a, llvm::Value *c);
llvm::Value *getMagnitudes(KernelBuilder &b, llvm::Value *floats);
/// The largest lane of magnitudes.
llvm::Value *reduceMagnitudes(KernelBuilder &b, llvm::Value *bits);
/// The largest magnitudes of what loadSliceGroup loads, in 16 lanes.
llvm::Value *findLargestOfGroup(KernelBuilder &b, llvm::Value *source,
                                int64_t channels);

/// The factor of floats before they are sliced, and the scale of their sums.
struct SliceScale {
  llvm::Value *factor, *scale;
};
/// For the bits of the \p largest magnitude, or a vector of them.
SliceScale getSliceScale(KernelBuilder &b, llvm::Value *largest);

/// The slices of four vectors of floats, multiplied by \p factors.
std::array<llvm::Value *, numSlices>
sliceFloats(KernelBuilder &b, std::array<llvm::Value *, 4> values,
            llvm::Value *factors);

/// Floats of a group of at most 64 channels, which are \p stride elements
/// apart: for each channel a vector of 16 lanes with a factor for each lane.
struct SlicedRows {
  llvm::Value *source;
  int64_t channels, stride;
  /// The number of valid lanes, and their distance in elements.
  unsigned lanes;
  int64_t laneStride;
};
/// Slices \p rows. Row r has channels r, r + 16, r + 32 and r + 48, and
/// store(r, slice, bytes) gets a slice of it.
void sliceRows(
    KernelBuilder &b, const SlicedRows &rows, llvm::Value *factors,
    llvm::function_ref<void(llvm::Value *, int64_t, llvm::Value *)> store);

/// Transposes numSlices blocks of 16 x 16 int32, \p fromBytes apart, to blocks
/// at \p to, \p toBytes apart.
void transposeSlices(KernelBuilder &b, llvm::Value *from, int64_t fromBytes,
                     llvm::Value *to, int64_t toBytes);

/// Whether the pixels, and not the channels, of an input with \p strides are
/// contiguous, as in a column-major left side of a matmul.
bool isInputTransposed(const ConvolutionShape &shape, DimsRef strides);

/// The estimated cycles of emitSlicedConvolution on one core; infinite where it
/// does not apply.
double estimateSliced(const ConvolutionShape &shape, DimsRef inputStrides,
                      const TargetDescription &target);

/// Emits the convolution with the slices and scales that sliceWeights returns.
/// \p shape has one group. The input may also be transposed, as
/// isInputTransposed defines it.
void emitSlicedConvolution(KernelBuilder &b, const ConvolutionShape &shape,
                           ConvolutionOperands operands);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_SLICEDIMAGE_H
