//===- DualBlocking.cpp - Tiles of pairs of int16 -------------------------===//

#include "Kernels/Dual/DualConvolution.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;

DualWeights::DualWeights(const ConvolutionShape &shape, int64_t channels)
    : RowWeights(shape, channels) {
  int64_t depth = shape.getGroupChannels();
  order = depth % 4 ? ChannelOrder::Plain : ChannelOrder::Quads;
  pairs = llvm::divideCeilSigned(depth * shape.kernelW / segments, 2);
  segmentBytes = pairs * 2 * channels;
}

int64_t DualWeights::getPlace(const WeightIndex &at,
                              int64_t columnStride) const {
  int64_t block = at.g * blocks + at.n / channels;
  int64_t segment = segments == 1 ? 0 : at.kw;
  int64_t element = (segments == 1 ? at.kw * columnStride : 0) +
                    glowish::getPlace(order, at.c);
  int64_t own = at.n % channels;
  return block * getBlockBytes() + (at.kh * segments + segment) * segmentBytes +
         element / 2 * 2 * channels + own / 2 * 4 + element % 2 * 2 + own % 2;
}

/// Thirteen registers are left beside the program's and the stack's: eight for
/// sums, two for weights of two channels, one for an input pair, and two for
/// addresses.
DualTile glowish::chooseDualTile(const ConvolutionShape &shape) {
  // The pixels of 1x1 kernels mostly are one row.
  int64_t width = shape.outWidth;
  if (shape.kernelH == 1 && shape.kernelW == 1)
    width *= shape.outHeight;
  int64_t channels = shape.getGroupOutChannels();
  int64_t pixels = width >= 3 ? 3 : width >= 2 ? 2 : 1;
  int64_t own = 8 / pixels;
  while (own > 2 && channels % own)
    own /= 2;
  return {pixels, own};
}

int64_t glowish::chooseDualColumns(const ConvolutionShape &shape, DualTile tile,
                                   const TargetDescription &target) {
  ChannelOrder order = DualWeights(shape, tile.channels).order;
  return chooseRowColumns(
      shape, tile.pixels, usualDualBytes, target,
      [&](int64_t columns) { return getWidenedLayout(shape, order, columns); });
}

double glowish::estimateDualInstructions(const ConvolutionShape &shape,
                                         DualTile tile) {
  DualWeights weights(shape, tile.channels);
  // A load and two widenings for each two channels of weights, a load for each
  // pixel, and a multiply-add for each sum.
  double perStep = 1.5 * double(tile.channels) + double(tile.pixels) +
                   double(tile.pixels * tile.channels);
  double steps = double(shape.kernelH * weights.segments * weights.pairs);
  double tiles = double(shape.group * weights.blocks) *
                 double(shape.batch * shape.outHeight * shape.outWidth) /
                 double(tile.pixels);
  return tiles * steps * perStep;
}
