//===- DualConvolution.cpp - Convolutions of pairs of int16 ---------------===//
//
// Sums of a few pixels by a few output channels stay in registers. A step loads
// a word of weights for each two channels, which it widens to a pair for each
// of them, and a pair of each pixel's widened elements.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Dual/DualConvolution.h"
#include "Kernels/Dual/DualLoop.h"
#include "Kernels/Epilogue.h"
#include "Kernels/Math/DotInstrs.h"

using namespace glowish;
using llvm::Value;

static constexpr ElemKind sumKind = ElemKind::Int32;

namespace {

class DualEmitter {
public:
  DualEmitter(KernelBuilder &b, const ConvolutionShape &shape, DualTile tile,
              int64_t columns, ConvolutionOperands taken)
      : b(b), shape(shape), tile(tile), columns(columns),
        operands(std::move(taken)), weights(shape, tile.channels),
        layout(getWidenedLayout(shape, weights.order, columns)),
        rows(b, this->shape, operands.input, operands.zeroPoint, weights.order,
             layout) {}

  void emit();

private:
  /// Output channels that are computed together, the last of a group perhaps
  /// fewer than the weights are packed for.
  struct Block {
    Value *channel; // the first, of all groups
    Value *weights;
    int64_t channels;
  };
  /// The output columns of one widening.
  struct Strip {
    Value *batch, *group, *row, *column, *count;
  };

  void emitStrip(Value *batch, Value *group, Value *column);
  void emitBlocks(const Strip &strip);
  void emitTiles(const Strip &strip, const Block &block);
  void emitTile(const Strip &strip, const Block &block, Value *first,
                int64_t pixels);
  Values addSegment(Value *pixel, Value *segmentWeights, int64_t pixels,
                    Values sums);

  KernelBuilder &b;
  ConvolutionShape shape;
  DualTile tile;
  int64_t columns;
  ConvolutionOperands operands;
  DualWeights weights;
  RowsLayout layout;
  WidenedRows rows;
};

} // namespace

/// The sums of a tile, pixel by pixel, plus those over a segment. \p pixel: the
/// elements of the first pixel.
Values DualEmitter::addSegment(Value *pixel, Value *segmentWeights,
                               int64_t pixels, Values sums) {
  int64_t pixelStride = shape.strideW * layout.columnStride;
  bool isEven =
      pixelStride % 2 == 0 &&
      (weights.segments == 1 || shape.dilationW * layout.columnStride % 2 == 0);
  llvm::Align align(isEven ? 4 : 2);
  auto addPair = [&](int64_t number, Value *pixel, Value *segmentWeights,
                     llvm::ArrayRef<Value *> carried) {
    Values current(carried), channelPairs;
    for (int64_t c = 0; c < tile.channels; c += 2) {
      Value *word = b.load(ElemKind::Int32,
                           b.getElement(segmentWeights, ElemKind::Int8,
                                        2 * c + 2 * number * tile.channels),
                           1);
      channelPairs.push_back(emitWidenedPair(b, word, /*isSigned=*/true));
      channelPairs.push_back(
          emitWidenedPair(b, emitRotated(b, word, 8), /*isSigned=*/true));
    }
    for (int64_t p = 0; p < pixels; ++p) {
      Value *address =
          b.getElement(pixel, ElemKind::Int16, p * pixelStride + 2 * number);
      Value *x = b.CreateAlignedLoad(b.getInt32Ty(), address, align);
      for (int64_t c = 0; c < tile.channels; ++c) {
        Value *&sum = current[size_t(p * tile.channels + c)];
        sum = emitDualMultiplyAdd(b, sum, x, channelPairs[size_t(c)]);
      }
    }
    return current;
  };
  int64_t left = weights.pairs;
  DualLoop loop = {pixelStride};
  if (isEven && pixels == DualLoop::pixels &&
      tile.channels == DualLoop::channels && loop.isPossible(b.getTarget())) {
    auto [added, nextPixel, nextWeights] =
        loop.emit(b, left / 2, {std::move(sums), pixel, segmentWeights});
    sums = std::move(added);
    return left % 2 ? addPair(0, nextPixel, nextWeights, sums) : sums;
  }
  constexpr int64_t unroll = 4;
  int64_t rounded = weights.pairs / unroll * unroll;
  sums.push_back(pixel);
  sums.push_back(segmentWeights);
  sums = b.forLoop(
      b.index(0), b.index(rounded), unroll, sums,
      [&](Value *, llvm::ArrayRef<Value *> carried) {
        Values current(carried.drop_back(2));
        Value *x = carried.drop_back().back(), *w = carried.back();
        for (int64_t i = 0; i < unroll; ++i)
          current = addPair(i, x, w, current);
        current.push_back(b.getElement(x, ElemKind::Int16, 2 * unroll));
        current.push_back(
            b.getElement(w, ElemKind::Int8, 2 * unroll * tile.channels));
        return current;
      });
  segmentWeights = sums.pop_back_val();
  pixel = sums.pop_back_val();
  for (int64_t i = 0; i < weights.pairs - rounded; ++i)
    sums = addPair(i, pixel, segmentWeights, sums);
  return sums;
}

/// \p pixels pixels from number \p first of the strip on.
void DualEmitter::emitTile(const Strip &strip, const Block &block, Value *first,
                           int64_t pixels) {
  Values sums;
  for (int64_t p = 0; p < pixels; ++p)
    for (int64_t c = 0; c < tile.channels; ++c) {
      Value *start = b.literal(sumKind, 0, 1);
      if (operands.bias && c < block.channels)
        start = b.load(
            sumKind,
            b.getElement(b.getElement(operands.bias, sumKind, block.channel),
                         sumKind, c),
            1);
      sums.push_back(start);
    }
  Value *offset =
      b.addScaled(b.index(0), first, shape.strideW * layout.columnStride);
  // Loops of rows that need none themselves would take much of the time.
  constexpr int64_t fewPairs = 8;
  bool isShort = weights.segments * weights.pairs <= fewPairs;
  sums = b.forUnrolled(
      shape.kernelH, isShort ? shape.kernelH : 1, sums,
      [&](Value *kh, llvm::ArrayRef<Value *> carried) {
        Values current(carried);
        Value *pixel = b.getElement(rows.getRow(kh), ElemKind::Int16, offset);
        int64_t rowBytes = weights.segments * weights.getSegmentBytes();
        Value *rowWeights = b.getElement(block.weights, ElemKind::Int8,
                                         b.addScaled(b.index(0), kh, rowBytes));
        for (int64_t s = 0; s < weights.segments; ++s)
          current = addSegment(
              b.getElement(pixel, ElemKind::Int16,
                           s * shape.dilationW * layout.columnStride),
              b.getElement(rowWeights, ElemKind::Int8,
                           s * weights.getSegmentBytes()),
              pixels, std::move(current));
        return current;
      });
  ResultAddresses addresses(b, operands.result, operands.epilogue,
                            {strip.batch, strip.row,
                             b.CreateNSWAdd(strip.column, first),
                             block.channel});
  for (int64_t p = 0; p < pixels; ++p)
    for (int64_t c = 0; c < block.channels; ++c)
      addresses.store(b, {0, 0, p, c}, sums[size_t(p * tile.channels + c)]);
}

void DualEmitter::emitTiles(const Strip &strip, const Block &block) {
  // Strips are whole tiles; but the last one, which may be the only one.
  int64_t left = shape.outWidth % tile.pixels;
  Value *whole = strip.count;
  if (left)
    whole = b.CreateNSWSub(strip.count,
                           b.CreateURem(strip.count, b.index(tile.pixels)));
  b.forLoop(b.index(0), whole, tile.pixels,
            [&](Value *first) { emitTile(strip, block, first, tile.pixels); });
  if (left)
    b.forLoop(whole, strip.count, left,
              [&](Value *first) { emitTile(strip, block, first, left); });
}

void DualEmitter::emitBlocks(const Strip &strip) {
  int64_t channels = shape.getGroupOutChannels();
  auto getBlock = [&](Value *number, int64_t own) {
    Value *place = b.addScaled(number, strip.group, weights.blocks);
    return Block{
        b.addScaled(b.addScaled(b.index(0), strip.group, channels), number,
                    tile.channels),
        b.getElement(operands.weights, ElemKind::Int8,
                     b.addScaled(b.index(0), place, weights.getBlockBytes())),
        own};
  };
  int64_t whole = channels / tile.channels;
  b.forLoop(whole, [&](Value *number) {
    emitTiles(strip, getBlock(number, tile.channels));
  });
  if (channels % tile.channels)
    emitTiles(strip, getBlock(b.index(whole), channels % tile.channels));
}

/// The columns from \p column on, of all rows.
void DualEmitter::emitStrip(Value *batch, Value *group, Value *column) {
  rows.begin(batch, group, column);
  Value *count = b.index(columns);
  if (shape.outWidth % columns)
    count = b.minIndex(count, b.CreateNSWSub(b.index(shape.outWidth), column));
  b.forLoop(shape.outHeight, [&](Value *row) {
    rows.load(row);
    emitBlocks({batch, group, row, column, count});
  });
}

void DualEmitter::emit() {
  b.forLoop(shape.batch, [&](Value *batch) {
    b.forLoop(shape.group, [&](Value *group) {
      b.forLoop(b.index(0), b.index(shape.outWidth), columns,
                [&](Value *column) { emitStrip(batch, group, column); });
    });
  });
}

void glowish::emitDualConvolution(KernelBuilder &b, ConvolutionShape shape,
                                  DualTile tile, ConvolutionOperands operands) {
  collapsePointwise(shape, operands);
  int64_t columns = chooseDualColumns(shape, tile, b.getTarget());
  DualEmitter(b, shape, tile, columns, std::move(operands)).emit();
}
