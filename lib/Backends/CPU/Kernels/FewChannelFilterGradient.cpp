//===- FewChannelFilterGradient.cpp - Filter gradients of few channels ----===//
//
// Where the input has few channels, all taps of all its channels are the rows
// of one product with the gradient: a tile of sums takes some of them, by
// vectors of output channels. Padded images are copied with their padding, one
// at a time, so that all rows have all pixels. The sums of an image are added
// to those of the images before.
//
//===----------------------------------------------------------------------===//

#include "FilterGradient.h"
#include "TileProduct.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;
using llvm::Value;

FewChannelPlan::FewChannelPlan(const ConvolutionShape &shape, ElemKind kind,
                               const TargetDescription &target)
    : cycles(std::numeric_limits<double>::infinity()) {
  // Of sums and of a padded image: what stays in the first cache.
  constexpr int64_t maxRows = 256, maxImage = 6 << 10;
  int64_t reachH = (shape.kernelH - 1) * shape.dilationH;
  int64_t reachW = (shape.kernelW - 1) * shape.dilationW;
  height = (shape.outHeight - 1) * shape.strideH + reachH + 1;
  width = (shape.outWidth - 1) * shape.strideW + reachW + 1;
  rows = shape.kernelH * shape.kernelW * shape.channels;
  isPadded = shape.padTop > 0 || shape.padLeft > 0 || height > shape.height ||
             width > shape.width;
  lanes = target.getComputeLanes(kind);
  if (shape.group != 1 || rows > maxRows ||
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
    // Two products or two loads a cycle, and four cycles for each sum.
    double step =
        std::max({double(perTile * v) / 2, 4.0, double(perTile + v) / 2}) + 1;
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

class FewChannelEmitter : private FewChannelPlan {
public:
  FewChannelEmitter(KernelBuilder &b, const ConvolutionShape &shape,
                    Value *result, StridedOperand input,
                    StridedOperand gradient)
      : FewChannelPlan(shape, input.kind, b.getTarget()), b(b), shape(shape),
        kind(input.kind), computeKind(getComputeKind(input.kind)),
        result(result), input(std::move(input)), gradient(std::move(gradient)) {
  }
  void emit();

private:
  /// Some rows by some output channels.
  struct Tile {
    int64_t firstRow;
    unsigned rows;
    Value *channel;
    unsigned channels;
  };

  static ElemKind getComputeKind(ElemKind kind) {
    return kind == ElemKind::Double ? kind : ElemKind::Float;
  }
  std::vector<int64_t> getOffsets(const Tile &tile) const;
  TileProduct getProduct(const Tile &tile,
                         llvm::ArrayRef<int64_t> offsets) const;
  Value *pad(Value *image);
  void clearPadding();
  void emitTile(const Tile &tile);
  void store(const Tile &tile, const TileProduct &product);
  Value *allocate(int64_t count) {
    auto *buffer = b.CreateAlloca(
        llvm::ArrayType::get(b.getComputeTy(kind), uint64_t(count)));
    buffer->setAlignment(llvm::Align(64));
    return buffer;
  }
  Value *getTotal(const TileProduct &product, unsigned number) {
    return b.getElement(totals, computeKind, number * product.lanes);
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
std::vector<int64_t> FewChannelEmitter::getOffsets(const Tile &tile) const {
  int64_t rowWidth = isPadded ? width : shape.width;
  std::vector<int64_t> offsets;
  for (unsigned i = 0; i < tile.rows; ++i) {
    int64_t row = tile.firstRow + i, tap = row / shape.channels;
    int64_t y = tap / shape.kernelW * shape.dilationH;
    int64_t x = tap % shape.kernelW * shape.dilationW;
    offsets.push_back((y * rowWidth + x) * shape.channels +
                      row % shape.channels);
  }
  return offsets;
}

TileProduct
FewChannelEmitter::getProduct(const Tile &tile,
                              llvm::ArrayRef<int64_t> offsets) const {
  unsigned count = (tile.channels + lanes - 1) / lanes;
  TileProduct product = {kind,
                         lanes,
                         tile.channels - (count - 1) * lanes,
                         tile.rows,
                         count,
                         /*pixelStride=*/0,
                         /*rowStride=*/shape.outChannels,
                         /*isPadded=*/false,
                         /*stepStride=*/shape.strideW * shape.channels};
  product.pixelOffsets = offsets;
  return product;
}

//===- Padding ------------------------------------------------------------===//

/// All of the copy; its inner part is written again for each image.
void FewChannelEmitter::clearPadding() {
  b.forVectors(height * width * shape.channels, lanes,
               [&](Value *i, unsigned active) {
                 b.store(kind, b.literal(kind, 0, active),
                         b.getElement(padded, kind, i));
               });
}

/// Copies the pixels at \p image that windows reach.
Value *FewChannelEmitter::pad(Value *image) {
  int64_t numRows = std::min(shape.height, height - shape.padTop);
  int64_t count = std::min(shape.width, width - shape.padLeft) * shape.channels;
  if (count <= 0)
    return padded;
  Value *first = b.getElement(
      padded, kind, (shape.padTop * width + shape.padLeft) * shape.channels);
  b.forLoop(std::max<int64_t>(numRows, 0), [&](Value *row) {
    Value *source = b.getElement(
        image, kind,
        b.addScaled(b.index(0), row, shape.width * shape.channels));
    Value *target = b.getElement(
        first, kind, b.addScaled(b.index(0), row, width * shape.channels));
    b.forVectors(count, lanes, [&](Value *i, unsigned active) {
      b.store(kind, b.load(kind, b.getElement(source, kind, i), active),
              b.getElement(target, kind, i));
    });
  });
  return padded;
}

//===- Tiles --------------------------------------------------------------===//

void FewChannelEmitter::store(const Tile &tile, const TileProduct &product) {
  for (unsigned r = 0; r < tile.rows; ++r)
    for (unsigned v = 0; v < product.vectors; ++v) {
      Value *total =
          b.load(computeKind, getTotal(product, r * product.vectors + v),
                 product.getLanes(v));
      Value *offset =
          b.addScaled(b.index(tile.firstRow + r),
                      b.CreateNSWAdd(tile.channel, b.index(v * lanes)), rows);
      b.storeStrided(kind, total, b.getElement(result, kind, offset), rows);
    }
}

void FewChannelEmitter::emitTile(const Tile &tile) {
  std::vector<int64_t> offsets = getOffsets(tile);
  TileProduct product = getProduct(tile, offsets);
  Values zeros = product.getZeros(b);
  for (auto [i, zero] : llvm::enumerate(zeros))
    b.store(computeKind, zero, getTotal(product, unsigned(i)));
  if (isPadded)
    clearPadding();
  b.forLoop(shape.batch, [&](Value *n) {
    Value *zero = b.index(0);
    Value *image = input.getAddress(b, {n, zero, zero, zero});
    int64_t rowWidth = shape.width;
    if (isPadded) {
      image = pad(image);
      rowWidth = width;
    }
    Values sums = b.forLoop(
        zero, b.index(shape.outHeight), 1, zeros,
        [&](Value *y, llvm::ArrayRef<Value *> carried) {
          Value *x = b.getElement(
              image, kind,
              b.addScaled(zero, y, shape.strideH * rowWidth * shape.channels));
          return product.accumulate(
              b, b.index(shape.outWidth), x,
              gradient.getAddress(b, {n, y, zero, tile.channel}),
              Values(carried));
        });
    for (auto [i, sum] : llvm::enumerate(sums)) {
      Value *address = getTotal(product, unsigned(i));
      Value *before = b.load(computeKind, address, lanes);
      b.store(computeKind, b.CreateFAdd(before, sum), address);
    }
  });
  store(tile, product);
}

void FewChannelEmitter::emit() {
  totals = allocate(int64_t(tileRows) * vectors * lanes);
  if (isPadded)
    padded = allocate(height * width * shape.channels);
  auto block = int64_t(vectors) * lanes;
  b.forTasks(tiles * blocks, getNumOperations(shape), [&](Value *task) {
    Values index = b.splitIndex(task, {tiles, blocks});
    Value *channel = b.addScaled(b.index(0), index[1], block);
    auto emitAt = [&](int64_t number, int64_t channels) {
      int64_t first = number * tileRows;
      emitTile({first, unsigned(std::min<int64_t>(tileRows, rows - first)),
                channel, unsigned(channels)});
    };
    int64_t left = shape.outChannels - (blocks - 1) * block;
    for (int64_t number = 0; number < tiles; ++number)
      b.ifThen(b.CreateICmpEQ(index[0], b.index(number)), [&] {
        if (blocks == 1 || left == block)
          return emitAt(number, blocks == 1 ? shape.outChannels : block);
        Value *isLast = b.CreateICmpEQ(index[1], b.index(blocks - 1));
        b.ifThen(b.CreateNot(isLast), [&] { emitAt(number, block); });
        b.ifThen(isLast, [&] { emitAt(number, left); });
      });
  });
}

void glowish::emitFewChannelFilterGradient(KernelBuilder &b,
                                           const ConvolutionShape &shape,
                                           Value *result, StridedOperand input,
                                           StridedOperand gradient) {
  FewChannelEmitter(b, shape, result, std::move(input), std::move(gradient))
      .emit();
}
