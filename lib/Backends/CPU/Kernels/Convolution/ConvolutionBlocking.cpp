//===- ConvolutionBlocking.cpp - Tiles and loop order ---------------------===//

#include "Kernels/Convolution/Convolution.h"

using namespace glowish;

ConvolutionShape ConvolutionShape::get(DimsRef in, DimsRef out,
                                       llvm::ArrayRef<int64_t> kernels,
                                       llvm::ArrayRef<int64_t> strides,
                                       llvm::ArrayRef<int64_t> pads,
                                       llvm::ArrayRef<int64_t> dilations,
                                       int64_t group) {
  return {.batch = in[0],
          .height = in[1],
          .width = in[2],
          .channels = in[3],
          .outHeight = out[1],
          .outWidth = out[2],
          .outChannels = out[3],
          .kernelH = kernels[0],
          .kernelW = kernels[1],
          .group = group,
          .strideH = strides[0],
          .strideW = strides[1],
          .padTop = pads[0],
          .padLeft = pads[1],
          .dilationH = dilations[0],
          .dilationW = dilations[1]};
}

//===- Tiles --------------------------------------------------------------===//

/// Weights up to here stay in the first cache beside the pixels.
static constexpr int64_t firstCacheBytes = 24 << 10;

/// Instructions of one reduction step of a tile: multiply-adds, a
/// load for each vector of weights and each pixel (or for as many steps as a
/// vector has lanes), and the loop's own, which unrolling shares.
static double getNarrowStepCost(unsigned pixels, unsigned vectors,
                                const TargetDescription &target) {
  double pixelLoads =
      target.hasMultiplyByLane ? double(pixels) / target.getLanes(4) : pixels;
  unsigned multiplyAdds = pixels * vectors * (target.splitsMultiplyAdd ? 2 : 1);
  return (multiplyAdds + vectors + pixelLoads + 1) / target.instrsPerCycle;
}

/// The same in cycles on a core with two multiply-add units of latency 4 and
/// two load ports. The last two terms, for what loads and the loop cost beside,
/// are fitted to measured tiles from 4 x 2 to 14 x 2; three vectors take 4 to
/// 10 % longer than that says, as measured.
/// \p bytes: of weights in a step, which come from the second cache at 20 bytes
/// a cycle when a block of them doesn't fit the first.
static double getStepCost(unsigned pixels, unsigned vectors, double bytes,
                          const TargetDescription &target) {
  if (!target.issuesWidely)
    return getNarrowStepCost(pixels, vectors, target);
  double arithmetic = std::max(pixels * vectors / 2.0, 4.0);
  double cost =
      std::max(arithmetic, bytes / 20) + (pixels + vectors) / 9.0 + 0.7;
  return vectors == 3 ? cost * 1.07 : cost;
}

/// The same for one row of output pixels and all steps: with the start of the
/// sums and their way through the epilogue.
static double getRowCost(const ConvolutionShape &shape, unsigned pixels,
                         unsigned vectors, const TargetDescription &target) {
  double bytes = vectors * (target.vectorBits / 8.0);
  double streamed = shape.getTaps() * bytes > firstCacheBytes ? bytes : 0;
  auto getTileCost = [&](unsigned p) {
    return double(shape.getTaps()) * getStepCost(p, vectors, streamed, target) +
           20 + 2.0 * p * vectors;
  };
  int64_t width = shape.outWidth;
  int64_t whole = width / pixels, rest = width % pixels;
  return double(whole) * getTileCost(pixels) +
         (rest ? getTileCost(unsigned(rest)) : 0);
}

namespace {
struct PixelChoice {
  unsigned pixels = 1;
  double cost = std::numeric_limits<double>::infinity();
};
} // namespace

/// Beside the sums, registers hold the weights of one step and one broadcast
/// element, or elements of each pixel where multiply-adds take one from a lane
/// or all loads of a step come first, or none where that is in a scalar
/// register; and what is multiplied where an instruction of its own adds it.
/// Where LLVM's scheduler knows no core that reorders instructions itself, it
/// loads ahead and needs two more; where there are few, more sums save more
/// loads than that.
static unsigned getMostPixels(unsigned vectors,
                              const TargetDescription &target) {
  bool keepsElements = target.hasMultiplyByLane || target.isTranslated;
  bool needsElement = !target.hasMultiplyByScalar && !target.isTranslated;
  unsigned taken =
      vectors + (needsElement ? 1 : 0) + (target.splitsMultiplyAdd ? 1 : 0);
  if (!target.issuesWidely && target.numVectorRegisters > 16)
    taken += 2;
  unsigned left = std::max(target.numVectorRegisters, taken) - taken;
  return std::max(1u, left / (vectors + (keepsElements ? 1 : 0)));
}

/// The number of pixels for tiles of \p vectors.
static PixelChoice choosePixels(const ConvolutionShape &shape, unsigned vectors,
                                const TargetDescription &target) {
  unsigned most = getMostPixels(vectors, target);
  PixelChoice best;
  for (unsigned pixels = 1; pixels <= most && int64_t(pixels) <= shape.outWidth;
       ++pixels) {
    double cost = getRowCost(shape, pixels, vectors, target);
    if (cost < best.cost)
      best = {pixels, cost};
  }
  return best;
}

std::vector<TileChoice> glowish::rankTiles(const ConvolutionShape &shape,
                                           ElemKind kind,
                                           const TargetDescription &target,
                                           unsigned block) {
  unsigned lanes = target.getComputeLanes(kind);
  int64_t channelVectors = (shape.getGroupOutChannels() + lanes - 1) / lanes;
  double rows = double(shape.group * shape.batch * shape.outHeight);
  std::vector<TileChoice> choices;
  for (unsigned vectors = 1; vectors <= 8; ++vectors) {
    if (vectors > 1 && int64_t(vectors) > channelVectors)
      break;
    // One pixel's sums and what else a step has in registers.
    bool needsMore = target.isTranslated && target.splitsMultiplyAdd;
    if (target.numVectorRegisters < 2 * vectors + (needsMore ? 2 : 1))
      break;
    if (block % (vectors * lanes) != 0)
      continue;
    PixelChoice choice = choosePixels(shape, vectors, target);
    int64_t wholeTiles = channelVectors / vectors;
    double cost = double(wholeTiles) * choice.cost;
    if (unsigned left = unsigned(channelVectors % vectors))
      cost += choosePixels(shape, left, target).cost;
    choices.push_back({{choice.pixels, vectors}, rows * cost});
  }
  llvm::sort(choices, [](const TileChoice &a, const TileChoice &b) {
    return std::tie(a.cycles, a.tile.vectors) <
           std::tie(b.cycles, b.tile.vectors);
  });
  return choices;
}

unsigned glowish::chooseTilePixels(const ConvolutionShape &shape,
                                   unsigned vectors,
                                   const TargetDescription &target) {
  return choosePixels(shape, vectors, target).pixels;
}

//===- Layouts ------------------------------------------------------------===//

WeightLayout glowish::getPackedLayout(const ConvolutionShape &shape,
                                      unsigned block) {
  int64_t blocks = (shape.getGroupOutChannels() + block - 1) / block;
  int64_t blockStride = shape.getTaps() * block;
  return {int64_t(block), blockStride, blocks * blockStride,
          /*isPadded=*/true};
}

WeightLayout glowish::getPlainLayout(const ConvolutionShape &shape,
                                     unsigned block) {
  int64_t channels = shape.getGroupOutChannels();
  return {channels, int64_t(block), shape.getTaps() * channels,
          /*isPadded=*/false};
}

int64_t glowish::getPackedSize(const ConvolutionShape &shape, unsigned block) {
  return getPackedLayout(shape, block).groupStride * shape.group;
}

bool glowish::collapseRows(ConvolutionShape &shape,
                           llvm::ArrayRef<StridedOperand *> operands) {
  auto canCollapse = [&](unsigned outer, unsigned inner, int64_t extent) {
    return llvm::all_of(operands, [&](const StridedOperand *operand) {
      return operand->strides[outer] == operand->strides[inner] * extent;
    });
  };
  if (shape.outHeight > 1 && !canCollapse(1, 2, shape.outWidth))
    return false;
  shape.outWidth *= shape.outHeight;
  shape.width = shape.outWidth;
  shape.height = shape.outHeight = 1;
  if (shape.batch > 1) {
    if (!canCollapse(0, 2, shape.outWidth))
      return false;
    shape.outWidth *= shape.batch;
    shape.width = shape.outWidth;
    shape.batch = 1;
  }
  return true;
}

bool glowish::collapsePointwise(ConvolutionShape &shape,
                                ConvolutionOperands &operands) {
  // Rows of each of several images would be no prefix of a longer row.
  if ((operands.needed.rows && shape.batch > 1) || shape.kernelH != 1 ||
      shape.kernelW != 1 || shape.strideH != 1 || shape.strideW != 1 ||
      shape.outHeight != shape.height || shape.outWidth != shape.width ||
      shape.padTop || shape.padLeft)
    return false;
  std::vector<StridedOperand *> all = {&operands.result, &operands.input};
  for (StridedOperand &operand : operands.epilogue.fused)
    all.push_back(&operand);
  if (!collapseRows(shape, all))
    return false;
  operands.needed = {};
  return true;
}

ImageBands::ImageBands(KernelBuilder &b, const ConvolutionShape &shape,
                       NeededImages needed, int64_t bandRows)
    : endRow(needed.rows ? needed.rows : b.index(shape.outHeight)),
      perImage(b.divideUp(endRow, bandRows)) {
  if (needed.images || needed.rows)
    count = b.CreateNSWMul(needed.images ? needed.images : b.index(shape.batch),
                           perImage);
}

int64_t glowish::getNumOperations(const ConvolutionShape &shape) {
  return 2 * shape.getTaps() * shape.outChannels * shape.batch *
         shape.outHeight * shape.outWidth;
}

//===- Order --------------------------------------------------------------===//

int64_t glowish::chooseChunk(const ConvolutionShape &shape, ElemKind kind,
                             int64_t units, int64_t blocks, int64_t images,
                             const TargetDescription &target) {
  int64_t size = int64_t(getElemSize(kind));
  int64_t weights = shape.getTaps() * shape.outChannels * size;
  int64_t imageBytes =
      (shape.batch * shape.height * shape.width * shape.channels +
       shape.batch * shape.outHeight * shape.outWidth * shape.outChannels) *
      size;
  int64_t chunks = 1;
  // Where all weights stay in the cache, a slab of the image goes through all
  // blocks before the next. Where they don't, a block of weights goes over the
  // whole image, so that each weight comes from memory once.
  bool areNear = weights <= target.cacheBytes / 2;
  if (areNear)
    chunks = (imageBytes + target.cacheBytes / 2 - 1) / (target.cacheBytes / 2);
  if (target.numThreads > 1)
    chunks = std::max(chunks, (4 * target.numThreads + blocks - 1) / blocks *
                                  (areNear ? images : 1));
  chunks = std::clamp(chunks, int64_t(1), units);
  return (units + chunks - 1) / chunks;
}
