//===- SplitPlan.cpp - Tasks and chunks of split convolutions -------------===//

#include "SplitPlan.h"
#include <cmath>
#include <limits>

using namespace glowish;

/// Steps of a chunk, whose split weights stay in the second cache beside the
/// pixels: the most, and smaller ones to choose from.
static constexpr int64_t chunkSteps[] = {32, 24, 18, 12, 8, 4, 1};

/// Bytes of results that several blocks write, each its channels of all pixels.
/// More would touch too many pages at a time.
static constexpr int64_t maxSlabBytes = 512 << 10;

/// What a task may take of the stack.
static constexpr int64_t maxScratchBytes = 960 << 10;

/// Into how many equal chunks of at most \p most, if possible, \p count is cut.
static int64_t countChunks(int64_t count, int64_t most) {
  for (int64_t chunks = (count + most - 1) / most; chunks < count; ++chunks)
    if (count % chunks == 0)
      return chunks;
  return count;
}

static int64_t divideUp(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

bool glowish::isInputFlat(const ConvolutionShape &shape, DimsRef strides) {
  return shape.kernelH == 1 && shape.kernelW == 1 && shape.strideH == 1 &&
         shape.strideW == 1 && shape.outHeight == shape.height &&
         shape.outWidth == shape.width &&
         (shape.height == 1 || strides[1] == strides[2] * shape.width) &&
         (shape.batch == 1 ||
          strides[0] == strides[2] * shape.width * shape.height);
}

int64_t SplitPlan::getScratchBytes() const {
  int64_t parts =
      numParts * getStagePartSize() + (rowsPerTile ? 2 : 1) * getChunkSize();
  return parts * 2 + getSumSize() * 4;
}

void SplitPlan::setChunks(int64_t mostSteps) {
  chunksPerGroup = countChunks(numTaps, mostSteps);
  tapsPerChunk = numTaps / chunksPerGroup;
  groupsPerChunk = 1;
  if (chunksPerGroup == 1)
    groupsPerChunk =
        image.groups /
        countChunks(image.groups, std::max<int64_t>(1, mostSteps / numTaps));
  numChunks = image.groups / groupsPerChunk * chunksPerGroup;
}

void SplitPlan::setTask(const ConvolutionShape &shape, int64_t ranges,
                        int64_t groups) {
  tilesPerTask = divideUp(tiles, ranges);
  blocksPerTask = divideUp(blocks, groups);
  if (isInputFlat) {
    stagePixels = tilesPerTask * splitPixels;
  } else {
    int64_t reachH = (shape.kernelH - 1) * shape.dilationH;
    int64_t reachW = (shape.kernelW - 1) * shape.dilationW;
    stageRows = getRows();
    if (tilesPerTask < tiles)
      stageRows =
          std::min(stageRows, (image.columns - 1 + tilesPerTask * splitPixels -
                               1) / image.columns +
                                  1 + reachH / shape.strideH);
    stagePixels = stageRows * image.columns + reachW + splitPixels;
  }
  // Groups at a multiple of a page from each other would compete for the same
  // places in the first cache.
  stagePixels |= 1;
  // The tiles of a task share the work of splitting the next chunk; many of
  // them don't notice it anyway.
  constexpr int64_t rows = 2 * matrixRows;
  int64_t fewestTiles = (tiles - 1) % tilesPerTask + 1;
  rowsPerTile = images == 1 && tilesPerTask <= rows
                    ? (rows + fewestTiles - 1) / fewestTiles
                    : 0;
}

/// In cycles. A step of a register of pixels by one of channels takes 6
/// products of 16 cycles; such a register's way through memory and the epilogue
/// some 250, another time through the sums 80. Splitting an element of the
/// image takes about 0.35 in the cache and 0.7 from beyond, of the weights 0.1
/// where it happens meanwhile.
double SplitPlan::estimate(const ConvolutionShape &shape,
                           const TargetDescription &target) const {
  double registers = double(images) *
                     double(divideUp(pixelsPerImage, matrixRows)) *
                     double(divideUp(shape.outChannels, matrixColumns));
  double steps = double(getSplitSteps(shape));
  double sum =
      registers * (steps * 6 * 16 + 250 + 80.0 * double(numChunks - 1));

  double ranges = double(images * getRanges());
  double tasks = ranges * double(getGroups());
  double imageSize =
      double(shape.batch * shape.height * shape.width) * double(shape.channels);
  double staged = tasks * double(image.groups / groupsPerChunk) *
                  double(getStagePartSize());
  bool isCached = imageSize * 4 < double(target.cacheBytes) / 2;
  sum += staged * (isCached ? 0.35 : 0.7);

  double weights = double(getSplitWeightSize(shape));
  sum += ranges * weights * (rowsPerTile ? 0.1 : 0.35);
  if (weights * 4 > double(target.cacheBytes) / 2)
    sum += (ranges - 1) * weights * 0.3;
  sum += tasks * 2000;

  int64_t slabBytes = tilesPerTask * splitPixels * shape.outChannels * 4;
  if (blocksPerTask > 1 && slabBytes > maxSlabBytes)
    sum += 0.2 * double(images * pixelsPerImage) * double(shape.outChannels);

  // The last task of each kind may be smaller; threads wait for the larger.
  double threads = double(target.numThreads);
  double fullTasks = double(images * tiles) / double(tilesPerTask) *
                     double(blocks) / double(blocksPerTask);
  return sum / fullTasks * std::ceil(tasks / threads);
}

SplitPlan::SplitPlan(const ConvolutionShape &shape, bool isInputFlat,
                     const TargetDescription &target)
    : image(SplitImage::forInput(shape)), isInputFlat(isInputFlat) {
  isFlat = shape.kernelH == 1 && shape.kernelW == 1;
  images = isFlat ? 1 : image.batch;
  pixelsPerImage = isFlat
                       ? image.batch * image.rows * image.columns
                       : (shape.outHeight - 1) * image.columns + shape.outWidth;
  tiles = divideUp(pixelsPerImage, splitPixels);
  blocks = divideUp(shape.outChannels, splitChannels);
  numTaps = shape.kernelH * shape.kernelW;

  SplitPlan best = *this;
  best.cycles = std::numeric_limits<double>::infinity();
  for (int64_t steps : chunkSteps) {
    setChunks(steps);
    for (int64_t ranges = 1; ranges <= tiles; ++ranges) {
      if (ranges > 1 && divideUp(tiles, ranges) == tilesPerTask)
        continue;
      for (int64_t groups = 1; groups <= blocks; ++groups) {
        if (groups > 1 && divideUp(blocks, groups) == blocksPerTask)
          continue;
        setTask(shape, ranges, groups);
        if (getScratchBytes() > maxScratchBytes)
          continue;
        cycles = estimate(shape, target);
        if (cycles < best.cycles)
          best = *this;
      }
    }
  }
  *this = best;
}

bool glowish::isSplitFaster(const ConvolutionShape &shape, DimsRef inputStrides,
                            const TargetDescription &target) {
  if (!target.hasMatrixBFloat16 || shape.group != 1)
    return false;
  // Results don't depend on the number of threads.
  TargetDescription oneThread = target;
  oneThread.numThreads = 1;
  double vectors =
      double(getNumOperations(shape)) / (target.vectorBits / 32 * 4 * 0.8);
  return SplitPlan(shape, ::isInputFlat(shape, inputStrides), oneThread)
             .cycles < vectors;
}
