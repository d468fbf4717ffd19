//===- SplitPlan.cpp - Tasks and chunks of split convolutions -------------===//

#include "SplitPlan.h"

using namespace glowish;

/// Steps whose split weights stay in the second cache beside the pixels.
static constexpr int64_t maxChunkSteps = 18;

/// Into how many equal chunks of at most \p most, if possible, \p count is cut.
static int64_t countChunks(int64_t count, int64_t most) {
  for (int64_t chunks = (count + most - 1) / most; chunks < count; ++chunks)
    if (count % chunks == 0)
      return chunks;
  return count;
}

SplitPlan::SplitPlan(const ConvolutionShape &shape, const SplitImage &image,
                     const TargetDescription &target) {
  isFlat = shape.kernelH == 1 && shape.kernelW == 1;
  images = isFlat ? 1 : image.batch;
  pixelsPerImage = isFlat
                       ? image.batch * image.rows * image.columns
                       : (shape.outHeight - 1) * image.columns + shape.outWidth;
  tiles = (pixelsPerImage + splitPixels - 1) / splitPixels;
  blocks = (shape.outChannels + splitChannels - 1) / splitChannels;

  numTaps = shape.kernelH * shape.kernelW;
  chunksPerGroup = countChunks(numTaps, maxChunkSteps);
  tapsPerChunk = numTaps / chunksPerGroup;
  groupsPerChunk = 1;
  if (chunksPerGroup == 1) {
    int64_t most = std::max<int64_t>(1, maxChunkSteps / numTaps);
    groupsPerChunk = image.groups / countChunks(image.groups, most);
  }
  numChunks = image.groups / groupsPerChunk * chunksPerGroup;

  tilesPerTask = chooseChunk(shape, ElemKind::Float, tiles, blocks, target);
  // Splitting the weights again for each task must not show.
  tilesPerTask = std::max(tilesPerTask, std::min<int64_t>(tiles, 16));
  // Of pixels and weights, threads share out what is larger, so that less goes
  // from core to core.
  int64_t threads = target.numThreads;
  if (threads > 1 && tiles >= 2 * threads &&
      numParts * int64_t(sizeof(uint16_t)) * image.getPart() >
          4 * getSplitWeightSize(shape))
    tilesPerTask = std::min(tilesPerTask, (tiles + threads - 1) / threads);
  // Pixels that don't stay in the cache for the next block are better used by
  // several blocks at once, chunk by chunk.
  int64_t tileBytes =
      splitPixels * image.groups * matrixDepth * numParts * sizeof(uint16_t);
  int64_t cacheBytes = target.cacheBytes;
  blocksPerTask = 1;
  if (numChunks > 1 && tilesPerTask * tileBytes > cacheBytes / 3) {
    // 128 tiles' sums take half a megabyte.
    tilesPerTask = std::min<int64_t>(tilesPerTask, 32);
    blocksPerTask = std::clamp<int64_t>(128 / tilesPerTask, 1,
                                        std::min<int64_t>(blocks, 8));
    // As many tasks for each thread.
    if (images * getRanges() < 4 * threads) {
      int64_t groups = (getGroups() + threads - 1) / threads * threads;
      groups = std::min(blocks, groups);
      blocksPerTask = (blocks + groups - 1) / groups;
    }
  }
  // The tiles of a task share the work of splitting the next chunk; many of
  // them don't notice it anyway.
  constexpr int64_t rows = 2 * matrixRows;
  int64_t fewestTiles = (tiles - 1) % tilesPerTask + 1;
  if (images == 1 && tilesPerTask <= rows)
    rowsPerTile = (rows + fewestTiles - 1) / fewestTiles;
}
