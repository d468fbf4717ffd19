//===- SlicedBlocking.cpp - Blocking of sliced convolutions ---------------===//

#include "Kernels/AMX/SlicedBlocking.h"
#include "Kernels/Division.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>

using namespace glowish;

/// The bytes of operands that may stay in the L1 cache.
static constexpr int64_t nearOperandBytes = 28 << 10;

/// The longest reduction whose int32 sums cannot overflow: up to three partial
/// products of each element are added to a register.
static constexpr int64_t maxReduction = (int64_t(1) << 31) / (3 * 128 * 128);

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
  tilesPerTask = llvm::divideCeilSigned(tiles, ranges);
  blocksPerTask = llvm::divideCeilSigned(blocks, groups);
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
  // Groups a multiple of a page apart would compete for the same sets of the L1
  // cache.
  panelPixels |= 1;
}

/// Estimates the cycles. A reduction step of a tile has 6 tile multiplications.
/// Each takes some 28 cycles, bound by loads from the L2 cache; or 21 if the
/// weights stay in the L1 cache and either several taps read the same pixels or
/// there is one chunk. Storing and loading the sums of a tile takes some 150
/// cycles, as the epilogue runs concurrently with the next tile, and 100 more
/// for each further chunk. Slicing an element of the image takes about 0.4
/// cycles from the cache and 0.8 from memory, or 0.5 for each tap if gathered.
double SlicedBlocking::estimate(const ConvolutionShape &shape,
                                const TargetDescription &target) const {
  double registers =
      double(images) *
      double(llvm::divideCeilSigned(pixelsPerImage, matrixRows)) *
      double(blocks);
  double steps = double(getSliceSteps(shape));
  double cacheBytes = double(target.cacheBytes);
  int64_t chunkBytes = groupsPerChunk * numTaps * numSlices * sliceStepBytes;
  bool isNear = chunkBytes <= nearOperandBytes &&
                ((numTaps > 1 && !isGathered) || numChunks == 1);
  double multiplyCycles = isNear ? 21 : 28;
  double sum = registers * (steps * 6 * multiplyCycles + 150 +
                            100.0 * double(numChunks - 1));

  double ranges = double(images * getRanges());
  double tasks = ranges * double(getGroups());
  int64_t numPacked = image.groups / groupsPerChunk;
  double packed = tasks * double(numPacked) * double(getSliceBytes());
  double imageBytes = 4.0 * double(shape.batch * shape.height * shape.width) *
                      double(shape.channels);
  sum += packed * (isGathered ? 0.5 : imageBytes < cacheBytes / 2 ? 0.4 : 0.8);

  // Where threads share pixels, cache lines move between their caches, at a
  // cycle an element.
  double threads = double(target.numThreads);
  double foreign = std::max(0.0, 1 - ranges / threads);
  double resultSize = double(images * pixelsPerImage * shape.outChannels);
  sum += foreign * (packed + resultSize);

  // Weights that don't stay in the cache are read from memory for each range.
  double weightBytes = double(blocks) * steps * numSlices * sliceStepBytes;
  if (weightBytes > cacheBytes / 2)
    sum += (ranges - 1) * weightBytes * target.farByteCycles;
  sum += tasks * 2000;

  // The last tasks may be smaller; all threads wait for the largest.
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
    forEachDivision(tiles, [&](int64_t ranges) {
      if (fixedTiles && llvm::divideCeilSigned(tiles, ranges) != fixedTiles)
        return;
      forEachDivision(blocks, [&](int64_t groups) {
        setTask(shape, ranges, groups);
        if (getScratchBytes() > target.maxStackBytes)
          return;
        cycles = estimate(shape, target);
        if (cycles < best.cycles)
          best = *this;
      });
    });
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
  tiles = llvm::divideCeilSigned(pixelsPerImage, tilePixels);
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
  tiles = llvm::divideCeilSigned(pixelsPerImage, tilePixels);
  blocks = llvm::divideCeilSigned(shape.outChannels, tileChannels);
  numTaps = shape.kernelH * shape.kernelW;
  if (!isCollapsed) {
    // The pixels of a panel share a scale, so that results depend on its size.
    // It must not depend on the number of threads, and is chosen for four. So
    // is gathering, which gives each pixel a scale of its own.
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
