//===- Window.h - Sliding windows -------------------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_WINDOW_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_WINDOW_H

#include "Kernels/Convolution/Convolution.h"

namespace glowish {

/// Pixels first ... end-1 of a tile.
struct PixelRange {
  unsigned first, end;
  bool empty() const { return first >= end; }
  bool isWhole(unsigned pixels) const { return first == 0 && end == pixels; }
};

/// A run of tiles of output pixels in one row: `count` tiles of `pixels`
/// pixels from column `column` on, all with the same taps inside the image.
struct TileRun {
  int64_t column;
  unsigned pixels;
  int64_t count;
  /// For each tap of a kernel row, the pixels of the tile that it applies to.
  std::vector<PixelRange> taps;

  /// Whether every tap applies to every pixel.
  bool isInterior() const;
  /// Whether every tap applies to every pixel or to none.
  bool isUniform() const;
};

/// Splits a row into tiles. Tiles with pixels that have other taps than the
/// rest stand alone; those between them, of the image or of its padding, are
/// runs.
std::vector<TileRun> splitRow(const ConvolutionShape &shape, unsigned pixels);

/// Returns the end of the columns of \p run, or of the first \p needed columns
/// of the row if that is less; null for all.
llvm::Value *getEndColumn(KernelBuilder &b, const TileRun &run,
                          llvm::Value *needed);

/// The rows of the kernel that lie inside the image for one output row:
/// low <= kh < high. Constants where no output row is cut off.
struct KernelRows {
  llvm::Value *low, *high;
  /// The input row of kernel row 0; may be negative.
  llvm::Value *firstRow;
};
KernelRows getKernelRows(KernelBuilder &b, const ConvolutionShape &shape,
                         llvm::Value *outRow);

/// The taps of output rows and columns that lie inside the image, as far as
/// they differ: there are few ranges of them, whatever the image's size.
class TapRanges {
public:
  /// One range, of all taps.
  TapRanges() = default;
  explicit TapRanges(const ConvolutionShape &shape);

  /// Taps first ... end-1 of a side of the kernel.
  struct Range {
    int64_t first = 0, end = 0;
    bool operator==(const Range &other) const = default;
  };
  /// At least one each; number 0 is that of all taps.
  std::vector<Range> rows = std::vector<Range>(1);
  std::vector<Range> columns = std::vector<Range>(1);

  /// The number of the range of output row \p row.
  llvm::Value *getRow(KernelBuilder &b, llvm::Value *row) const;
  /// The number of a pair of ranges, number \p row and that of the columns of
  /// pixel \p pixel in the tiles \p run: row by row.
  llvm::Value *getPair(KernelBuilder &b, llvm::Value *row, const TileRun &run,
                       unsigned pixel) const;
  /// The same of the output pixel in row \p row and column \p column.
  llvm::Value *getPairAt(KernelBuilder &b, llvm::Value *row,
                         llvm::Value *column) const;

private:
  /// By output row and column.
  std::vector<int64_t> rowNumbers, columnNumbers;
};

/// The windows of a pooling from images \p in to \p out, or of its gradient, as
/// a depthwise convolution.
template <typename Instr>
ConvolutionShape getWindowShape(const Instr &instr, DimsRef in, DimsRef out) {
  return ConvolutionShape::get(in, {out[0], out[1], out[2], in[3]},
                               instr.getKernels(), instr.getStrides(),
                               instr.getPads(), instr.getDilations(),
                               /*group=*/in[3]);
}

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_WINDOW_H
