//===- SlicedFilterBlocking.cpp - Blocking of filter gradients ------------===//

#include "Kernels/AMX/SlicedFilterBlocking.h"
#include "Kernels/Division.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace glowish;

/// The bytes of operands that may stay in the L1 cache.
static constexpr int64_t firstCacheBytes = 38 << 10;

/// The longest reduction whose int32 sums cannot overflow: up to three partial
/// products of each element are added to a register.
static constexpr int64_t maxSteps =
    (int64_t(1) << 31) / (3 * 128 * 128 * matrixDepth) - 1;

void SlicedFilterBlocking::setChunk(const ConvolutionShape &shape,
                                    int64_t numQuads, int64_t rows) {
  quadsPerChunk = numQuads;
  rowsPerChunk = rows;
  bands = llvm::divideCeilSigned(shape.outHeight, rows);
  int64_t reachH = (shape.kernelH - 1) * shape.dilationH;
  int64_t reachW = (shape.kernelW - 1) * shape.dilationW;
  planesH = std::min(shape.strideH, reachH + 1);
  planesW = areTapsApart ? shape.kernelW : std::min(shape.strideW, reachW + 1);
  int64_t shiftW = areTapsApart ? 0 : reachW / shape.strideW;
  columns = shape.outWidth + shiftW;
  inRows = rows + reachH / shape.strideH;
  steps =
      llvm::divideCeilSigned((rows - 1) * columns + shape.outWidth, matrixRows);
  panelPlaces =
      std::max(inRows * columns,
               steps * matrixRows + reachH / shape.strideH * columns + shiftW);
  // Planes a multiple of a page apart would compete for the same sets of the L1
  // cache.
  panelPlaces |= 1;
}

/// Estimates the cycles. A tile multiplication takes some 28 cycles, bound by
/// loads from the L2 cache; or 24 if the L1 cache holds a chunk of a block of
/// the gradient, and of a block of the input the part that one column of taps
/// reads. Adding a tile to the result takes some 120 that are not hidden.
/// Slicing an element takes 0.6, with the computation of its scale, and 0.9
/// where it is also transposed.
double SlicedFilterBlocking::estimate(const TargetDescription &target) const {
  double chunks = double(llvm::divideCeilSigned(quads, quadsPerChunk) * bands);
  double totalSteps = double(quads * bands * steps);
  double tiles = double(outBlocks * inBlocks * taps);
  int64_t used = numSlices * getInputSliceBytes();
  if (areTapsApart)
    used /= planesW;
  used += getGradientBytes() / outBlocks;
  double multiplyCycles = used <= firstCacheBytes                      ? 24
                          : getScratchBytes() <= target.cacheBytes / 2 ? 28
                                                                       : 30;
  double places = double(quads * bands * imagesPerQuad * matrixColumns);
  return tiles * (totalSteps * 6 * multiplyCycles + chunks * 120) +
         places * double(steps * matrixRows * outBlocks) * 0.9 +
         places * double(getNumPlanes() * inRows * columns * inBlocks) * 0.6 +
         chunks * 1000;
}

SlicedFilterBlocking::SlicedFilterBlocking(const ConvolutionShape &shape,
                                           const TargetDescription &target)
    : taps(shape.kernelH * shape.kernelW),
      quads(llvm::divideCeilSigned(shape.batch, imagesPerQuad)),
      outBlocks(llvm::divideCeilSigned(shape.outChannels, matrixRows)),
      inBlocks(llvm::divideCeilSigned(shape.channels, matrixColumns)) {
  SlicedFilterBlocking best = *this;
  best.cycles = std::numeric_limits<double>::infinity();
  if (!target.hasMatrixInt8 || shape.group != 1 || shape.batch == 0) {
    *this = best;
    return;
  }
  for (bool apart : {false, true}) {
    if (apart && shape.kernelW == 1)
      continue;
    areTapsApart = apart;
    forEachDivision(shape.outHeight, [&](int64_t count) {
      forEachDivision(quads, [&](int64_t parts) {
        setChunk(shape, llvm::divideCeilSigned(quads, parts),
                 llvm::divideCeilSigned(shape.outHeight, count));
        if (getScratchBytes() > target.maxStackBytes ||
            quadsPerChunk * steps > maxSteps)
          return;
        cycles = estimate(target);
        if (cycles < best.cycles)
          best = *this;
      });
    });
  }
  *this = best;
}
