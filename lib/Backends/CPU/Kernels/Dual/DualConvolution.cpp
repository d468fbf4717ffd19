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

class DualEmitter final : public RowTiles {
public:
  DualEmitter(KernelBuilder &b, const ConvolutionShape &shape, DualTile tile,
              int64_t columns, ConvolutionOperands taken)
      : RowTiles(b, shape, tile.pixels, columns, std::move(taken), weights,
                 getWidenedLayout(
                     shape, DualWeights(shape, tile.channels).order, columns)),
        weights(shape, tile.channels),
        rows(b, this->shape, operands.input, operands.zeroPoint, weights.order,
             layout) {}

private:
  WindowRows &getRows() override { return rows; }
  void emitTile(const Strip &strip, const Block &block, Value *first,
                int64_t own) override;
  Values addSegment(Value *pixel, Value *segmentWeights, int64_t own,
                    Values sums) override;

  DualWeights weights;
  WidenedRows rows;
};

} // namespace

Values DualEmitter::addSegment(Value *pixel, Value *segmentWeights, int64_t own,
                               Values sums) {
  int64_t pixelStride = shape.strideW * layout.columnStride;
  bool isEven =
      pixelStride % 2 == 0 &&
      (weights.segments == 1 || shape.dilationW * layout.columnStride % 2 == 0);
  llvm::Align align(isEven ? 4 : 2);
  auto addPair = [&](int64_t number, Value *pixel, Value *segmentWeights,
                     llvm::ArrayRef<Value *> carried) {
    Values current(carried), channelPairs;
    for (int64_t c = 0; c < weights.channels; c += 2) {
      Value *word = b.load(ElemKind::Int32,
                           b.getElement(segmentWeights, ElemKind::Int8,
                                        2 * c + 2 * number * weights.channels),
                           1);
      channelPairs.push_back(emitWidenedPair(b, word, /*isSigned=*/true));
      channelPairs.push_back(
          emitWidenedPair(b, emitRotated(b, word, 8), /*isSigned=*/true));
    }
    for (int64_t p = 0; p < own; ++p) {
      Value *address =
          b.getElement(pixel, ElemKind::Int16, p * pixelStride + 2 * number);
      Value *x = b.CreateAlignedLoad(b.getInt32Ty(), address, align);
      for (int64_t c = 0; c < weights.channels; ++c) {
        Value *&sum = current[size_t(p * weights.channels + c)];
        sum = emitDualMultiplyAdd(b, sum, x, channelPairs[size_t(c)]);
      }
    }
    return current;
  };
  int64_t left = weights.pairs;
  DualLoop loop = {pixelStride};
  if (isEven && own == DualLoop::pixels &&
      weights.channels == DualLoop::channels &&
      loop.isPossible(b.getTarget())) {
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
            b.getElement(w, ElemKind::Int8, 2 * unroll * weights.channels));
        return current;
      });
  segmentWeights = sums.pop_back_val();
  pixel = sums.pop_back_val();
  for (int64_t i = 0; i < weights.pairs - rounded; ++i)
    sums = addPair(i, pixel, segmentWeights, sums);
  return sums;
}

void DualEmitter::emitTile(const Strip &strip, const Block &block, Value *first,
                           int64_t own) {
  Values sums;
  for (int64_t p = 0; p < own; ++p)
    for (int64_t c = 0; c < weights.channels; ++c) {
      Value *start = b.literal(sumKind, 0, 1);
      if (operands.bias && c < block.channels)
        start = b.loadElement(
            sumKind, b.getElement(operands.bias, sumKind, block.channel), c, 1);
      sums.push_back(start);
    }
  constexpr int64_t fewPairs = 8;
  bool isShort = weights.segments * weights.pairs <= fewPairs;
  sums = addRows(block, first, own, isShort, std::move(sums));
  ResultAddresses addresses(b, operands.result, operands.epilogue,
                            {strip.batch, strip.row,
                             b.CreateNSWAdd(strip.column, first),
                             block.channel});
  for (int64_t p = 0; p < own; ++p)
    for (int64_t c = 0; c < block.channels; ++c)
      addresses.store(b, {0, 0, p, c}, sums[size_t(p * weights.channels + c)]);
}

void glowish::emitDualConvolution(KernelBuilder &b, ConvolutionShape shape,
                                  DualTile tile, ConvolutionOperands operands) {
  collapsePointwise(shape, operands);
  int64_t columns = chooseDualColumns(shape, tile, b.getTarget());
  DualEmitter(b, shape, tile, columns, std::move(operands)).emit();
}
