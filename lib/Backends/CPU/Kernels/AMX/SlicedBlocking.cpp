//===- SlicedBlocking.cpp - Tasks and chunks of sliced convolutions
//-------------===//

#include "Kernels/AMX/SlicedBlocking.h"
#include <cmath>
#include <limits>

using namespace glowish;

/// What may stay in the first cache.
static constexpr int64_t firstCacheBytes = 28 << 10;

/// Sums of products of two slices, three of them a step, stay below 2^31.
static constexpr int64_t maxReduction = (int64_t(1) << 31) / (3 * 128 * 128);

static int64_t divideUp(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

bool glowish::isInputCollapsed(const ConvolutionShape &shape, DimsRef strides) {
  return shape.kernelH == 1 && shape.kernelW == 1 && shape.strideH == 1 &&
         shape.strideW == 1 && shape.outHeight == shape.height &&
         shape.outWidth == shape.width &&
         (shape.height == 1 || strides[1] == strides[2] * shape.width) &&
         (shape.batch == 1 ||
          strides[0] == strides[2] * shape.width * shape.height);
}

bool glowish::isInputTransposed(const ConvolutionShape &shape,
                                DimsRef strides) {
  return isInputCollapsed(shape, strides) && strides[2] == 1 && strides[3] != 1;
}

void SlicedBlocking::setTask(const ConvolutionShape &shape, int64_t ranges,
                             int64_t groups) {
  tilesPerTask = divideUp(tiles, ranges);
  blocksPerTask = divideUp(blocks, groups);
  if (packsTiles()) {
    panelPixels = tilesPerTask * tilePixels;
  } else {
    int64_t reachH = (shape.kernelH - 1) * shape.dilationH;
    int64_t reachW = (shape.kernelW - 1) * shape.dilationW;
    panelRows = getRows();
    if (tilesPerTask < tiles)
      panelRows = std::min(panelRows,
                           (image.columns - 1 + tilesPerTask * tilePixels - 1) /
                                   image.columns +
                               1 + reachH / shape.strideH);
    panelPixels = panelRows * image.columns + reachW + tilePixels;
  }
  // Groups at a multiple of a page from each other would compete for the same
  // places in the first cache.
  panelPixels |= 1;
}

/// In cycles. A step of a tile takes 6 products of some 28 cycles, bound by
/// what comes from the second cache, or 21 where the weights stay in the first
/// and several taps read the same pixels, or where there are few steps at all.
/// The way of a tile's sums through memory takes some 150, as the epilogue
/// happens during the next tile's products, and 100 more for each further
/// chunk. Slicing an element of the image takes about 0.4 in the cache and
/// 0.8 from beyond, and 0.5 for each tap where it is gathered.
double SlicedBlocking::estimate(const ConvolutionShape &shape,
                                const TargetDescription &target) const {
  double registers = double(images) *
                     double(divideUp(pixelsPerImage, matrixRows)) *
                     double(blocks);
  double steps = double(getSliceSteps(shape));
  double cacheBytes = double(target.cacheBytes);
  int64_t chunkBytes = groupsPerChunk * numTaps * numSlices * sliceStepBytes;
  bool isNear = chunkBytes <= firstCacheBytes &&
                ((numTaps > 1 && !isGathered) || numChunks == 1);
  double product = isNear ? 21 : 28;
  double sum =
      registers * (steps * 6 * product + 150 + 100.0 * double(numChunks - 1));

  double ranges = double(images * getRanges());
  double tasks = ranges * double(getGroups());
  double packed =
      tasks * double(image.groups / groupsPerChunk) * double(getSliceBytes());
  double imageBytes = 4.0 * double(shape.batch * shape.height * shape.width) *
                      double(shape.channels);
  sum += packed * (isGathered ? 0.5 : imageBytes < cacheBytes / 2 ? 0.4 : 0.8);

  // Where threads share pixels, they read what others wrote, and write what
  // others will read, at a cycle an element.
  double threads = double(target.numThreads);
  double foreign = std::max(0.0, 1 - ranges / threads);
  double resultSize = double(images * pixelsPerImage * shape.outChannels);
  sum += foreign * (packed + resultSize);

  // Weights that don't stay in the cache come from beyond it for each range.
  double weightBytes = double(blocks) * steps * numSlices * sliceStepBytes;
  if (weightBytes > cacheBytes / 2)
    sum += (ranges - 1) * weightBytes * target.farByteCycles;
  sum += tasks * 2000;

  // The last task of each kind may be smaller; threads wait for the larger.
  double fullTasks = double(images * tiles) / double(tilesPerTask) *
                     double(blocks) / double(blocksPerTask);
  return sum / fullTasks * std::ceil(tasks / threads);
}

void SlicedBlocking::choose(const ConvolutionShape &shape,
                            const TargetDescription &target) {
  SlicedBlocking best = *this;
  best.cycles = std::numeric_limits<double>::infinity();
  int64_t fixedTiles = tilesPerTask;
  for (numChunks = 1; numChunks <= image.groups; ++numChunks) {
    if (image.groups % numChunks != 0)
      continue;
    groupsPerChunk = image.groups / numChunks;
    for (int64_t ranges = 1; ranges <= tiles; ++ranges) {
      int64_t perTask = divideUp(tiles, ranges);
      if (fixedTiles ? perTask != fixedTiles
                     : ranges > 1 && perTask == divideUp(tiles, ranges - 1))
        continue;
      for (int64_t groups = 1; groups <= blocks; ++groups) {
        if (groups > 1 &&
            divideUp(blocks, groups) == divideUp(blocks, groups - 1))
          continue;
        setTask(shape, ranges, groups);
        if (getScratchBytes() > target.maxStackBytes)
          continue;
        cycles = estimate(shape, target);
        if (cycles < best.cycles)
          best = *this;
      }
    }
  }
  *this = best;
}

void SlicedBlocking::gather(const ConvolutionShape &shape) {
  isCollapsed = isGathered = true;
  image.phasesH = image.phasesW = 1;
  image.rows = shape.outHeight;
  image.columns = shape.outWidth;
  images = 1;
  pixelsPerImage = shape.batch * shape.outHeight * shape.outWidth;
  tiles = divideUp(pixelsPerImage, tilePixels);
}

SlicedBlocking::SlicedBlocking(const ConvolutionShape &shape,
                               bool isInputCollapsed,
                               const TargetDescription &target)
    : image(SlicedImage::forInput(shape)), isInputCollapsed(isInputCollapsed) {
  isCollapsed = shape.kernelH == 1 && shape.kernelW == 1;
  images = isCollapsed ? 1 : image.batch;
  pixelsPerImage = isCollapsed
                       ? image.batch * image.rows * image.columns
                       : (shape.outHeight - 1) * image.columns + shape.outWidth;
  tiles = divideUp(pixelsPerImage, tilePixels);
  blocks = divideUp(shape.outChannels, tileChannels);
  numTaps = shape.kernelH * shape.kernelW;
  if (!isCollapsed) {
    // A scale is shared by what is packed at a time, which must not depend on
    // the number of threads: it is chosen as for four. So is the way, as pixels
    // that are gathered have scales of their own.
    TargetDescription fourThreads = target;
    fourThreads.numThreads = 4;
    SlicedBlocking gathered = *this;
    gathered.gather(shape);
    gathered.choose(shape, fourThreads);
    choose(shape, fourThreads);
    if (gathered.cycles < cycles) {
      *this = gathered;
      tilesPerTask = 0; // chosen again
    }
  }
  if (cycles != std::numeric_limits<double>::infinity())
    choose(shape, target);
  int64_t tileBytes =
      tilePixels * numSlices * image.groups * matrixDepth * numTaps;
  int64_t weightBytes =
      blocksPerTask * getSliceSteps(shape) * numSlices * sliceStepBytes;
  isTileOutside = numChunks == 1 && tileBytes <= 2 * weightBytes &&
                  weightBytes <= target.cacheBytes / 2;
}

double glowish::estimateSliced(const ConvolutionShape &shape,
                               DimsRef inputStrides,
                               const TargetDescription &target) {
  if (!target.hasMatrixInt8 || shape.group != 1 ||
      shape.kernelH * shape.kernelW * shape.channels > maxReduction ||
      (inputStrides[3] != 1 && !isInputTransposed(shape, inputStrides)))
    return std::numeric_limits<double>::infinity();
  return SlicedBlocking(shape, ::isInputCollapsed(shape, inputStrides), target)
      .cycles;
}
