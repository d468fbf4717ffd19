//===- SlicedBlocking.h - Tasks and chunks of sliced convolutions -----*- C++
//-*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_SLICEDBLOCKING_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_SLICEDBLOCKING_H

#include "Kernels/AMX/SlicedImage.h"

namespace glowish {

/// In what pieces a sliced convolution is computed, with the least estimated
/// time. A tile is tilePixels pixels, a block tileChannels output channels.
/// A task slices the pixels that it uses, a chunk of the reduction at a time,
/// into a panel: [slice][sub-image][group][pixel][channel of the group], or
/// [slice][group][tap][pixel][channel of the group] where it is gathered.
struct SlicedBlocking {
  /// \p isInputCollapsed: all pixels of the input lie at one distance.
  SlicedBlocking(const ConvolutionShape &shape, bool isInputCollapsed,
                 const TargetDescription &target);

  SlicedImage image;
  /// Whether all images are one long row of pixels without padding, and whether
  /// they are so in the input. Then each pixel has a scale of its own; else all
  /// pixels of a panel share one.
  bool isCollapsed = false, isInputCollapsed = false;
  /// Whether a panel has, for each output pixel, the input pixels under all
  /// taps: more to slice, but nothing is computed between rows, and images of
  /// few pixels share the weights. Such a plan is collapsed.
  bool isGathered = false;
  int64_t images = 0, pixelsPerImage = 0, tiles = 0, blocks = 0, numTaps = 0;
  /// What a task computes.
  int64_t tilesPerTask = 0, blocksPerTask = 0;
  /// The chunks of the reduction are whole groups of channels.
  int64_t groupsPerChunk = 0, numChunks = 0;
  /// Whether a tile goes through all blocks before the next one does, or a
  /// block through all tiles.
  bool isTileOutside = false;
  /// Pixels of a group of a sub-image (of a tap) in the panel, some of which
  /// tiles read and ignore; and the rows that they come from, unless
  /// packsTiles.
  int64_t panelPixels = 0, panelRows = 0;
  /// The estimated time; infinite if every way takes too much of the
  /// stack.
  double cycles = 0;

  /// Of tiles, and of blocks: how many tasks there are for an image.
  int64_t getRanges() const {
    return (tiles + tilesPerTask - 1) / tilesPerTask;
  }
  int64_t getGroups() const {
    return (blocks + blocksPerTask - 1) / blocksPerTask;
  }
  /// Rows of all images, or of one where they are computed one by one.
  int64_t getRows() const {
    return (isCollapsed ? image.batch : 1) * image.rows;
  }

  /// Whether a panel has the pixels of the task's tiles and no others.
  bool packsTiles() const { return isInputCollapsed || isGathered; }
  /// The planes of pixels that a group of channels has in the panel side by
  /// side.
  int64_t getPlanesPerGroup() const { return isGathered ? numTaps : 1; }
  /// Bytes of a slice of the panel, and of a tile's sums.
  int64_t getSliceBytes() const {
    return image.phasesH * image.phasesW * groupsPerChunk *
           getPlanesPerGroup() * panelPixels * matrixDepth;
  }
  static constexpr int64_t sumBytes = numSlices * tilePixels * tileChannels * 4;
  /// The sums of tiles that wait for the next chunk or, of the last tile, for
  /// their way through the epilogue.
  int64_t getNumSums() const {
    return numChunks == 1 ? 2 : tilesPerTask * blocksPerTask;
  }
  /// What a task takes of the stack.
  int64_t getScratchBytes() const {
    return numSlices * getSliceBytes() + getNumSums() * sumBytes +
           8 * panelPixels;
  }

private:
  void gather(const ConvolutionShape &shape);
  void choose(const ConvolutionShape &shape, const TargetDescription &target);
  void setTask(const ConvolutionShape &shape, int64_t ranges, int64_t groups);
  double estimate(const ConvolutionShape &shape,
                  const TargetDescription &target) const;
};

/// Whether the pixels of an input with \p strides are those of a convolution's
/// result, one by one, at one distance from each other.
bool isInputCollapsed(const ConvolutionShape &shape, DimsRef strides);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_SLICEDBLOCKING_H
