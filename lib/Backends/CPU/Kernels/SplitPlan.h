//===- SplitPlan.h - Tasks and chunks of split convolutions ---*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_SPLITPLAN_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_SPLITPLAN_H

#include "SplitImage.h"

namespace glowish {

/// In what pieces a split convolution is computed. A tile is splitPixels
/// pixels, a block splitChannels output channels.
struct SplitPlan {
  SplitPlan(const ConvolutionShape &shape, const SplitImage &image,
            const TargetDescription &target);

  /// Whether all images are one long row of pixels without padding.
  bool isFlat = false;
  int64_t images = 0, pixelsPerImage = 0, tiles = 0, blocks = 0, numTaps = 0;
  /// What a task computes.
  int64_t tilesPerTask = 0, blocksPerTask = 0;
  /// Of tiles, and of blocks: how many tasks there are for an image.
  int64_t getRanges() const {
    return (tiles + tilesPerTask - 1) / tilesPerTask;
  }
  int64_t getGroups() const {
    return (blocks + blocksPerTask - 1) / blocksPerTask;
  }
  /// A chunk of the reduction: whole groups of channels, or taps of one group.
  int64_t groupsPerChunk = 0, tapsPerChunk = 0, chunksPerGroup = 0,
          numChunks = 0;
  /// Rows of each step of the next chunk's weights that a tile splits; 0: none.
  int64_t rowsPerTile = 0;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_SPLITPLAN_H
