//===- FewChannelFilterGradient.cpp - Filter gradients of few channels ----===//
//
// Where the input has few channels, all taps of all its channels are the rows
// of one matmul with the gradient: a tile of sums takes some of them, by
// vectors of output channels. Image after image goes through all tiles, padded
// ones as a copy with their padding, so that all rows have all pixels. The sums
// of an image are added to those of the images before.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Convolution/FilterGradient.h"
#include "Kernels/MatMul/MicroKernel.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;
using llvm::Value;

FewChannelBlocking::FewChannelBlocking(const ConvolutionShape &shape,
                                       ElemKind kind,
                                       const TargetDescription &target)
    : cycles(std::numeric_limits<double>::infinity()) {
  // Elements of a padded image, and of the sums, which stay in the caches.
  constexpr int64_t maxRows = 256, maxImage = 6 << 10, maxSums = 16 << 10;
  int64_t reachH = (shape.kernelH - 1) * shape.dilationH;
  int64_t reachW = (shape.kernelW - 1) * shape.dilationW;
  height = (shape.outHeight - 1) * shape.strideH + reachH + 1;
  width = (shape.outWidth - 1) * shape.strideW + reachW + 1;
  rows = shape.kernelH * shape.kernelW * shape.channels;
  isPadded = shape.padTop > 0 || shape.padLeft > 0 || height > shape.height ||
             width > shape.width;
  lanes = target.getComputeLanes(kind);
  if (shape.group != 1 || rows > maxRows ||
      rows * shape.outChannels > maxSums ||
      (isPadded && height * width * shape.channels > maxImage))
    return;
  int64_t available = int64_t(llvm::divideCeil(shape.outChannels, lanes));
  for (unsigned v = 1; v <= std::min<int64_t>(available, 4); ++v) {
    if (target.numVectorRegisters < 2 * v + 1)
      break;
    int64_t most = (target.numVectorRegisters - 1 - v) / v;
    int64_t numTiles = int64_t(llvm::divideCeil(rows, most));
    int64_t perTile = int64_t(llvm::divideCeil(rows, numTiles));
    int64_t numBlocks = int64_t(llvm::divideCeil(available, v));
    // Two multiply-adds or two loads a cycle, and four cycles for each sum;
    // what loads cost beside is as in ConvolutionBlocking.cpp.
    double step =
        std::max({double(perTile * v) / 2, 4.0, double(perTile + v) / 2}) +
        double(perTile + v) / 9;
    double image = double(shape.outHeight * shape.outWidth) * step;
    if (isPadded)
      image += double(height * width * shape.channels) / lanes * 2;
    double total = double(shape.batch * numTiles * numBlocks) * image;
    if (total < cycles) {
      cycles = total;
      vectors = v;
      tileRows = unsigned(perTile);
      tiles = numTiles;
      blocks = numBlocks;
    }
  }
}

namespace {

class FewChannelEmitter : private FewChannelBlocking {
public:
  FewChannelEmitter(KernelBuilder &b, const ConvolutionShape &shape,
                    Value *result, StridedOperand input,
                    StridedOperand gradient)
      : FewChannelBlocking(shape, input.kind, b.getTarget()), b(b),
        shape(shape), kind(input.kind), computeKind(getComputeKind(input.kind)),
        result(result), input(std::move(input)), gradient(std::move(gradient)) {
  }
  void emit();

private:
  /// Some rows by some output channels.
  struct Tile {
    /// Among those of its block of channels: says which rows it has.
    Value *number;
    Value *channel;
    unsigned channels;
    /// Where its sums of the images before are.
    Value *totals;
  };
  /// Rows of a tile.
  struct RowRange {
    int64_t first;
    unsigned count;
  };

  static ElemKind getComputeKind(ElemKind kind) {
    return kind == ElemKind::Double ? kind : ElemKind::Float;
  }
  std::vector<int64_t> getOffsets(RowRange range) const;
  MicroKernel getMicroKernel(const Tile &tile, unsigned numRows,
                             llvm::ArrayRef<int64_t> offsets) const;
  Value *pad(Value *image);
  void clear(Value *base, ElemKind elemKind, int64_t count);
  void addImage(const Tile &tile, RowRange range, Value *n, Value *image);
  void addImage(const Tile &tile, Value *n, Value *image);
  void forTiles(Value *low, Value *high,
                llvm::function_ref<void(const Tile &)> body);
  void store(const Tile &tile);
  Value *allocate(int64_t count) {
    return b.allocate(b.getComputeTy(kind), count);
  }
  Value *getTotal(const Tile &tile, unsigned number) {
    return b.getElement(tile.totals, computeKind, int64_t(number) * lanes);
  }

  KernelBuilder &b;
  ConvolutionShape shape;
  /// Of the operands, and of the padded image and the sums.
  ElemKind kind, computeKind;
  Value *result;
  StridedOperand input, gradient;
  Value *padded = nullptr, *totals = nullptr;
};

} // namespace

/// Where the elements of the rows are for output pixel 0.
std::vector<int64_t> FewChannelEmitter::getOffsets(RowRange range) const {
  int64_t rowWidth = isPadded ? width : shape.width;
  std::vector<int64_t> offsets;
  for (unsigned i = 0; i < range.count; ++i) {
    int64_t row = range.first + i, tap = row / shape.channels;
    int64_t y = tap / shape.kernelW * shape.dilationH;
    int64_t x = tap % shape.kernelW * shape.dilationW;
    offsets.push_back((y * rowWidth + x) * shape.channels +
                      row % shape.channels);
  }
  return offsets;
}

MicroKernel
FewChannelEmitter::getMicroKernel(const Tile &tile, unsigned numRows,
                                  llvm::ArrayRef<int64_t> offsets) const {
  unsigned count = (tile.channels + lanes - 1) / lanes;
  return {.kind = kind,
          .lanes = lanes,
          .lastLanes = tile.channels - (count - 1) * lanes,
          .pixels = numRows,
          .vectors = count,
          .pixelStride = 0,
          .rowStride = shape.outChannels,
          .isPadded = false,
          .stepStride = shape.strideW * shape.channels,
          .pixelOffsets = offsets};
}

//===- Padding ------------------------------------------------------------===//

void FewChannelEmitter::clear(Value *base, ElemKind elemKind, int64_t count) {
  b.forVectors(count, lanes, [&](Value *i, unsigned active) {
    b.store(elemKind, b.literal(elemKind, 0, active),
            b.getElement(base, elemKind, i));
  });
}

/// Copies the pixels at \p image that windows reach into the inner part of the
/// copy, the rest of which stays 0.
Value *FewChannelEmitter::pad(Value *image) {
  int64_t numRows = std::min(shape.height, height - shape.padTop);
  int64_t count = std::min(shape.width, width - shape.padLeft) * shape.channels;
  if (numRows <= 0 || count <= 0)
    return padded;
  Value *first = b.getElement(
      padded, kind, (shape.padTop * width + shape.padLeft) * shape.channels);
  b.forLoop(numRows, [&](Value *row) {
    Value *source = b.getElement(
        image, kind, b.scaleIndex(row, shape.width * shape.channels));
    Value *target =
        b.getElement(first, kind, b.scaleIndex(row, width * shape.channels));
    b.forVectors(count, lanes, [&](Value *i, unsigned active) {
      b.store(kind, b.load(kind, b.getElement(source, kind, i), active),
              b.getElement(target, kind, i));
    });
  });
  return padded;
}

//===- Tiles --------------------------------------------------------------===//

/// One piece of code for all rows: a vector is stored element by element, and a
/// copy for each row would be most of the code.
void FewChannelEmitter::store(const Tile &tile) {
  Value *first = b.scaleIndex(tile.number, tileRows);
  Value *left = b.CreateNSWSub(b.index(rows), first);
  MicroKernel microKernel = getMicroKernel(tile, tileRows, {});
  b.forLoop(b.index(0), b.minIndex(left, b.index(tileRows)), 1, [&](Value *r) {
    Value *totals =
        b.getElement(tile.totals, computeKind,
                     b.scaleIndex(r, int64_t(microKernel.vectors) * lanes));
    for (unsigned v = 0; v < microKernel.vectors; ++v) {
      Value *total = b.load(
          computeKind, b.getElement(totals, computeKind, int64_t(v) * lanes),
          microKernel.getLanes(v));
      Value *offset =
          b.addScaled(b.CreateNSWAdd(first, r),
                      b.CreateNSWAdd(tile.channel, b.index(v * lanes)), rows);
      b.storeStrided(kind, total, b.getElement(result, kind, offset), rows);
    }
  });
}

/// Adds the summands of image \p n, which begins at \p image, to the sums of
/// \p range.
void FewChannelEmitter::addImage(const Tile &tile, RowRange range, Value *n,
                                 Value *image) {
  std::vector<int64_t> offsets = getOffsets(range);
  MicroKernel microKernel = getMicroKernel(tile, range.count, offsets);
  int64_t rowSize = (isPadded ? width : shape.width) * shape.channels;
  Value *zero = b.index(0);
  Values sums = b.forLoop(
      zero, b.index(shape.outHeight), 1, microKernel.getZeros(b),
      [&](Value *y, llvm::ArrayRef<Value *> carried) {
        Value *x = b.getElement(image, kind,
                                b.addScaled(zero, y, shape.strideH * rowSize));
        return microKernel.accumulate(
            b, b.index(shape.outWidth), x,
            gradient.getAddress(b, {n, y, zero, tile.channel}),
            Values(carried));
      });
  for (auto [i, sum] : llvm::enumerate(sums)) {
    Value *address = getTotal(tile, unsigned(i));
    Value *before = b.load(computeKind, address, lanes);
    b.store(computeKind, b.CreateFAdd(before, sum), address);
  }
}

/// The same for the rows that the tile has, by code for each tile of a block:
/// the rows of each have offsets of their own.
void FewChannelEmitter::addImage(const Tile &tile, Value *n, Value *image) {
  for (int64_t i = 0; i < tiles; ++i)
    b.ifThen(b.CreateICmpEQ(tile.number, b.index(i)), [&] {
      int64_t first = i * tileRows;
      auto count = unsigned(std::min<int64_t>(tileRows, rows - first));
      addImage(tile, {first, count}, n, image);
    });
}

/// Tiles low ... high - 1 of all, those of one block of channels together.
void FewChannelEmitter::forTiles(Value *low, Value *high,
                                 llvm::function_ref<void(const Tile &)> body) {
  int64_t block = int64_t(vectors) * lanes;
  int64_t left = shape.outChannels - (blocks - 1) * block;
  b.forLoop(low, high, 1, [&](Value *number) {
    Values index = b.splitIndex(number, {blocks, tiles});
    Tile tile;
    tile.number = index[1];
    tile.channel = b.scaleIndex(index[0], block);
    tile.totals = b.getElement(
        totals, computeKind,
        b.scaleIndex(b.CreateNSWSub(number, low), int64_t(tileRows) * block));
    auto callBody = [&](int64_t channels) {
      tile.channels = unsigned(channels);
      body(tile);
    };
    if (blocks == 1 || left == block)
      return callBody(blocks == 1 ? shape.outChannels : block);
    Value *isLast = b.CreateICmpEQ(index[0], b.index(blocks - 1));
    b.ifThen(b.CreateNot(isLast), [&] { callBody(block); });
    b.ifThen(isLast, [&] { callBody(left); });
  });
}

void FewChannelEmitter::emit() {
  int64_t all = tiles * blocks;
  int64_t numTasks = std::min(all, b.getTarget().numThreads);
  int64_t perTask = (all + numTasks - 1) / numTasks;
  int64_t numTotals = perTask * int64_t(tileRows) * vectors * lanes;
  totals = allocate(numTotals);
  if (isPadded)
    padded = allocate(height * width * shape.channels);
  b.forTasks(numTasks, getNumOperations(shape), [&](Value *task) {
    Value *low = b.scaleIndex(task, perTask);
    Value *high =
        b.minIndex(b.CreateNSWAdd(low, b.index(perTask)), b.index(all));
    clear(totals, computeKind, numTotals);
    if (isPadded)
      clear(padded, kind, height * width * shape.channels);
    b.forLoop(shape.batch, [&](Value *n) {
      Value *zero = b.index(0);
      Value *image = input.getAddress(b, {n, zero, zero, zero});
      if (isPadded)
        image = pad(image);
      forTiles(low, high, [&](const Tile &tile) { addImage(tile, n, image); });
    });
    forTiles(low, high, [&](const Tile &tile) { store(tile); });
  });
}

void glowish::emitFewChannelFilterGradient(KernelBuilder &b,
                                           const ConvolutionShape &shape,
                                           Value *result, StridedOperand input,
                                           StridedOperand gradient) {
  FewChannelEmitter(b, shape, result, std::move(input), std::move(gradient))
      .emit();
}
