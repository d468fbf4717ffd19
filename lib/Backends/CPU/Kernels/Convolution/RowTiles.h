//===- RowTiles.h - Tiles over the rows under windows -----------*- C++ -*-===//
//
// The order in which kernels on WindowRows compute: strips of columns, rows,
// blocks of output channels, and tiles of pixels, whose sums stay in registers.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_ROWTILES_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_ROWTILES_H

#include "Kernels/Convolution/WindowRows.h"

namespace glowish {

/// Weights of 8 bits: [group][block of output channels][kernel row][segment],
/// and in a segment as the kernel likes it. A segment is what lies side by side
/// in a row: a kernel row, or with dilation one of its taps.
struct RowWeights {
  /// In blocks of \p channels output channels.
  RowWeights(const ConvolutionShape &shape, int64_t channels);

  /// Output channels of a block.
  int64_t channels;
  /// Of a group; the last may be filled up.
  int64_t blocks;
  int64_t kernelRows;
  /// Of a kernel row.
  int64_t segments;
  int64_t segmentBytes = 0;

  int64_t getBlockBytes() const { return kernelRows * segments * segmentBytes; }
  int64_t getBytes(const ConvolutionShape &shape) const {
    return shape.group * blocks * getBlockBytes();
  }
};

/// Emits a convolution by tiles of \p pixels.
class RowTiles {
public:
  virtual ~RowTiles() = default;

  void emit();

protected:
  /// Output channels that are computed together, the last of a group perhaps
  /// fewer than the weights are packed for.
  struct Block {
    llvm::Value *channel; // the first, of all groups
    llvm::Value *weights;
    int64_t channels;
  };
  /// The output columns of one filling of the rows.
  struct Strip {
    llvm::Value *batch, *group, *row, *column, *count;
  };

  /// \p columns: of a strip. \p layout: of the rows. \p weights outlives it.
  RowTiles(KernelBuilder &b, const ConvolutionShape &shape, int64_t pixels,
           int64_t columns, ConvolutionOperands operands,
           const RowWeights &weights, const RowsLayout &layout);

  virtual WindowRows &getRows() = 0;
  /// \p own pixels from number \p first of the strip on.
  virtual void emitTile(const Strip &strip, const Block &block,
                        llvm::Value *first, int64_t own) = 0;
  /// The sums of a tile, pixel by pixel, plus those over a segment. \p pixel:
  /// the elements of the first pixel.
  virtual Values addSegment(llvm::Value *pixel, llvm::Value *segmentWeights,
                            int64_t own, Values sums) = 0;
  /// \p sums of a tile plus those over all segments; \p isShort: without a
  /// loop over the kernel's rows.
  Values addRows(const Block &block, llvm::Value *first, int64_t own,
                 bool isShort, Values sums);

  KernelBuilder &b;
  ConvolutionShape shape;
  int64_t pixels, columns;
  ConvolutionOperands operands;
  RowsLayout layout;

private:
  /// Returns how many columns of each row a run needs; null for all.
  llvm::Value *getNeededColumns() const;
  llvm::Value *getEndColumn();
  void emitStrip(llvm::Value *batch, llvm::Value *group, llvm::Value *column);
  void emitBlocks(const Strip &strip);
  void emitTiles(const Strip &strip, const Block &block);

  const RowWeights &weights;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_ROWTILES_H
