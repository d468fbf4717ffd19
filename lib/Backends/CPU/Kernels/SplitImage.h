//===- SplitImage.h - Float products on int8 matrix units -------*- C++ -*-===//
//
// A float, divided by a scale that many share, becomes an integer of 24 bits:
// three digits of 8 bits, digit 0 the highest. The product of two such integers
// is the sum of the products of digits i and j with i + j < 3, but for 2^-23 of
// the largest such product, and matrix units add products of digits without
// error and many times faster than vector units multiply floats.
//
// Images are split with their padding and in the order that makes every tap a
// shift: for strides (sh, sw) the rows and columns with the same remainders
// form one of sh * sw sub-images.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_SPLITIMAGE_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_SPLITIMAGE_H

#include "Kernels.h"

namespace glowish {

constexpr int64_t numDigits = 3;
/// The largest integer whose digits are 127 at most.
constexpr int64_t maxSplitInteger = 127 * 65536 + 127 * 256 + 127;

/// The rows and columns of a matrix unit's registers, and the bytes that one of
/// their rows takes from each operand.
constexpr int64_t matrixRows = 16, matrixColumns = 16, matrixDepth = 64;
/// Pixels and output channels of a tile: a register of sums for each order of
/// the digits' products.
constexpr int64_t splitPixels = matrixRows;
constexpr int64_t splitChannels = matrixColumns;

/// A convolution's input in digits. The pixels of a group of matrixDepth
/// channels lie side by side; the last group is filled up with zeros. In a
/// group, channels i, i + 16, i + 32 and i + 48 are neighbours, so that four
/// vectors of integers become one of digits without a permutation.
struct SplitImage {
  int64_t phasesH, phasesW;
  int64_t batch, rows, columns, groups;

  static SplitImage forInput(const ConvolutionShape &shape);
};

/// The steps of the reduction: for each group of channels one for each tap of
/// the kernel, so that a group's pixels are used while they are near.
inline int64_t getSplitSteps(const ConvolutionShape &shape) {
  return shape.kernelH * shape.kernelW * SplitImage::forInput(shape).groups;
}

/// Bytes of a digit of a step's weights for a block of splitChannels output
/// channels.
constexpr int64_t splitStepBytes = matrixDepth * matrixColumns;

/// Weights as the kernel reads them.
struct SplitWeights {
  /// int8: [block][step][digit][row][column][channel of the row].
  Tensor digits;
  /// float: what the sums of output channel n are multiplied with.
  Tensor scales;
};

/// \p weights: element (kh, kw, c, n) lies at these strides.
SplitWeights splitWeights(const ConvolutionShape &shape, const float *weights,
                          DimsRef strides);

/// Emits the same for weights that are known only at run time: a view
/// [KH, KW, C, OC].
void emitSplitWeights(KernelBuilder &b, DimsRef shape, llvm::Value *digits,
                      llvm::Value *scales, const StridedOperand &weights);

/// Elements of SplitWeights::digits for weights [KH, KW, C, OC].
int64_t getSplitSize(DimsRef shape);

/// \p channels neighbours of a group from \p source on, then zeros.
std::array<llvm::Value *, 4>
loadSplitGroup(KernelBuilder &b, llvm::Value *source, int64_t channels);

/// 16 lanes, of which those that \p floats lacks are zeros.
llvm::Value *widenWithZeros(KernelBuilder &b, llvm::Value *floats);

/// The larger of the magnitudes, lane by lane, of floats given by the bits of
/// their magnitudes. As integers they are in the order of magnitudes, infinity
/// and what is not a number above all.
llvm::Value *joinMagnitudes(KernelBuilder &b, llvm::Value *a, llvm::Value *c);
llvm::Value *getMagnitudes(KernelBuilder &b, llvm::Value *floats);

/// What floats are multiplied with before they are split, and the sums of their
/// digits' products after.
struct SplitScale {
  llvm::Value *factor, *scale;
};
/// For the bits of the \p largest magnitude, or a vector of them.
SplitScale getSplitScale(KernelBuilder &b, llvm::Value *largest);

/// The bytes of digits of four vectors of floats times \p factors.
std::array<llvm::Value *, numDigits>
splitFloats(KernelBuilder &b, std::array<llvm::Value *, 4> values,
            llvm::Value *factors);

/// Floats as the rows of a group: 16 lanes that have factors of their own, for
/// each of \p channels channels that are \p stride elements apart, 64 at most.
struct SplitRows {
  llvm::Value *source;
  int64_t channels, stride;
  /// Lanes that there are, and elements between them.
  unsigned lanes;
  int64_t laneStride;
};
/// Splits \p rows. Row r has channels r, r + 16, r + 32 and r + 48, and
/// store(r, digit, bytes) gets a digit of it.
void splitRows(
    KernelBuilder &b, const SplitRows &rows, llvm::Value *factors,
    llvm::function_ref<void(llvm::Value *, int64_t, llvm::Value *)> store);

/// Copies the transpose of each of numDigits squares of 16 x 16 int32, which
/// lie \p fromBytes from each other; those at \p to lie \p toBytes.
void transposeDigits(KernelBuilder &b, llvm::Value *from, int64_t fromBytes,
                     llvm::Value *to, int64_t toBytes);

/// Whether output pixels lie side by side in an input with \p strides and its
/// channels don't, as those of the transposed left side of a product.
bool isInputTurned(const ConvolutionShape &shape, DimsRef strides);

/// The time that emitSplitConvolution takes; infinite where it does not apply.
double estimateSplit(const ConvolutionShape &shape, DimsRef inputStrides,
                     const TargetDescription &target);

/// The convolution with \p digits and \p scales of splitWeights. The rest is as
/// for emitConvolution. \p shape has one group.
void emitSplitConvolution(KernelBuilder &b, const ConvolutionShape &shape,
                          StridedOperand result, StridedOperand input,
                          llvm::Value *digits, llvm::Value *scales,
                          llvm::Value *bias, EpilogueCode epilogue);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_SPLITIMAGE_H
