//===- MatrixBlocking.cpp - Blocking of convolutions on AMX ---------------===//

#include "Kernels/AMX/MatrixBlocking.h"
#include <limits>

using namespace glowish;
using llvm::alignTo;
using llvm::divideCeilSigned;

/// The lanes of a row of a register.
static constexpr int64_t registerLanes = matrixDepth / 4;

/// Whether a kernel row is one run.
static bool joinsTaps(const ConvolutionShape &lanes) {
  return lanes.dilationW == 1;
}

LaneOrder glowish::getMatrixLaneOrder(const ConvolutionShape &lanes) {
  auto fillUp = [](int64_t count) {
    return int64_t(alignTo(uint64_t(count), registerLanes));
  };
  if (joinsTaps(lanes))
    return {.tapLanes = lanes.channels,
            .rowLanes = fillUp(lanes.kernelW * lanes.channels)};
  int64_t tapLanes = fillUp(lanes.channels);
  return {.tapLanes = tapLanes, .rowLanes = lanes.kernelW * tapLanes};
}

std::vector<int64_t> MatrixBlocking::getRunOffsets() const {
  std::vector<int64_t> offsets;
  for (int64_t kh = 0; kh < lanes.kernelH; ++kh) {
    int64_t row = kh * lanes.dilationH;
    int64_t panelRow = row % lanes.strideH * panelRows + row / lanes.strideH;
    int64_t offset = panelRow * panelColumns * lanes.channels;
    for (int64_t run = 0; run < runs / lanes.kernelH; ++run)
      offsets.push_back(offset + run * lanes.dilationW * lanes.channels);
  }
  return offsets;
}

/// The tiles that are loaded from the input, and the panel for the others.
void MatrixBlocking::setDirect() {
  int64_t inputLanes = (rowPositions - 1) * positionLanes + lanes.channels;
  int64_t tileLanes =
      (matrixRows - 1) * positionLanes + runSteps * registerLanes;
  int64_t tiles = divideCeilSigned(rowPositions, matrixRows);
  if (inputLanes >= tileLanes)
    directTiles = (inputLanes - tileLanes) / (matrixRows * positionLanes) + 1;
  panelLanes = (tiles - directTiles) * matrixRows * positionLanes +
               runSteps * registerLanes;
}

/// \p count bands.
void MatrixBlocking::setBand(int64_t count, const TargetDescription &target) {
  if (isDirect()) {
    int64_t tiles = divideCeilSigned(rowPositions, matrixRows);
    // Tiles are computed in pairs.
    bandTiles = divideCeilSigned(divideCeilSigned(tiles, count), 2) * 2;
    bands = divideCeilSigned(tiles, bandTiles);
    return;
  }
  bandRows = divideCeilSigned(rows, count);
  bands = divideCeilSigned(rows, bandRows);
  bandTiles = divideCeilSigned(bandRows * rowPositions, matrixRows);
  int64_t reach = (lanes.kernelH - 1) * lanes.dilationH;
  phases = std::min(lanes.strideH, reach + 1);
  panelRows = bandRows + reach / lanes.strideH;
  std::vector<int64_t> offsets = getRunOffsets();
  int64_t loadedLanes = (bandTiles * matrixRows - 1) * positionLanes +
                        *llvm::max_element(offsets) + runSteps * registerLanes;
  panelLanes =
      std::max(phases * panelRows * panelColumns * lanes.channels, loadedLanes);
}

/// Bands whose pixels stay in the cache with the weights of two blocks; more,
/// or groups of blocks, where threads need them.
void MatrixBlocking::chooseTasks(const TargetDescription &target) {
  int64_t most =
      isDirect() ? divideCeilSigned(rowPositions, 2 * matrixRows) : rows;
  int64_t cacheBytes = target.cacheBytes / 4;
  int64_t bandBytes = 0;
  auto set = [&](int64_t count) {
    setBand(count, target);
    bandBytes = isDirect() ? bandTiles * matrixRows * positionLanes * 4
                           : panelLanes * 4;
  };
  int64_t count = 1;
  for (set(1); bandBytes > cacheBytes && count < most; set(count))
    ++count;
  int64_t pairs = divideCeilSigned(blocks, 2);
  int64_t wanted = target.numThreads > 1
                       ? divideCeilSigned(4 * target.numThreads, images)
                       : 1;
  int64_t weightBytes = blocks * getSteps() * AmxUnit::registerBytes;
  // Each band reads all weights, and each group packs all pixels.
  if (weightBytes <= target.cacheBytes / 2 && wanted > bands)
    set(std::min(wanted, most));
  groups = std::min(pairs, divideCeilSigned(wanted, bands));
  groupBlocks = divideCeilSigned(pairs, groups) * 2;
  groups = divideCeilSigned(blocks, groupBlocks);
}

/// A multiplication takes 16 cycles, and its loads, one a multiplication in
/// tiles of 2 x 2, about as long from the first cache and 28 from the second:
/// measured with floats as int8 slices, which load as much.
double MatrixBlocking::estimate() const {
  constexpr double multiplyCycles = 24, taskCycles = 500;
  // Of a vector of sums: stored, loaded, and passed through the epilogue.
  constexpr double vectorCycles = 4;
  double tiles = double(images) * double(bands) * double(bandTiles);
  double columns = double(tiles) * double(blocks);
  double packed = double(images) * double(bands) * double(groups) *
                  double(panelLanes) / double(registerLanes);
  return columns *
             (double(getSteps()) * multiplyCycles + matrixRows * vectorCycles) +
         packed * 2 + double(getTasks()) * taskCycles;
}

MatrixBlocking::MatrixBlocking(const ConvolutionShape &shape, int64_t rowStride,
                               const TargetDescription &target)
    : lanes(shape), rowStride(rowStride) {
  LaneOrder order = getMatrixLaneOrder(lanes);
  runs = lanes.kernelH * (joinsTaps(lanes) ? 1 : lanes.kernelW);
  runSteps = lanes.kernelH * order.rowLanes / runs / registerLanes;
  blocks = divideCeilSigned(lanes.outChannels, matrixColumns);
  if (isDirect()) {
    images = rows = 1;
    rowPositions = lanes.batch * lanes.outHeight * lanes.outWidth;
    positionLanes = rowStride;
    setDirect();
  } else {
    images = lanes.batch;
    rows = lanes.outHeight;
    int64_t reached = (lanes.outWidth - 1) * lanes.strideW +
                      (lanes.kernelW - 1) * lanes.dilationW + 1;
    rowPositions = divideCeilSigned(reached, lanes.strideW);
    panelColumns = rowPositions * lanes.strideW;
    positionLanes = lanes.strideW * lanes.channels;
  }
  chooseTasks(target);
  int64_t stackBytes = panelLanes * 4 + 4 * AmxUnit::registerBytes;
  cycles = stackBytes > target.maxStackBytes
               ? std::numeric_limits<double>::infinity()
               : estimate();
}
