//===- SlicedFilterBlocking.h - Chunks of sliced filter gradients -----*- C++
//-*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_SLICEDFILTERBLOCKING_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_SLICEDFILTERBLOCKING_H

#include "Kernels/AMX/AmxTile.h"

namespace glowish {

/// In what pieces emitSlicedFilterGradient computes the gradient of a filter,
/// with the least estimated time. The reduction goes over output pixels, in
/// steps of 16 places in four images. A chunk is some rows of some groups of
/// four images. It doesn't depend on the number of threads, as the chunks'
/// sums are added as floats.
struct SlicedFilterBlocking {
  SlicedFilterBlocking(const ConvolutionShape &shape,
                       const TargetDescription &target);

  static constexpr int64_t imagesPerQuad = 4;
  /// Of a step of the gradient, transposed.
  static constexpr int64_t gradientStepBytes =
      numSlices * matrixRows * matrixDepth;

  int64_t taps = 0, quads = 0;
  /// Of matrixRows output channels, and of matrixColumns input channels.
  int64_t outBlocks = 0, inBlocks = 0;
  /// The input is packed as sub-images: for strides (sh, sw) the rows and
  /// columns with the same remainders form one. Where areTapsApart, each column
  /// of the kernel has sub-images of its own, which are as wide as the result,
  /// so that no places between its rows are computed.
  bool areTapsApart = false;
  int64_t planesH = 0, planesW = 0;
  /// What a chunk has: groups of four images, and rows of the result.
  int64_t quadsPerChunk = 0, rowsPerChunk = 0;
  int64_t bands = 0; // of rows
  /// Places from one row to the next, and the sub-images' rows of a chunk.
  int64_t columns = 0, inRows = 0;
  /// Steps of a group of images, and places of a sub-image of one, some of
  /// which tiles read and multiply with 0.
  int64_t steps = 0, panelPlaces = 0;
  /// The estimated time on one thread; infinite where it does not apply.
  double cycles = 0;

  int64_t getNumPlanes() const { return planesH * planesW; }
  /// Bytes of a slice of a panel: of the input for a block of channels, of the
  /// gradient for one and one group of images before it is transposed, and of
  /// all steps of the gradient with all slices.
  int64_t getInputSliceBytes() const {
    return getNumPlanes() * quadsPerChunk * panelPlaces * matrixDepth;
  }
  int64_t getRowsSliceBytes() const {
    return std::max(steps * matrixRows, rowsPerChunk * columns) * matrixDepth;
  }
  int64_t getGradientBytes() const {
    return outBlocks * quadsPerChunk * steps * gradientStepBytes;
  }
  /// What a task takes of the stack.
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
