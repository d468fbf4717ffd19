//===- Window.h - Sliding windows -------------------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_WINDOW_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_WINDOW_H

#include "Kernels/Convolution/Convolution.h"

namespace glowish {

/// Pixels first ... end-1 of a tile.
struct PixelRange {
  unsigned first, end;
  bool empty() const { return first >= end; }
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
};

/// Splits a row into tiles. Tiles at the borders stand alone, because the taps
/// that fall outside differ; those between them are one run.
std::vector<TileRun> splitRow(const ConvolutionShape &shape, unsigned pixels);

/// The rows of the kernel that lie inside the image for one output row:
/// low <= kh < high. Constants where no output row is cut off.
struct KernelRows {
  llvm::Value *low, *high;
  /// The input row of kernel row 0; may be negative.
  llvm::Value *firstRow;
};
KernelRows getKernelRows(KernelBuilder &b, const ConvolutionShape &shape,
                         llvm::Value *outRow);

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
