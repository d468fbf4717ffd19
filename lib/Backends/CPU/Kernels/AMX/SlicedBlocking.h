//===- SlicedBlocking.h - Blocking of sliced convolutions -------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_SLICEDBLOCKING_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_SLICEDBLOCKING_H

#include "Kernels/AMX/SlicedImage.h"

namespace glowish {

/// The blocking of a sliced convolution with the least estimated time. A tile
/// is tilePixels pixels, a block is tileChannels output channels. A task packs
/// its pixels as slices, a chunk of the reduction at a time, into a panel:
/// [slice][sub-image][group][pixel][channel of the group], or
/// [slice][group][tap][pixel][channel of the group] where it is gathered.
struct SlicedBlocking {
  /// \p isInputCollapsed: the pixels of the input have a uniform stride.
  SlicedBlocking(const ConvolutionShape &shape, bool isInputCollapsed,
                 const TargetDescription &target);

  SlicedImage image;
  /// Whether the pixels of all images are collapsed into one row without
  /// padding, and whether the input has a uniform stride for that. If
  /// collapsed, each pixel has a scale of its own; else the pixels of a panel
  /// share one.
  bool isCollapsed = false, isInputCollapsed = false;
  /// Whether a panel has, for each output pixel, the input pixels under all
  /// taps (im2col): there is more to slice, but nothing is computed between
  /// rows, and small images share the weights. Implies isCollapsed.
  bool isGathered = false;
  int64_t images = 0, pixelsPerImage = 0, tiles = 0, blocks = 0, numTaps = 0;
  /// The size of a task.
  int64_t tilesPerTask = 0, blocksPerTask = 0;
  /// The chunks of the reduction are whole groups of channels.
  int64_t groupsPerChunk = 0, numChunks = 0;
  /// The loop order: whether the loop over tiles is outside the one over
  /// blocks.
  bool isTileOutside = false;
  /// The pixels in the panel of each group of a sub-image (or of a tap), with
  /// some that are read and whose results are dropped; and the rows that they
  /// come from, unless packsTiles().
  int64_t panelPixels = 0, panelRows = 0;
  /// The estimated time; infinite if every blocking takes too much stack.
  double cycles = 0;

  /// The numbers of ranges of tiles, and of groups of blocks, of an image: a
  /// task computes one of each.
  int64_t getRanges() const {
    return (tiles + tilesPerTask - 1) / tilesPerTask;
  }
  int64_t getGroups() const {
    return (blocks + blocksPerTask - 1) / blocksPerTask;
  }
  /// The rows of all images if they are collapsed, else of one.
  int64_t getRows() const {
    return (isCollapsed ? image.batch : 1) * image.rows;
  }

  /// Whether a panel has just the pixels of the tiles of the task.
  bool packsTiles() const { return isInputCollapsed || isGathered; }
  /// The consecutive planes of pixels of a group of channels in the panel.
  int64_t getPlanesPerGroup() const { return isGathered ? numTaps : 1; }
  /// The bytes of a slice of the panel.
  int64_t getSliceBytes() const {
    return image.phasesH * image.phasesW * groupsPerChunk *
           getPlanesPerGroup() * panelPixels * matrixDepth;
  }
  static constexpr int64_t sumBytes = numSlices * tilePixels * tileChannels * 4;
  /// The tiles whose sums are kept in memory, for the next chunk or, of the
  /// last tile, for the epilogue.
  int64_t getNumSums() const {
    return numChunks == 1 ? 2 : tilesPerTask * blocksPerTask;
  }
  /// The stack memory of a task.
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

/// Whether the convolution is pointwise and the pixels of an input with
/// \p strides have a uniform stride across rows and images.
bool isInputCollapsed(const ConvolutionShape &shape, DimsRef strides);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_SLICEDBLOCKING_H
