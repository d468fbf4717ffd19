//===- RowTiles.cpp - Tiles over the rows under windows -------------------===//

#include "Kernels/Convolution/RowTiles.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;
using llvm::Value;

RowWeights::RowWeights(const ConvolutionShape &shape, int64_t channels)
    : channels(channels),
      blocks(llvm::divideCeilSigned(shape.getGroupOutChannels(), channels)),
      kernelRows(shape.kernelH),
      segments(shape.dilationW == 1 ? 1 : shape.kernelW) {}

RowTiles::RowTiles(KernelBuilder &b, const ConvolutionShape &shape,
                   int64_t pixels, int64_t columns, ConvolutionOperands taken,
                   const RowWeights &weights, const RowsLayout &layout)
    : b(b), shape(shape), pixels(pixels), columns(columns),
      operands(std::move(taken)), layout(layout), weights(weights) {}

Values RowTiles::addRows(const Block &block, Value *first, int64_t own,
                         bool isShort, Values sums) {
  Value *offset = b.scaleIndex(first, shape.strideW * layout.columnStride);
  // Loops of rows that need none themselves would take much of the time.
  return b.forUnrolled(
      shape.kernelH, isShort ? shape.kernelH : 1, sums,
      [&](Value *kh, llvm::ArrayRef<Value *> carried) {
        Values current(carried);
        Value *pixel = b.getElement(getRows().getRow(kh), layout.kind, offset);
        int64_t rowBytes = weights.segments * weights.segmentBytes;
        Value *rowWeights = b.getElement(block.weights, ElemKind::Int8,
                                         b.scaleIndex(kh, rowBytes));
        for (int64_t s = 0; s < weights.segments; ++s)
          current = addSegment(
              b.getElement(pixel, layout.kind,
                           s * shape.dilationW * layout.columnStride),
              b.getElement(rowWeights, ElemKind::Int8,
                           s * weights.segmentBytes),
              own, std::move(current));
        return current;
      });
}

void RowTiles::emitTiles(const Strip &strip, const Block &block) {
  // Strips are whole tiles; but the last one, which may be the only one.
  int64_t left = shape.outWidth % pixels;
  Value *whole = strip.count;
  if (left)
    whole =
        b.CreateNSWSub(strip.count, b.CreateURem(strip.count, b.index(pixels)));
  b.forLoop(b.index(0), whole, pixels,
            [&](Value *first) { emitTile(strip, block, first, pixels); });
  if (left)
    b.forLoop(whole, strip.count, left,
              [&](Value *first) { emitTile(strip, block, first, left); });
}

void RowTiles::emitBlocks(const Strip &strip) {
  int64_t channels = shape.getGroupOutChannels();
  auto getBlock = [&](Value *number, int64_t own) {
    Value *place = b.addScaled(number, strip.group, weights.blocks);
    return Block{b.addScaled(b.scaleIndex(strip.group, channels), number,
                             weights.channels),
                 b.getElement(operands.weights, ElemKind::Int8,
                              b.scaleIndex(place, weights.getBlockBytes())),
                 own};
  };
  int64_t whole = channels / weights.channels;
  b.forLoop(whole, [&](Value *number) {
    emitTiles(strip, getBlock(number, weights.channels));
  });
  if (channels % weights.channels)
    emitTiles(strip, getBlock(b.index(whole), channels % weights.channels));
}

Value *RowTiles::getNeededColumns() const {
  return shape.batch * shape.outHeight > 1 ? operands.needed.columns
                                           : operands.neededColumns;
}

/// Returns the end of the columns that are needed, whole tiles.
Value *RowTiles::getEndColumn() {
  Value *end = b.index(shape.outWidth);
  if (!getNeededColumns())
    return end;
  Value *tiles = b.divideUp(getNeededColumns(), pixels);
  return b.minIndex(b.scaleIndex(tiles, pixels), end);
}

/// The columns from \p column on, of all rows.
void RowTiles::emitStrip(Value *batch, Value *group, Value *column) {
  getRows().begin(batch, group, column);
  Value *count = b.index(columns);
  if (shape.outWidth % columns || getNeededColumns())
    count = b.minIndex(count, b.CreateNSWSub(getEndColumn(), column));
  b.forLoop(ImageBands(b, shape, operands.needed).endRow, [&](Value *row) {
    getRows().load(row);
    emitBlocks({batch, group, row, column, count});
  });
}

void RowTiles::emit() {
  Value *images = operands.needed.images;
  b.forLoop(images ? images : b.index(shape.batch), [&](Value *batch) {
    b.forLoop(shape.group, [&](Value *group) {
      b.forLoop(b.index(0), getEndColumn(), columns,
                [&](Value *column) { emitStrip(batch, group, column); });
    });
  });
}
