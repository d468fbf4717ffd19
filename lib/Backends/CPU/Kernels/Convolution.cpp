//===- Convolution.cpp - Direct convolution and matrix products -----------===//
//
// A tile of pixels by vectors of output channels stays in registers while the
// kernel's taps and the input channels go by: for each, one vector of weights
// a channel vector is loaded, one input element a pixel is broadcast, and
// pixels x vectors multiply-adds follow. In NHWC the taps of a kernel row and
// their channels lie side by side, so that away from the borders a kernel row
// is one long reduction.
//
//===----------------------------------------------------------------------===//

#include "Epilogue.h"
#include "Window.h"

using namespace glowish;
using llvm::Value;

//===- Choices --------------------------------------------------------------===//

/// Cycles of one reduction step of a tile on a core with two multiply-add
/// units of latency 4 and two load ports.
static double getStepCost(unsigned pixels, unsigned vectors) {
  double arithmetic = pixels * vectors / 2.0;
  double loads = (pixels + vectors) / 2.0;
  return std::max({arithmetic, loads, 4.0});
}

Tile glowish::chooseTile(const ConvolutionShape &shape, ElemKind kind,
                         const TargetDescription &target) {
  unsigned lanes =
      target.getLanes(kind == ElemKind::Double ? 8 : 4);
  unsigned registers = target.numVectorRegisters;
  int64_t channelVectors =
      (shape.getGroupOutChannels() + lanes - 1) / lanes;
  Tile best{1, 1};
  double bestCost = std::numeric_limits<double>::infinity();
  for (unsigned vectors = 1; vectors <= 8; ++vectors) {
    if (vectors > 1 && int64_t(vectors) > channelVectors)
      break;
    // Accumulators, the weights of one step and one broadcast element.
    if (registers < 2 * vectors + 1)
      break;
    unsigned most = (registers - 1 - vectors) / vectors;
    for (unsigned pixels = 1;
         pixels <= most && int64_t(pixels) <= shape.outWidth; ++pixels) {
      auto rowCost = [&](unsigned v) {
        int64_t whole = shape.outWidth / pixels, rest = shape.outWidth % pixels;
        return double(whole) * getStepCost(pixels, v) +
               (rest ? getStepCost(unsigned(rest), v) : 0);
      };
      int64_t blocks = channelVectors / vectors;
      unsigned left = unsigned(channelVectors % vectors);
      double cost = double(blocks) * rowCost(vectors) + (left ? rowCost(left) : 0);
      // Of equals the wider tile: it loads less.
      if (cost < bestCost * 0.999) {
        best = {pixels, vectors};
        bestCost = cost;
      }
    }
  }
  return best;
}

static int64_t getTaps(const ConvolutionShape &shape) {
  return shape.kernelH * shape.kernelW * shape.getGroupChannels();
}

WeightLayout glowish::getPackedLayout(const ConvolutionShape &shape,
                                      unsigned block) {
  int64_t blocks = (shape.getGroupOutChannels() + block - 1) / block;
  int64_t blockStride = getTaps(shape) * block;
  return {int64_t(block), blockStride, blocks * blockStride,
          /*isPadded=*/true};
}

WeightLayout glowish::getPlainLayout(const ConvolutionShape &shape,
                                     unsigned block) {
  int64_t channels = shape.getGroupOutChannels();
  return {channels, int64_t(block), getTaps(shape) * channels,
          /*isPadded=*/false};
}

int64_t glowish::getPackedSize(const ConvolutionShape &shape, unsigned block) {
  return getPackedLayout(shape, block).groupStride * shape.group;
}

//===- Code -----------------------------------------------------------------===//

namespace {

class ConvolutionEmitter {
public:
  ConvolutionEmitter(KernelBuilder &b, const ConvolutionShape &shape, Tile tile,
                     const WeightLayout &layout, StridedOperand result,
                     StridedOperand input, Value *weights, Value *bias,
                     EpilogueCode epilogue)
      : b(b), shape(shape), tile(tile), layout(layout),
        result(std::move(result)), input(std::move(input)), weights(weights),
        bias(bias), epilogue(std::move(epilogue)), kind(this->input.kind),
        lanes(b.getRegisterLanes(kind)) {}

  void emit();

private:
  /// Output channels that are computed together.
  struct Block {
    Value *channel;  // the first, of all groups
    Value *weights;  // of the block
    Value *inChannel; // the group's first input channel
    unsigned vectors, lastLanes;
  };
  /// Where a tile is.
  struct Position {
    Value *batch, *row, *column;
  };

  void flattenRows();
  void emitBlock(const Block &block);
  void emitTile(const Block &block, const Position &position,
                const KernelRows &rows, const TileRun &run);
  Values startAccumulators(const Block &block, unsigned pixels);
  Values emitKernelRow(const Block &block, const TileRun &run, Value *pixel,
                       Value *rowWeights, Values accumulators);
  Values reduce(const Block &block, PixelRange pixels, int64_t length,
                Value *pixel, Value *tapWeights, Values accumulators);
  unsigned getLanes(const Block &block, unsigned vector) const {
    return vector + 1 == block.vectors ? block.lastLanes : lanes;
  }

  KernelBuilder &b;
  ConvolutionShape shape;
  Tile tile;
  WeightLayout layout;
  StridedOperand result, input;
  Value *weights, *bias;
  EpilogueCode epilogue;
  ElemKind kind;
  unsigned lanes;
};

} // namespace

/// A 1x1 convolution without strides and padding is a matrix product: rows and
/// batch become one long row, where the operands' strides allow it.
void ConvolutionEmitter::flattenRows() {
  if (shape.kernelH != 1 || shape.kernelW != 1 || shape.strideH != 1 ||
      shape.strideW != 1 || shape.outHeight != shape.height ||
      shape.outWidth != shape.width || shape.padTop || shape.padLeft)
    return;
  std::vector<StridedOperand *> operands = {&result, &input};
  for (StridedOperand &operand : epilogue.fused)
    operands.push_back(&operand);
  auto join = [&](unsigned outer, unsigned inner, int64_t extent) {
    return llvm::all_of(operands, [&](const StridedOperand *operand) {
      return operand->strides[outer] == operand->strides[inner] * extent;
    });
  };
  if (shape.height > 1 && !join(1, 2, shape.width))
    return;
  shape.width *= shape.height;
  shape.outWidth = shape.width;
  shape.height = shape.outHeight = 1;
  if (shape.batch == 1 || !join(0, 2, shape.width))
    return;
  shape.width *= shape.batch;
  shape.outWidth = shape.width;
  shape.batch = 1;
}

Values ConvolutionEmitter::startAccumulators(const Block &block,
                                             unsigned pixels) {
  Values biases;
  for (unsigned v = 0; v < block.vectors; ++v) {
    if (!bias) {
      biases.push_back(b.literal(kind, 0, lanes));
      continue;
    }
    Value *channel = b.CreateNSWAdd(block.channel, b.index(v * lanes));
    biases.push_back(b.widen(
        b.load(kind, b.getElement(bias, kind, channel), getLanes(block, v)),
        lanes));
  }
  Values accumulators;
  for (unsigned p = 0; p < pixels; ++p)
    accumulators.append(biases.begin(), biases.end());
  return accumulators;
}

/// \p length steps: elements side by side from \p pixel on (for pixel 0 of the
/// tile) against rows of weights.
Values ConvolutionEmitter::reduce(const Block &block, PixelRange pixels,
                                  int64_t length, Value *pixel,
                                  Value *tapWeights, Values accumulators) {
  unsigned unroll = tile.pixels * tile.vectors > 12 ? 2 : 4;
  int64_t pixelStride = input.strides[2] * shape.strideW;
  return b.forUnrolled(
      length, unroll, accumulators,
      [&](Value *k, llvm::ArrayRef<Value *> carried) {
        Values current(carried), rows;
        Value *row = b.getElement(
            tapWeights, kind, b.addScaled(b.index(0), k, layout.rowStride));
        for (unsigned v = 0; v < block.vectors; ++v) {
          unsigned there = layout.isPadded ? lanes : getLanes(block, v);
          rows.push_back(b.widen(
              b.load(kind, b.getElement(row, kind, int64_t(v * lanes)), there),
              lanes));
        }
        Value *element = b.getElement(pixel, kind, k);
        for (unsigned p = pixels.first; p < pixels.end; ++p) {
          Value *x = b.splat(
              b.load(kind, b.getElement(element, kind, p * pixelStride), 1),
              lanes);
          for (unsigned v = 0; v < block.vectors; ++v) {
            Value *&sum = current[p * block.vectors + v];
            sum = b.multiplyAdd(x, rows[v], sum);
          }
        }
        return current;
      });
}

/// One row of the kernel. \p pixel: the input element under tap 0 of pixel 0,
/// perhaps outside of the image, where no tap that applies reads it.
Values ConvolutionEmitter::emitKernelRow(const Block &block,
                                         const TileRun &run, Value *pixel,
                                         Value *rowWeights,
                                         Values accumulators) {
  int64_t depth = shape.getGroupChannels();
  bool isContiguous = shape.dilationW == 1 && input.strides[2] == depth;
  if (run.isInterior() && isContiguous)
    return reduce(block, {0, run.pixels}, shape.kernelW * depth, pixel,
                  rowWeights, std::move(accumulators));
  for (int64_t kw = 0; kw < shape.kernelW; ++kw) {
    if (run.taps[kw].empty())
      continue;
    Value *tap = b.CreateGEP(
        b.getStorageTy(kind), pixel,
        b.index(kw * shape.dilationW * input.strides[2]));
    Value *tapWeights =
        b.getElement(rowWeights, kind, kw * depth * layout.rowStride);
    accumulators = reduce(block, run.taps[kw], depth, tap, tapWeights,
                          std::move(accumulators));
  }
  return accumulators;
}

void ConvolutionEmitter::emitTile(const Block &block, const Position &position,
                                  const KernelRows &rows, const TileRun &run) {
  Value *column = b.CreateNSWSub(
      b.addScaled(b.index(0), position.column, shape.strideW),
      b.index(shape.padLeft));
  Value *offset = b.addScaled(
      b.addScaled(block.inChannel, position.batch, input.strides[0]), column,
      input.strides[2]);
  Values accumulators = b.forLoop(
      rows.low, rows.high, 1, startAccumulators(block, run.pixels),
      [&](Value *kh, llvm::ArrayRef<Value *> carried) {
        Value *row = b.CreateNSWAdd(
            rows.firstRow, b.addScaled(b.index(0), kh, shape.dilationH));
        // Not inbounds: at the left border it may lie before the image.
        Value *pixel =
            b.CreateGEP(b.getStorageTy(kind), input.base,
                        b.addScaled(offset, row, input.strides[1]));
        Value *rowWeights = b.getElement(
            block.weights, kind,
            b.addScaled(b.index(0), kh,
                        shape.kernelW * shape.getGroupChannels() *
                            layout.rowStride));
        return emitKernelRow(block, run, pixel, rowWeights, Values(carried));
      });
  for (unsigned p = 0; p < run.pixels; ++p)
    for (unsigned v = 0; v < block.vectors; ++v)
      storeResult(b, result, epilogue,
                  {position.batch, position.row,
                   b.CreateNSWAdd(position.column, b.index(p)),
                   b.CreateNSWAdd(block.channel, b.index(v * lanes))},
                  accumulators[p * block.vectors + v], getLanes(block, v));
}

void ConvolutionEmitter::emitBlock(const Block &block) {
  std::vector<TileRun> runs = splitRow(shape, tile.pixels);
  b.forLoop(shape.batch, [&](Value *batch) {
    b.forLoop(shape.outHeight, [&](Value *row) {
      KernelRows rows = getKernelRows(b, shape, row);
      for (const TileRun &run : runs)
        b.forLoop(b.index(run.column),
                  b.index(run.column + run.count * run.pixels), run.pixels,
                  [&](Value *column) {
                    emitTile(block, {batch, row, column}, rows, run);
                  });
    });
  });
}

void ConvolutionEmitter::emit() {
  flattenRows();
  unsigned size = tile.vectors * lanes;
  int64_t channels = shape.getGroupOutChannels();
  int64_t whole = channels / size;
  unsigned left = unsigned(channels % size);
  b.forLoop(shape.group, [&](Value *group) {
    Value *groupWeights = b.getElement(
        weights, kind, b.addScaled(b.index(0), group, layout.groupStride));
    Value *inChannel =
        b.addScaled(b.index(0), group, shape.getGroupChannels());
    auto emitAt = [&](Value *number, unsigned vectors, unsigned lastLanes) {
      Value *first = b.addScaled(b.addScaled(b.index(0), group, channels),
                                 number, size);
      Value *blockWeights = b.getElement(
          groupWeights, kind,
          b.addScaled(b.index(0), number, layout.blockStride));
      emitBlock({first, blockWeights, inChannel, vectors, lastLanes});
    };
    b.forLoop(whole,
              [&](Value *number) { emitAt(number, tile.vectors, lanes); });
    if (left)
      emitAt(b.index(whole), (left + lanes - 1) / lanes,
             (left - 1) % lanes + 1);
  });
}

void glowish::emitConvolution(KernelBuilder &b, const ConvolutionShape &shape,
                              Tile tile, const WeightLayout &layout,
                              StridedOperand result, StridedOperand input,
                              Value *weights, Value *bias,
                              EpilogueCode epilogue) {
  ConvolutionEmitter(b, shape, tile, layout, std::move(result),
                     std::move(input), weights, bias, std::move(epilogue))
      .emit();
}
