//===- Convolution.h - Direct convolutions ----------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_CONVOLUTION_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_CONVOLUTION_H

#include "Kernels/RowPredicate.h"
#include <array>
#include <cmath>

namespace glowish {

/// A convolution, or a matmul as one over a 1 x rows image.
struct ConvolutionShape {
  int64_t batch = 1, height = 1, width = 1, channels = 1; // input
  int64_t outHeight = 1, outWidth = 1, outChannels = 1;
  int64_t kernelH = 1, kernelW = 1, group = 1;
  int64_t strideH = 1, strideW = 1, padTop = 0, padLeft = 0;
  int64_t dilationH = 1, dilationW = 1;

  /// The convolution from images \p in to \p out, both [N, H, W, C].
  static ConvolutionShape get(DimsRef in, DimsRef out,
                              llvm::ArrayRef<int64_t> kernels,
                              llvm::ArrayRef<int64_t> strides,
                              llvm::ArrayRef<int64_t> pads,
                              llvm::ArrayRef<int64_t> dilations, int64_t group);
  /// The matrix product of [\p rows, \p depth] and [\p depth, \p columns].
  static ConvolutionShape forMatMul(int64_t rows, int64_t depth,
                                    int64_t columns) {
    return {.width = rows,
            .channels = depth,
            .outWidth = rows,
            .outChannels = columns};
  }

  int64_t getGroupChannels() const { return channels / group; }
  int64_t getGroupOutChannels() const { return outChannels / group; }
  /// Elements of the filter that an element of the result takes.
  int64_t getTaps() const { return kernelH * kernelW * getGroupChannels(); }
};

/// One filter a channel.
inline bool isDepthwise(const ConvolutionShape &shape) {
  return shape.group == shape.channels && shape.group == shape.outChannels &&
         shape.group > 1;
}

/// Multiplications and additions.
int64_t getNumOperations(const ConvolutionShape &shape);

/// Collapses the rows, and then the images, of a convolution whose output
/// pixels have one input pixel each to one long row, as far as the strides of
/// \p operands, images over its pixels, allow it. Returns whether one row is
/// left.
bool collapseRows(ConvolutionShape &shape,
                  llvm::ArrayRef<StridedOperand *> operands);

/// How much of the images of a result a run needs (LoopBound).
struct NeededImages {
  /// How many images, and how many rows and columns of each; null for all.
  llvm::Value *images = nullptr, *rows = nullptr, *columns = nullptr;
};

/// Returns 1, \p most, and a number between them: a run may state any.
inline std::array<int64_t, 3> spreadCounts(int64_t most) {
  return {1, int64_t(std::lround(std::sqrt(double(most)))), most};
}

/// Bands of some rows of the images of a result, counted image by image, of
/// which a run needs those that have a row that is needed.
struct ImageBands {
  /// Makes bands of \p bandRows rows; the last of an image may have fewer.
  ImageBands(KernelBuilder &b, const ConvolutionShape &shape,
             NeededImages needed, int64_t bandRows = 1);

  /// The end of the rows of an image that are needed, and its bands of them.
  llvm::Value *endRow, *perImage;
  /// The bands of all images that are needed; null for all.
  llvm::Value *count = nullptr;
};

/// The operands of a convolution's kernel.
struct ConvolutionOperands {
  /// NHWC with any strides. Unless the algorithm takes others, the channels of
  /// the input are contiguous.
  StridedOperand result, input;
  /// As the algorithm packs them.
  llvm::Value *weights = nullptr;
  ElemKind weightKind = ElemKind::Float;
  /// For algorithms that have them, else null: float [OC], factors of the sums.
  llvm::Value *scales = nullptr;
  /// May be null.
  llvm::Value *bias = nullptr;
  /// Whether the bias differs by the taps that lie in the image: it is
  /// [row ranges, column ranges, OC] of TapRanges.
  bool isBiasOfTaps = false;
  /// The address of one of the input's kind, for algorithms that take it; null
  /// for 0.
  llvm::Value *zeroPoint = nullptr;
  EpilogueCode epilogue;
  NeededImages needed = {};
  /// How many columns of a result of one row, or of one that is collapsed to
  /// one, are needed; null for all.
  llvm::Value *neededColumns = nullptr;
  /// How many output channels are needed, which a kernel may heed, and of a
  /// matrix product how many input channels count; null for all.
  llvm::Value *neededChannels = nullptr, *neededDepth = nullptr;
  /// The predicate of the rows of a matrix product, which are the columns of
  /// its image, or of leading dimensions of the image.
  RowPredicate predicate = {};
};

/// Collapses the rows of a convolution whose output pixels have one input pixel
/// each, as far as the strides of \p operands, and what is needed, allow it.
/// Returns whether one row is left, of which columns are needed.
bool collapsePointwise(ConvolutionShape &shape, ConvolutionOperands &operands);

//===- Register tiles -----------------------------------------------------===//

/// The register tile of convolutions and matrix products: pixels (rows) by
/// vectors of output channels (columns).
struct Tile {
  unsigned pixels, vectors;
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

/// How many of the \p units of output (rows, or tiles of a single row) go
/// through all \p blocks of output channels before the next ones do. Where a
/// run may need one of several images, \p images is their number, else 1.
int64_t chooseChunk(const ConvolutionShape &shape, ElemKind kind, int64_t units,
                    int64_t blocks, int64_t images,
                    const TargetDescription &target);

//===- Layouts of weights -------------------------------------------------===//

/// How the weights of a convolution lie in memory. Element (kh, kw, c, n) of
/// group g is at g * groupStride + (n / block) * blockStride + ((kh * kernelW +
/// kw) * channels + c) * rowStride + n % block.
struct WeightLayout {
  int64_t rowStride, blockStride, groupStride;
  /// Whether a block is filled up with zeros to whole vectors.
  bool isPadded;
};

/// Blocks of \p block output channels, padded with zeros.
WeightLayout getPackedLayout(const ConvolutionShape &shape, unsigned block);
/// The layout of plain rows: [group][kh][kw][channel][output channel].
WeightLayout getPlainLayout(const ConvolutionShape &shape, unsigned block);
/// Elements of packed weights.
int64_t getPackedSize(const ConvolutionShape &shape, unsigned block);

//===- The kernel ---------------------------------------------------------===//

/// Appends the code of the convolution with weights in \p layout. \p dot: not
/// None where elements are several small integers each (MicroKernel).
void emitConvolution(KernelBuilder &b, ConvolutionShape shape, Tile tile,
                     const WeightLayout &layout, ConvolutionOperands operands,
                     DotInstr dot = DotInstr::None);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_CONVOLUTION_H
