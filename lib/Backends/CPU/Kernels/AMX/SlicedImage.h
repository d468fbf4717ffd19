//===- SlicedImage.h - Float products on int8 matrix units -------*- C++
//-*-===//
//
// A float, divided by a scale that many share, becomes an integer of 24 bits:
// three slices of 8 bits, slice 0 the highest. The product of two such integers
// is the sum of the products of slices i and j with i + j < 3, but for 2^-23 of
// the largest such product, and matrix units add products of slices without
// error and many times faster than vector units multiply floats.
//
// Images are sliced with their padding and in the order that makes every tap a
// shift: for strides (sh, sw) the rows and columns with the same remainders
// form one of sh * sw sub-images.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_SLICEDIMAGE_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_SLICEDIMAGE_H

#include "Kernels/Convolution/Convolution.h"

namespace glowish {

constexpr int64_t numSlices = 3;
/// The largest integer whose slices are 127 at most.
constexpr int64_t maxSlicedInteger = 127 * 65536 + 127 * 256 + 127;

/// The rows and columns of a matrix unit's registers, and the bytes that one of
/// their rows takes from each operand.
constexpr int64_t matrixRows = 16, matrixColumns = 16, matrixDepth = 64;
/// Pixels and output channels of a tile: a register of sums for each order of
/// the slices' products.
constexpr int64_t tilePixels = matrixRows;
constexpr int64_t tileChannels = matrixColumns;

/// A convolution's input in slices. The pixels of a group of matrixDepth
/// channels lie side by side; the last group is filled up with zeros. In a
/// group, channels i, i + 16, i + 32 and i + 48 are neighbours, so that four
/// vectors of integers become one of slices without a permutation.
struct SlicedImage {
  int64_t phasesH, phasesW;
  int64_t batch, rows, columns, groups;

  static SlicedImage forInput(const ConvolutionShape &shape);
};

/// The steps of the reduction: for each group of channels one for each tap of
/// the kernel, so that a group's pixels are used while they are near.
inline int64_t getSliceSteps(const ConvolutionShape &shape) {
  return shape.kernelH * shape.kernelW * SlicedImage::forInput(shape).groups;
}

/// Bytes of a slice of a step's weights for a block of tileChannels output
/// channels.
constexpr int64_t sliceStepBytes = matrixDepth * matrixColumns;

/// Weights as the kernel reads them.
struct SlicedWeights {
  /// int8: [block][step][slice][row][column][channel of the row].
  Tensor slices;
  /// float: what the sums of output channel n are multiplied with.
  Tensor scales;
};

/// \p weights: element (kh, kw, c, n) lies at these strides.
SlicedWeights sliceWeights(const ConvolutionShape &shape, const float *weights,
                           DimsRef strides);

/// Emits the same for weights that are known only at run time: a view
/// [KH, KW, C, OC].
void emitSlicedWeights(KernelBuilder &b, DimsRef shape, llvm::Value *slices,
                       llvm::Value *scales, const StridedOperand &weights);

/// Elements of SlicedWeights::slices for weights [KH, KW, C, OC].
int64_t getSlicedSize(DimsRef shape);

/// \p channels neighbours of a group from \p source on, then zeros.
std::array<llvm::Value *, 4>
loadSliceGroup(KernelBuilder &b, llvm::Value *source, int64_t channels);

/// 16 lanes, of which those that \p floats lacks are zeros.
llvm::Value *widenWithZeros(KernelBuilder &b, llvm::Value *floats);

/// The larger of the magnitudes, lane by lane, of floats given by the bits of
/// their magnitudes. As integers they are in the order of magnitudes, infinity
/// and what is not a number above all.
llvm::Value *joinMagnitudes(KernelBuilder &b, llvm::Value *a, llvm::Value *c);
llvm::Value *getMagnitudes(KernelBuilder &b, llvm::Value *floats);

/// What floats are multiplied with before they are sliced, and the sums of
/// their slices' products after.
struct SliceScale {
  llvm::Value *factor, *scale;
};
/// For the bits of the \p largest magnitude, or a vector of them.
SliceScale getSliceScale(KernelBuilder &b, llvm::Value *largest);

/// The bytes of slices of four vectors of floats times \p factors.
std::array<llvm::Value *, numSlices>
sliceFloats(KernelBuilder &b, std::array<llvm::Value *, 4> values,
            llvm::Value *factors);

/// Floats as the rows of a group: 16 lanes that have factors of their own, for
/// each of \p channels channels that are \p stride elements apart, 64 at most.
struct SlicedRows {
  llvm::Value *source;
  int64_t channels, stride;
  /// Lanes that there are, and elements between them.
  unsigned lanes;
  int64_t laneStride;
};
/// Slices \p rows. Row r has channels r, r + 16, r + 32 and r + 48, and
/// store(r, slice, bytes) gets a slice of it.
void sliceRows(
    KernelBuilder &b, const SlicedRows &rows, llvm::Value *factors,
    llvm::function_ref<void(llvm::Value *, int64_t, llvm::Value *)> store);

/// Copies the transpose of each of numSlices squares of 16 x 16 int32, which
/// lie \p fromBytes from each other; those at \p to lie \p toBytes.
void transposeSlices(KernelBuilder &b, llvm::Value *from, int64_t fromBytes,
                     llvm::Value *to, int64_t toBytes);

/// Whether output pixels lie side by side in an input with \p strides and its
/// channels don't, as those of the transposed left side of a product.
bool isInputTransposed(const ConvolutionShape &shape, DimsRef strides);

/// The estimated cycles of emitSlicedConvolution on one core; infinite where it
/// does not apply.
double estimateSliced(const ConvolutionShape &shape, DimsRef inputStrides,
                      const TargetDescription &target);

/// Appends the code of the convolution with slices and scales of sliceWeights.
/// \p shape has one group. The input may also be transposed, as
/// isInputTransposed says.
void emitSlicedConvolution(KernelBuilder &b, const ConvolutionShape &shape,
                           ConvolutionOperands operands);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_SLICEDIMAGE_H
