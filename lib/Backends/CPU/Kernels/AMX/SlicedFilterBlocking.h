//===- SlicedFilterBlocking.h - Blocking of filter gradients ----*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_SLICEDFILTERBLOCKING_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_SLICEDFILTERBLOCKING_H

#include "Kernels/AMX/AmxTile.h"

namespace glowish {

/// The blocking of emitSlicedFilterGradient with the least estimated time. The
/// reduction goes over output pixels, in steps of 16 positions in a quad, that
/// is, a group of four images. A chunk is some rows of some quads. It doesn't
/// depend on the number of threads, because the sums of chunks are added as
/// floats, which rounds.
struct SlicedFilterBlocking {
  SlicedFilterBlocking(const ConvolutionShape &shape,
                       const TargetDescription &target);

  static constexpr int64_t imagesPerQuad = 4;
  /// Bytes of a step of the gradient, transposed.
  static constexpr int64_t gradientStepBytes =
      numSlices * matrixRows * matrixDepth;

  int64_t taps = 0, quads = 0;
  /// Blocks of matrixRows output channels, and of matrixColumns input channels.
  int64_t outBlocks = 0, inBlocks = 0;
  /// The input is packed as sub-images: for strides (sh, sw) the rows and
  /// columns with the same remainders form one. If areTapsApart, each column of
  /// the kernel has sub-images of its own, which are as wide as the result, so
  /// that no positions between its rows are computed.
  bool areTapsApart = false;
  int64_t planesH = 0, planesW = 0;
  /// The size of a chunk: quads, and rows of the result.
  int64_t quadsPerChunk = 0, rowsPerChunk = 0;
  int64_t bands = 0; // of rows
  /// The distance of rows in positions, and the rows of a sub-image in a chunk.
  int64_t columns = 0, inRows = 0;
  /// The steps of a quad, and the positions of one of its sub-images in the
  /// panel, with some that tiles read and multiply with 0.
  int64_t steps = 0, panelPlaces = 0;
  /// The estimated time on one thread; infinite where it does not apply.
  double cycles = 0;

  int64_t getNumPlanes() const { return planesH * planesW; }
  /// The bytes of packed operands: of a slice of a block of the input, of a
  /// slice of a block and quad of the gradient before it is transposed, and of
  /// all blocks, steps and slices of the gradient.
  int64_t getInputSliceBytes() const {
    return getNumPlanes() * quadsPerChunk * panelPlaces * matrixDepth;
  }
  int64_t getRowsSliceBytes() const {
    return std::max(steps * matrixRows, rowsPerChunk * columns) * matrixDepth;
  }
  int64_t getGradientBytes() const {
    return outBlocks * quadsPerChunk * steps * gradientStepBytes;
  }
  /// The stack memory of a task.
  int64_t getScratchBytes() const {
    return numSlices * (getInputSliceBytes() + getRowsSliceBytes()) +
           getGradientBytes() + (outBlocks + 3) * 64 + 2 * AmxTile::sumBytes +
           (1 << 10);
  }

private:
  void setChunk(const ConvolutionShape &shape, int64_t numQuads, int64_t rows);
  double estimate(const TargetDescription &target) const;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_SLICEDFILTERBLOCKING_H
