//===- SplitImage.h - Float products on bfloat16 matrix units -*- C++ -*-===//
//
// A float is the sum of three bfloat16 numbers: part 0 is the float rounded to
// 8 significant bits, part 1 what is left, rounded, part 2 what is left then.
// The product of two floats is the sum of the products of parts i and j with i
// + j < 3, but for 2^-24 of its size, and matrix units add such products
// several times faster than vector units multiply floats.
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

/// The parts of a float.
constexpr int64_t numParts = 3;

/// The rows and columns of a matrix unit's registers, and the bfloat16
/// elements that one of their rows takes from each operand.
constexpr int64_t matrixRows = 16, matrixColumns = 16, matrixDepth = 32;
/// Pixels and output channels of a tile: two by two registers of sums.
constexpr int64_t splitPixels = 2 * matrixRows;
constexpr int64_t splitChannels = 2 * matrixColumns;

/// A convolution's input in parts. The pixels of a group of matrixDepth
/// channels lie side by side; the last group is filled up with zeros. In a
/// group, channels i and i + matrixDepth / 2 are neighbours, so that two
/// vectors of floats become one of pairs without a permutation.
struct SplitImage {
  int64_t phasesH, phasesW;
  int64_t batch, rows, columns, groups;

  static SplitImage forInput(const ConvolutionShape &shape);
};

/// The steps of the reduction of a convolution over a split image: for each
/// group of channels one for each tap of the kernel, so that a group's pixels
/// are used while they are near.
inline int64_t getSplitSteps(const ConvolutionShape &shape) {
  return shape.kernelH * shape.kernelW * SplitImage::forInput(shape).groups;
}

/// Elements of a step's weights for \p registers registers.
inline int64_t getSplitStepSize(int64_t registers) {
  return registers * matrixDepth * matrixColumns;
}

/// Elements of the packed weights: blocks of splitChannels output channels, and
/// if at most half of a block is left at the end, half a block.
int64_t getSplitWeightSize(const ConvolutionShape &shape);

/// Where element (kh, kw, c, n) of the filter is in the packed weights, which
/// are floats: [block][step][register][row][column], rows in the order of the
/// image's channels.
int64_t getSplitWeightIndex(const ConvolutionShape &shape, int64_t kh,
                            int64_t kw, int64_t c, int64_t n);

/// The parts of the floats \p even and \p odd: vectors of pairs of bfloat16
/// numbers.
std::array<llvm::Value *, numParts>
splitFloats(KernelBuilder &b, llvm::Value *even, llvm::Value *odd);

/// Whether \p shape is faster this way than with vectors of floats.
bool isSplitFaster(const ConvolutionShape &shape, DimsRef inputStrides,
                   const TargetDescription &target);

/// The convolution with packed weights. The rest is as for emitConvolution.
/// \p shape has one group.
void emitSplitConvolution(KernelBuilder &b, const ConvolutionShape &shape,
                          StridedOperand result, StridedOperand input,
                          llvm::Value *weights, llvm::Value *bias,
                          EpilogueCode epilogue);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_SPLITIMAGE_H
