//===- WinogradBlocking.cpp - Tiles and tasks -----------------------------===//

#include "Kernels/Division.h"
#include "Kernels/Winograd/Winograd.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>

using namespace glowish;

//===- Where it applies ---------------------------------------------------===//

static constexpr int64_t maxWinogradTaps = 5;

/// The outputs of a tile in one direction, or 0.
static int64_t getOutputs(int64_t taps, int64_t limit) {
  switch (taps) {
  case 1:
    return 1;
  case 3:
    return limit;
  case maxWinogradTaps:
    return limit == 4 ? 2 : 0;
  default:
    return 0;
  }
}

std::optional<WinogradSize>
glowish::getWinogradSize(const ConvolutionShape &shape, int64_t limit) {
  assert(limit == 2 || limit == 4);
  if (shape.strideH != 1 || shape.strideW != 1 || shape.dilationH != 1 ||
      shape.dilationW != 1 || shape.group != 1 ||
      shape.kernelH * shape.kernelW == 1)
    return std::nullopt;
  WinogradSize size{getOutputs(shape.kernelH, limit),
                    getOutputs(shape.kernelW, limit)};
  if (size.height == 0 || size.width == 0)
    return std::nullopt;
  return size;
}

//===- Blocking -----------------------------------------------------------===//

/// The matrix product at one point: \p rows tiles by the output channels.
static ConvolutionShape getMatMulShape(const ConvolutionShape &shape,
                                       int64_t rows) {
  return ConvolutionShape::forMatMul(rows, shape.channels, shape.outChannels);
}

/// Cycles for a byte of the points that other data of the task displaces, as
/// measured: it is written to the second cache and read from there, or beyond.
static constexpr double displacedByteCycles = 0.05;
/// Cycles for a byte of the filters that a task reads from the second cache;
/// and from beyond it, of which its multiplications hide a part.
static constexpr double nearFilterCycles = 1.0 / 64;
static constexpr double farFilterCycles = 0.065;
/// Cycles that a byte of the filters must save, as they are 1.8 or 4 times as
/// large as those of the direct kernel. Without it a ResNet-18 would take
/// 97 MB for its weights instead of 59, and 12 % less time.
static constexpr double filterBytePrice = 0.15;

/// Cycles for a vector at a point on the way there or back: loads, the
/// transform's arithmetic and stores, as measured; more where a tile's points
/// don't fit the registers.
static double getPointCycles(int64_t points, const TargetDescription &target) {
  return points > target.numVectorRegisters ? 8 : 5;
}

double WinogradBlocking::getFilterBytes(const ConvolutionShape &shape) const {
  return 4 * double(getPoints()) * double(shape.channels) *
         double(shape.outChannels);
}

double WinogradBlocking::getFilterPrice(const ConvolutionShape &shape) const {
  return filterBytePrice * getFilterBytes(shape);
}

double WinogradBlocking::estimate(const ConvolutionShape &shape,
                                  const TargetDescription &target) const {
  int64_t lanes = target.getLanes(4);
  double points = double(getPoints()), ranges = double(getRanges());
  double channelVectors = double(llvm::divideCeilSigned(shape.channels, lanes));
  double outVectors = double(llvm::divideCeilSigned(shape.outChannels, lanes));
  double sum = double(tiles) * points * getPointCycles(getPoints(), target) *
               (channelVectors * double(getGroups()) + outVectors);
  double moved = 4 * double(tiles) * points *
                 (double(shape.channels) * double(getGroups()) +
                  double(shape.outChannels));
  double near = double(target.getNearBytes()) /
                double(getScratchBytes(shape.channels, lanes));
  sum += moved * std::max(0.0, 1 - near) * displacedByteCycles;
  TileChoice matMul =
      rankTiles(getMatMulShape(shape, tilesPerTask), ElemKind::Float, target,
                unsigned(lanes * registers.vectors))
          .front();
  sum += points * ranges * matMul.cycles;
  double weightBytes = getFilterBytes(shape);
  bool areNear = weightBytes <= double(target.cacheBytes);
  sum += weightBytes *
         (filterBytePrice + farFilterCycles +
          (ranges - 1) * (areNear ? nearFilterCycles : farFilterCycles));
  double tasks = ranges * double(getGroups());
  sum += tasks * 1000;
  // The last task of each kind may be smaller; threads wait for the larger.
  double fullTasks = double(tiles) / double(tilesPerTask) * double(blocks) /
                     double(blocksPerTask);
  return sum / fullTasks * std::ceil(tasks / double(target.numThreads));
}

/// Estimates runs of one image, of all, and of some: the time of each image.
double WinogradBlocking::estimateOfAny(const ConvolutionShape &shape,
                                       const TargetDescription &target) const {
  double sum = 0;
  for (int64_t images : spreadCounts(shape.batch)) {
    WinogradBlocking part = *this;
    part.tiles = images * tilesH * tilesW;
    part.tilesPerTask = std::min(tilesPerTask, part.tiles);
    sum += part.estimate(shape, target) / double(images);
  }
  return sum;
}

WinogradBlocking::WinogradBlocking(const ConvolutionShape &shape,
                                   WinogradSize size,
                                   const TargetDescription &target,
                                   unsigned block, bool isBounded)
    : vertical(unsigned(size.height), unsigned(shape.kernelH)),
      horizontal(unsigned(size.width), unsigned(shape.kernelW)),
      tilesH(llvm::divideCeilSigned(shape.outHeight, size.height)),
      tilesW(llvm::divideCeilSigned(shape.outWidth, size.width)),
      tiles(shape.batch * tilesH * tilesW) {
  int64_t lanes = target.getLanes(4);
  WinogradBlocking best = *this;
  best.cycles = std::numeric_limits<double>::infinity();
  forEachDivision(tiles, [&](int64_t ranges) {
    tilesPerTask = llvm::divideCeilSigned(tiles, ranges);
    registers = chooseTile(getMatMulShape(shape, tilesPerTask), ElemKind::Float,
                           target, block);
    if (getScratchBytes(shape.channels, lanes) > target.maxStackBytes)
      return;
    blocks =
        llvm::divideCeilSigned(shape.outChannels, registers.vectors * lanes);
    forEachDivision(blocks, [&](int64_t groups) {
      blocksPerTask = llvm::divideCeilSigned(blocks, groups);
      cycles =
          isBounded ? estimateOfAny(shape, target) : estimate(shape, target);
      if (cycles < best.cycles)
        best = *this;
    });
  });
  *this = best;
}

//===- Weights ------------------------------------------------------------===//

int64_t glowish::countPackedWinograd(const ConvolutionShape &shape,
                                     WinogradSize size, unsigned block) {
  WinogradTransform vertical(unsigned(size.height), unsigned(shape.kernelH));
  WinogradTransform horizontal(unsigned(size.width), unsigned(shape.kernelW));
  return llvm::divideCeilSigned(shape.outChannels, block) *
         int64_t(vertical.getPoints()) * int64_t(horizontal.getPoints()) *
         shape.channels * block;
}

void glowish::packWinograd(const ConvolutionShape &shape, WinogradSize size,
                           unsigned block, const float *weights,
                           DimsRef strides, float *packed) {
  WinogradTransform vertical(unsigned(size.height), unsigned(shape.kernelH));
  WinogradTransform horizontal(unsigned(size.width), unsigned(shape.kernelW));
  int64_t rows = vertical.getPoints(), columns = horizontal.getPoints();
  int64_t pointStride = shape.channels * block;
  for (int64_t n = 0; n < shape.outChannels; ++n)
    for (int64_t c = 0; c < shape.channels; ++c) {
      const float *taps = weights + c * strides[2] + n * strides[3];
      float *target = packed + n / block * rows * columns * pointStride +
                      c * block + n % block;
      for (int64_t i = 0; i < rows; ++i) {
        std::array<double, maxWinogradTaps> row = {};
        for (int64_t kw = 0; kw < shape.kernelW; ++kw)
          for (int64_t kh = 0; kh < shape.kernelH; ++kh)
            row[kw] += vertical.filter.at(unsigned(i), unsigned(kh)) *
                       double(taps[kh * strides[0] + kw * strides[1]]);
        for (int64_t j = 0; j < columns; ++j) {
          double sum = 0;
          for (int64_t kw = 0; kw < shape.kernelW; ++kw)
            sum += horizontal.filter.at(unsigned(j), unsigned(kw)) * row[kw];
          target[(i * columns + j) * pointStride] = float(sum);
        }
      }
    }
}
