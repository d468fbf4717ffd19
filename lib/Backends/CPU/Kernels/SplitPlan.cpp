//===- SplitPlan.cpp - Tasks and chunks of split convolutions -------------===//

#include "SplitPlan.h"
#include <cmath>
#include <limits>

using namespace glowish;

/// What may stay in the first cache.
static constexpr int64_t firstCacheBytes = 28 << 10;

/// Sums of products of two digits, three of them a step, stay below 2^31.
static constexpr int64_t maxReduction = (int64_t(1) << 31) / (3 * 128 * 128);

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

bool glowish::isInputTurned(const ConvolutionShape &shape, DimsRef strides) {
  return isInputFlat(shape, strides) && strides[2] == 1 && strides[3] != 1;
}

void SplitPlan::setTask(const ConvolutionShape &shape, int64_t ranges,
                        int64_t groups) {
  tilesPerTask = divideUp(tiles, ranges);
  blocksPerTask = divideUp(blocks, groups);
  if (stagesTiles()) {
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
}

/// In cycles. A step of a tile takes 6 products of some 28 cycles, bound by
/// what comes from the second cache, or 21 where the weights stay in the first
/// and several taps read the same pixels, or where there are few steps at all.
/// The way of a tile's sums through memory takes some 150, as the epilogue
/// happens during the next tile's products, and 100 more for each further
/// chunk. Splitting an element of the image takes about 0.4 in the cache and
/// 0.8 from beyond, and 0.5 for each tap where it is gathered.
double SplitPlan::estimate(const ConvolutionShape &shape,
                           const TargetDescription &target) const {
  double registers = double(images) *
                     double(divideUp(pixelsPerImage, matrixRows)) *
                     double(blocks);
  double steps = double(getSplitSteps(shape));
  double cacheBytes = double(target.cacheBytes);
  int64_t chunkBytes = groupsPerChunk * numTaps * numDigits * splitStepBytes;
  bool isNear = chunkBytes <= firstCacheBytes &&
                ((numTaps > 1 && !isGathered) || numChunks == 1);
  double product = isNear ? 21 : 28;
  double sum =
      registers * (steps * 6 * product + 150 + 100.0 * double(numChunks - 1));

  double ranges = double(images * getRanges());
  double tasks = ranges * double(getGroups());
  double staged =
      tasks * double(image.groups / groupsPerChunk) * double(getDigitBytes());
  double imageBytes = 4.0 * double(shape.batch * shape.height * shape.width) *
                      double(shape.channels);
  sum += staged * (isGathered ? 0.5 : imageBytes < cacheBytes / 2 ? 0.4 : 0.8);

  // Where threads share pixels, they read what others wrote, and write what
  // others will read, at a cycle an element.
  double threads = double(target.numThreads);
  double foreign = std::max(0.0, 1 - ranges / threads);
  double resultSize = double(images * pixelsPerImage * shape.outChannels);
  sum += foreign * (staged + resultSize);

  // Weights that don't stay in the cache come from beyond it for each range.
  double weightBytes = double(blocks) * steps * numDigits * splitStepBytes;
  if (weightBytes > cacheBytes / 2)
    sum += (ranges - 1) * weightBytes * target.farByteCycles;
  sum += tasks * 2000;

  // The last task of each kind may be smaller; threads wait for the larger.
  double fullTasks = double(images * tiles) / double(tilesPerTask) *
                     double(blocks) / double(blocksPerTask);
  return sum / fullTasks * std::ceil(tasks / threads);
}

void SplitPlan::choose(const ConvolutionShape &shape,
                       const TargetDescription &target) {
  SplitPlan best = *this;
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

void SplitPlan::gather(const ConvolutionShape &shape) {
  isFlat = isGathered = true;
  image.phasesH = image.phasesW = 1;
  image.rows = shape.outHeight;
  image.columns = shape.outWidth;
  images = 1;
  pixelsPerImage = shape.batch * shape.outHeight * shape.outWidth;
  tiles = divideUp(pixelsPerImage, splitPixels);
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
  if (!isFlat) {
    // A scale is shared by what is staged at a time, which must not depend on
    // the number of threads: it is chosen as for four. So is the way, as pixels
    // that are gathered have scales of their own.
    TargetDescription fourThreads = target;
    fourThreads.numThreads = 4;
    SplitPlan gathered = *this;
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
      splitPixels * numDigits * image.groups * matrixDepth * numTaps;
  int64_t weightBytes =
      blocksPerTask * getSplitSteps(shape) * numDigits * splitStepBytes;
  isTileOutside = numChunks == 1 && tileBytes <= 2 * weightBytes &&
                  weightBytes <= target.cacheBytes / 2;
}

double glowish::estimateSplit(const ConvolutionShape &shape,
                              DimsRef inputStrides,
                              const TargetDescription &target) {
  if (!target.hasMatrixInt8 || shape.group != 1 ||
      shape.kernelH * shape.kernelW * shape.channels > maxReduction ||
      (inputStrides[3] != 1 && !isInputTurned(shape, inputStrides)))
    return std::numeric_limits<double>::infinity();
  return SplitPlan(shape, ::isInputFlat(shape, inputStrides), target).cycles;
}
