//===- Winograd.h - Convolution with fewer multiplications ------*- C++ -*-===//
//
// The output is cut into tiles of mh x mw pixels. A tile's inputs are
// transformed into ph * pw points, at each of which the convolution is a
// matmul, tiles by channels times channels by output channels; the results are
// transformed back. Filters are transformed at compile time.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_WINOGRAD_WINOGRAD_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_WINOGRAD_WINOGRAD_H

#include "Kernels/Convolution/Convolution.h"
#include "Kernels/Winograd/WinogradTransform.h"

namespace glowish {

/// The outputs of a tile, vertically and horizontally.
struct WinogradSize {
  int64_t height, width;
};

/// The tile of F(\p limit) for the kernel of \p shape: \p limit outputs of 3
/// taps, limit - 2 of 5, one of 1. Null where it does not apply: other kernels,
/// strides, dilations, groups.
std::optional<WinogradSize> getWinogradSize(const ConvolutionShape &shape,
                                            int64_t limit);

/// In what pieces a convolution is computed, with the least estimated time. A
/// task is a range of tiles and a group of blocks of output channels.
struct WinogradBlocking {
  /// \p block: output channels that are packed together, or 0 for as many as
  /// are best. \p isBounded: whether a run may need fewer images, so that few
  /// of them are to take little time, too.
  WinogradBlocking(const ConvolutionShape &shape, WinogradSize size,
                   const TargetDescription &target, unsigned block = 0,
                   bool isBounded = false);

  WinogradTransform vertical, horizontal;
  int64_t tilesH, tilesW, tiles; // of an image, and of all
  /// Of tiles of the output by vectors of output channels, in registers.
  Tile registers = {1, 1};
  int64_t blocks = 0, tilesPerTask = 0, blocksPerTask = 0;
  /// The estimated time; infinite if a single tile takes too much of the stack.
  double cycles = 0;

  /// Returns the part of the cycles that stands for the size of the filters.
  double getFilterPrice(const ConvolutionShape &shape) const;

  int64_t getPoints() const {
    return int64_t(vertical.getPoints()) * horizontal.getPoints();
  }
  /// Elements from one point to the next of a buffer with \p width elements a
  /// tile: an odd number of cache lines, or all points would compete for the
  /// same places in the first cache.
  int64_t getPointStride(int64_t width) const {
    return ((tilesPerTask * width + 15) / 16 | 1) * 16;
  }
  /// What a task keeps of its tiles: their inputs with \p channels, and the
  /// results of a block of output channels, in vectors of \p lanes.
  int64_t getScratchBytes(int64_t channels, int64_t lanes) const {
    return 4 * getPoints() *
           (getPointStride(channels) +
            getPointStride(registers.vectors * lanes));
  }
  int64_t getRanges() const {
    return (tiles + tilesPerTask - 1) / tilesPerTask;
  }
  int64_t getGroups() const {
    return (blocks + blocksPerTask - 1) / blocksPerTask;
  }

private:
  double getFilterBytes(const ConvolutionShape &shape) const;
  double estimate(const ConvolutionShape &shape,
                  const TargetDescription &target) const;
  double estimateOfAny(const ConvolutionShape &shape,
                       const TargetDescription &target) const;
};

/// Writes filters at the points to \p packed, which is zeros:
/// [block][point][channel][output channel of the block]. \p weights: element
/// (kh, kw, c, n) lies at \p strides.
void packWinograd(const ConvolutionShape &shape, WinogradSize size,
                  unsigned block, const float *weights, DimsRef strides,
                  float *packed);
/// Returns how many elements packWinograd() writes, the last block filled up.
int64_t countPackedWinograd(const ConvolutionShape &shape, WinogradSize size,
                            unsigned block);

/// Appends the code of the convolution with weights of packWinograd for \p
/// block.
void emitWinograd(KernelBuilder &b, const ConvolutionShape &shape,
                  WinogradSize size, unsigned block,
                  ConvolutionOperands operands);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_WINOGRAD_WINOGRAD_H
