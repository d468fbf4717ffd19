//===- Kernels.h - Emitters of kernels --------------------------*- C++ -*-===//
//
// Each function appends the code of one kernel, specialised to its shapes.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_KERNELS_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_KERNELS_H

#include "Instrs.h"
#include "StridedOperand.h"

namespace glowish {

/// What happens to an anchor's results before they are stored.
struct EpilogueCode {
  const ScalarProgram *program;
  std::vector<StridedOperand> fused;
};

/// \p program at every index of \p shape; the empty program copies input 0.
void emitLoop(KernelBuilder &b, DimsRef shape, StridedOperand result,
              std::vector<StridedOperand> inputs, const ScalarProgram &program);
void emitFill(KernelBuilder &b, DimsRef shape, StridedOperand result,
              double value);

/// The register tile of convolutions and matrix products: pixels (rows) by
/// vectors of output channels (columns).
struct Tile {
  unsigned pixels, vectors;
};

/// A convolution, or a matrix product as one over a 1 x rows image.
struct ConvolutionShape {
  int64_t batch, height, width, channels; // input
  int64_t outHeight, outWidth, outChannels;
  int64_t kernelH, kernelW, group;
  int64_t strideH, strideW, padTop, padLeft, dilationH, dilationW;

  int64_t getGroupChannels() const { return channels / group; }
  int64_t getGroupOutChannels() const { return outChannels / group; }
};

/// One filter a channel.
inline bool isDepthwise(const ConvolutionShape &shape) {
  return shape.group == shape.channels && shape.group == shape.outChannels &&
         shape.group > 1;
}

/// How the weights of a convolution lie in memory. Element (kh, kw, c, n) of
/// group g is at g * groupStride + (n / block) * blockStride + ((kh * kernelW +
/// kw) * channels + c) * rowStride + n % block.
struct WeightLayout {
  int64_t rowStride, blockStride, groupStride;
  /// Whether a block is filled up with zeros to whole vectors.
  bool isPadded;
};

/// A tile and the estimated time of emitConvolution with it on one core, if
/// the weights come in time.
struct TileChoice {
  Tile tile;
  double cycles;
};

/// Tiles for \p shape on \p target, one for each number of vectors, the fastest
/// first. \p block, if not 0: the output channels of a block of packed weights,
/// which whole tiles fill.
std::vector<TileChoice> rankTiles(const ConvolutionShape &shape, ElemKind kind,
                                  const TargetDescription &target,
                                  unsigned block = 0);
inline Tile chooseTile(const ConvolutionShape &shape, ElemKind kind,
                       const TargetDescription &target, unsigned block = 0) {
  return rankTiles(shape, kind, target, block).front().tile;
}

/// The pixels of a tile of \p vectors.
unsigned chooseTilePixels(const ConvolutionShape &shape, unsigned vectors,
                          const TargetDescription &target);

/// Makes one long row of the rows, and then of the images, of a convolution
/// whose output pixels have one input pixel each, as far as the strides of
/// \p operands, images over its pixels, allow it. Returns whether one row is
/// left.
bool joinRows(ConvolutionShape &shape,
              llvm::ArrayRef<StridedOperand *> operands);

/// Multiplications and additions.
int64_t getNumOperations(const ConvolutionShape &shape);

/// How many of the \p units of output (rows, or tiles of a single row) go
/// through all \p blocks of output channels before the next ones do.
int64_t chooseChunk(const ConvolutionShape &shape, ElemKind kind, int64_t units,
                    int64_t blocks, const TargetDescription &target);

/// The layout that packWeights makes for a tile.
WeightLayout getPackedLayout(const ConvolutionShape &shape, unsigned block);
/// The layout of plain rows: [group][kh][kw][channel][output channel].
WeightLayout getPlainLayout(const ConvolutionShape &shape, unsigned block);
/// Elements of packed weights.
int64_t getPackedSize(const ConvolutionShape &shape, unsigned block);

/// \p input and the result are NHWC with any strides but that channels lie
/// side by side in the input. \p bias may have a null base.
void emitConvolution(KernelBuilder &b, const ConvolutionShape &shape, Tile tile,
                     const WeightLayout &layout, StridedOperand result,
                     StridedOperand input, llvm::Value *weights,
                     llvm::Value *bias, EpilogueCode epilogue);

/// Depthwise convolution: one filter a channel, packed as [kh][kw][channel].
void emitDepthwise(KernelBuilder &b, const ConvolutionShape &shape,
                   StridedOperand result, StridedOperand input,
                   llvm::Value *weights, llvm::Value *bias,
                   EpilogueCode epilogue);

/// Whether a task's statistics fit on the stack where a group has \p
/// groupChannels channels.
bool fitsGroupNormalization(int64_t groupChannels, ElemKind kind,
                            const TargetDescription &target);
/// The dimension of images of \p shape whose parts CPUGroupStatistics computes
/// statistics of: the longest one between image and channels, or the first of
/// these.
unsigned getPartDimension(DimsRef shape);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_KERNELS_H
