//===- ChannelSums.cpp - Convolutions with few output channels ------------===//
//
// Vectors of output channels would have few lanes in use. Here they go along
// the input channels, and where a row of the kernel lies side by side in the
// image along all of it: each lane has a part of an output's sum, and the lanes
// are added at the end. A load of the input serves all output channels of a
// tile, one of the weights all of its pixels.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Convolution/ChannelSums.h"
#include "Kernels/Convolution/LastColumns.h"
#include "Kernels/Convolution/Window.h"
#include "Kernels/Epilogue.h"
#include "Kernels/Math/LaneSums.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;
using llvm::Value;

//===- Tiles --------------------------------------------------------------===//

/// Returns whether the taps of a kernel row lie side by side in the image.
static bool hasLongRows(const ConvolutionShape &shape, int64_t pixelStride) {
  return shape.dilationW == 1 && pixelStride == shape.getGroupChannels();
}

/// Returns the cycles of one step: a vector of each pixel's input and each
/// channel's weights, and all multiply-adds. As for direct convolutions, the
/// last two terms are for what loads and the loop cost beside.
static double getStepCost(ChannelSumsTile tile, bool crossesLines,
                          const TargetDescription &target) {
  double multiplyAdds = double(tile.pixels * tile.channels);
  double loads = double((crossesLines ? 2 : 1) * tile.pixels + tile.channels);
  if (!target.issuesWidely)
    return (multiplyAdds * (target.splitsMultiplyAdd ? 2 : 1) + loads + 1) /
           target.instrsPerCycle;
  // Two multiply-add units of latency 4 and two load ports.
  double busy = std::max({multiplyAdds / 2, 4.0, loads / 2});
  return busy + double(tile.pixels + tile.channels) / 9 + 0.7;
}

/// Returns the most pixels for tiles of \p channels: beside the sums, registers
/// hold a vector of each channel's weights and one of the input.
static int64_t getMostPixels(int64_t channels,
                             const TargetDescription &target) {
  int64_t others = channels + (target.splitsMultiplyAdd ? 2 : 1);
  // Narrow cores load ahead.
  if (!target.issuesWidely && target.numVectorRegisters > 16)
    others += 2;
  return std::max<int64_t>(1, (target.numVectorRegisters - others) / channels);
}

std::vector<ChannelSumsChoice>
glowish::rankChannelSums(const ConvolutionShape &shape, ElemKind kind,
                         int64_t pixelStride, const TargetDescription &target) {
  bool isLong = hasLongRows(shape, pixelStride);
  int64_t lanes = target.getComputeLanes(kind);
  int64_t length = shape.getGroupChannels() * (isLong ? shape.kernelW : 1);
  if (lanes <= 1 || length < lanes ||
      shape.batch * shape.outHeight * shape.outWidth == 0)
    return {};
  constexpr int64_t lineBytes = 64;
  int64_t vectorBytes = lanes * int64_t(getElemSize(kind));
  bool crossesLines = vectorBytes == lineBytes &&
                      pixelStride * int64_t(getElemSize(kind)) % lineBytes != 0;
  double steps = double(shape.kernelH * (isLong ? 1 : shape.kernelW) *
                        llvm::divideCeil(length, lanes));
  auto getTileCost = [&](ChannelSumsTile tile) {
    // With the start of the sums, their lanes' sum and the epilogue.
    return steps * getStepCost(tile, crossesLines, target) + 20 +
           2.5 * double(tile.pixels * tile.channels);
  };
  int64_t outChannels = shape.getGroupOutChannels();
  auto getCost = [&](ChannelSumsTile tile) {
    int64_t whole = shape.outWidth / tile.pixels;
    int64_t rest = shape.outWidth % tile.pixels;
    auto getRowCost = [&](int64_t channels) {
      return double(whole) * getTileCost({tile.pixels, channels}) +
             (rest ? getTileCost({rest, channels}) : 0);
    };
    int64_t left = outChannels % tile.channels;
    return double(outChannels / tile.channels) * getRowCost(tile.channels) +
           (left ? getRowCost(left) : 0);
  };
  // Winograd's estimates are too high where output channels are few: a quarter
  // more keeps those in front that are faster.
  constexpr double caution = 1.25;
  double rows = double(shape.group * shape.batch * shape.outHeight);
  std::vector<ChannelSumsChoice> choices;
  int64_t mostChannels = std::min({int64_t(4), lanes, outChannels});
  for (int64_t channels = 1; channels <= mostChannels; ++channels) {
    ChannelSumsChoice &best = choices.emplace_back();
    best.cycles = std::numeric_limits<double>::infinity();
    int64_t most = std::min(getMostPixels(channels, target), shape.outWidth);
    // Fewer pixels mean more loads of the weights.
    for (int64_t pixels = (most + 1) / 2; pixels <= most; ++pixels) {
      double cycles = caution * rows * getCost({pixels, channels});
      if (cycles < best.cycles)
        best = {{pixels, channels}, cycles};
    }
  }
  llvm::sort(choices, [](const auto &a, const auto &b) {
    return std::tie(a.cycles, a.tile.channels) <
           std::tie(b.cycles, b.tile.channels);
  });
  return choices;
}

//===- The kernel ---------------------------------------------------------===//

namespace {

class ChannelSumsEmitter {
public:
  ChannelSumsEmitter(KernelBuilder &b, const ConvolutionShape &shape,
                     ChannelSumsTile tile, ConvolutionOperands operands)
      : b(b), shape(shape), tile(tile), operands(std::move(operands)),
        kind(this->operands.epilogue.kind),
        runs(splitRow(shape, unsigned(tile.pixels))),
        lanes(b.getRegisterLanes(kind)) {
    // A vector has a lane for each channel of a pixel at the end. The tile may
    // be that of code with wider vectors.
    this->tile.channels = std::min<int64_t>(tile.channels, lanes);
    isMatrix = this->operands.neededColumns &&
               shape.batch * shape.outHeight == 1 &&
               hasSmallTiles(shape, tile.pixels);
    // Columns behind the whole tiles are those of LastColumns.
    if (isMatrix && runs.size() > 1)
      runs.pop_back();
  }

  void emit();

private:
  /// Output channels that are computed together.
  struct Block {
    Value *inChannel;  // the group's first
    Value *outChannel; // the first, of all groups
    int64_t channels;
  };
  struct Position {
    Value *batch, *row, *column;
  };

  void emitRow(Value *batch, Value *row, Value *low, Value *high);
  void emitBlocks(llvm::function_ref<void(const Block &)> body);
  void emitTile(const Block &block, const Position &position,
                const KernelRows &rows, const TileRun &run);
  Values addKernelRow(const Block &block, const TileRun &run, Value *pixel,
                      Value *rowWeights, Values sums);
  Values addRun(const Block &block, PixelRange range, int64_t length,
                Value *pixel, Value *weights, Values sums);
  void addVector(const Block &block, PixelRange range, Value *pixel,
                 Value *weights, unsigned number, Values &sums);
  Value *load(Value *address, int64_t offset, unsigned number);
  Values sumPixels(const Block &block, llvm::ArrayRef<Value *> sums);
  void storeTile(const Block &block, const Position &position, Values pixels);

  KernelBuilder &b;
  ConvolutionShape shape;
  ChannelSumsTile tile;
  ConvolutionOperands operands;
  ElemKind kind;
  /// The tiles of an output row.
  std::vector<TileRun> runs;
  /// Whether a run needs some rows of a matrix, columns here.
  bool isMatrix;
  unsigned lanes;
};

} // namespace

/// Loads \p number elements, with zeros behind them.
Value *ChannelSumsEmitter::load(Value *address, int64_t offset,
                                unsigned number) {
  return b.padWithZeros(b.loadElement(kind, address, offset, number), kind,
                        lanes);
}

/// Adds the products of \p number elements of each pixel of \p range.
void ChannelSumsEmitter::addVector(const Block &block, PixelRange range,
                                   Value *pixel, Value *weights,
                                   unsigned number, Values &sums) {
  pixel = b.keepOffsets(pixel);
  weights = b.keepOffsets(weights);
  Values factors;
  for (int64_t c = 0; c < block.channels; ++c)
    factors.push_back(load(weights, c * shape.getTaps(), number));
  int64_t stride = operands.input.strides[2] * shape.strideW;
  for (unsigned p = range.first; p < range.end; ++p) {
    Value *elements = load(pixel, p * stride, number);
    for (int64_t c = 0; c < block.channels; ++c) {
      Value *&sum = sums[size_t(p * block.channels + c)];
      sum = b.multiplyAdd(elements, factors[size_t(c)], sum);
    }
  }
}

/// Returns \p sums plus the products of \p length elements that lie side by
/// side, of each pixel of \p range.
Values ChannelSumsEmitter::addRun(const Block &block, PixelRange range,
                                  int64_t length, Value *pixel, Value *weights,
                                  Values sums) {
  // More steps would leave too few registers for what is loaded ahead.
  int64_t unroll = range.end * block.channels > 12 ? 1 : 2;
  sums = b.forUnrolled(
      length / lanes, unroll, sums,
      [&](Value *i, llvm::ArrayRef<Value *> carried) {
        Values current(carried);
        Value *first = b.scaleIndex(i, lanes);
        addVector(block, range, b.getElement(pixel, kind, first),
                  b.getElement(weights, kind, first), lanes, current);
        return current;
      });
  int64_t whole = length / lanes * lanes;
  if (whole != length)
    addVector(block, range, b.getElement(pixel, kind, whole),
              b.getElement(weights, kind, whole), unsigned(length - whole),
              sums);
  return sums;
}

/// \p pixel: the input element under tap 0 of pixel 0, perhaps outside of the
/// image, where no tap that applies reads it.
Values ChannelSumsEmitter::addKernelRow(const Block &block, const TileRun &run,
                                        Value *pixel, Value *rowWeights,
                                        Values sums) {
  int64_t depth = shape.getGroupChannels();
  int64_t pixelStride = operands.input.strides[2];
  if (run.isInterior() && hasLongRows(shape, pixelStride))
    return addRun(block, {0, run.pixels}, shape.kernelW * depth, pixel,
                  rowWeights, std::move(sums));
  for (int64_t kw = 0; kw < shape.kernelW; ++kw) {
    if (run.taps[size_t(kw)].empty())
      continue;
    Value *tap = b.CreateGEP(b.getStorageTy(kind), pixel,
                             b.index(kw * shape.dilationW * pixelStride));
    sums = addRun(block, run.taps[size_t(kw)], depth, tap,
                  b.getElement(rowWeights, kind, kw * depth), std::move(sums));
  }
  return sums;
}

/// Returns a vector for each pixel, of its sums' lanes' sums: as many lanes as
/// the power of 2 that is not less than the channels.
Values ChannelSumsEmitter::sumPixels(const Block &block,
                                     llvm::ArrayRef<Value *> sums) {
  auto channels = size_t(block.channels);
  auto own = unsigned(llvm::PowerOf2Ceil(channels));
  // Pixels whose sums are added together.
  size_t together = lanes / own;
  Values pixels;
  for (; !sums.empty();
       sums = sums.drop_front(std::min(sums.size(), together * channels))) {
    size_t count = std::min(together, sums.size() / channels);
    Values vectors(llvm::PowerOf2Ceil(count) * own, b.literal(kind, 0, lanes));
    for (size_t p = 0; p < count; ++p)
      for (size_t c = 0; c < channels; ++c)
        vectors[p * own + c] = sums[p * channels + c];
    Value *added = sumLanes(b, vectors);
    for (size_t p = 0; p < count; ++p) {
      llvm::SmallVector<int, 16> mask;
      for (unsigned c = 0; c < own; ++c)
        mask.push_back(int(p * own + c));
      bool isScalar = vectors.size() == 1;
      pixels.push_back(isScalar   ? added
                       : own == 1 ? b.CreateExtractElement(added, uint64_t(p))
                                  : b.CreateShuffleVector(added, mask));
    }
  }
  return pixels;
}

/// Stores \p pixels, vectors of their channels; of few channels, as many pixels
/// together as fit a register.
void ChannelSumsEmitter::storeTile(const Block &block, const Position &position,
                                   Values pixels) {
  auto channels = unsigned(block.channels);
  if (operands.bias) {
    Value *bias = b.load(
        kind, b.getElement(operands.bias, kind, block.outChannel), channels);
    for (Value *&pixel : pixels)
      pixel =
          b.CreateFAdd(pixel, b.widen(bias, KernelBuilder::getLanes(pixel)));
  }
  bool joins = channels == shape.outChannels && channels <= lanes &&
               canJoinPixels(operands.result, operands.epilogue, channels);
  size_t together = joins ? lanes / channels : 1;
  llvm::ArrayRef<Value *> left = pixels;
  for (size_t p = 0; p < pixels.size(); p += together) {
    std::array<Value *, 4> index = {
        position.batch, position.row,
        b.CreateNSWAdd(position.column, b.index(int64_t(p))), block.outChannel};
    if (joins)
      storePixels(b, operands.result, operands.epilogue, index,
                  left.slice(p, std::min(together, pixels.size() - p)),
                  channels);
    else
      storeResult(b, operands.result, operands.epilogue, index, pixels[p],
                  channels);
  }
}

void ChannelSumsEmitter::emitTile(const Block &block, const Position &position,
                                  const KernelRows &rows, const TileRun &run) {
  const StridedOperand &input = operands.input;
  Value *column = b.CreateNSWSub(b.scaleIndex(position.column, shape.strideW),
                                 b.index(shape.padLeft));
  Value *offset = b.scaleIndex(position.batch, input.strides[0]);
  offset = b.addScaled(offset, column, input.strides[2]);
  offset = b.CreateNSWAdd(offset, block.inChannel);
  Value *weights = b.getElement(
      operands.weights, kind, b.scaleIndex(block.outChannel, shape.getTaps()));
  Values sums(size_t(run.pixels * block.channels), b.literal(kind, 0, lanes));
  sums = b.forLoop(
      rows.low, rows.high, 1, sums,
      [&](Value *kh, llvm::ArrayRef<Value *> carried) {
        Value *row =
            b.CreateNSWAdd(rows.firstRow, b.scaleIndex(kh, shape.dilationH));
        // Not inbounds: at the left border it may lie before the image.
        Value *pixel = b.CreateGEP(b.getStorageTy(kind), input.base,
                                   b.addScaled(offset, row, input.strides[1]));
        Value *rowWeights = b.getElement(
            weights, kind, b.scaleIndex(kh, shape.getTaps() / shape.kernelH));
        return addKernelRow(block, run, pixel, rowWeights, Values(carried));
      });
  storeTile(block, position, sumPixels(block, sums));
}

void ChannelSumsEmitter::emitBlocks(
    llvm::function_ref<void(const Block &)> body) {
  int64_t channels = shape.getGroupOutChannels();
  b.forLoop(shape.group, [&](Value *group) {
    auto getBlock = [&](Value *number, int64_t own) {
      return Block{
          b.scaleIndex(group, shape.getGroupChannels()),
          b.addScaled(b.scaleIndex(group, channels), number, tile.channels),
          own};
    };
    int64_t whole = channels / tile.channels;
    b.forLoop(whole,
              [&](Value *number) { body(getBlock(number, tile.channels)); });
    if (int64_t left = channels % tile.channels)
      body(getBlock(b.index(whole), left));
  });
}

/// Computes tiles \p low ... \p high - 1 of row \p row of image \p batch.
void ChannelSumsEmitter::emitRow(Value *batch, Value *row, Value *low,
                                 Value *high) {
  KernelRows rows = getKernelRows(b, shape, row);
  emitBlocks([&](const Block &block) {
    Value *end = high;
    if (isMatrix) {
      Tile sums = {unsigned(tile.pixels), unsigned(block.channels)};
      end = LastColumns(sums, shape.outWidth, b.getTarget())
                .emit(b, operands.neededColumns, low, high,
                      [&](unsigned pixels, Value *column) {
                        emitTile(block, {batch, row, column}, rows,
                                 splitRow(shape, pixels).front());
                      });
    }
    int64_t before = 0;
    for (const TileRun &run : runs) {
      Value *first = b.maxIndex(low, b.index(before));
      Value *last = b.minIndex(end, b.index(before + run.count));
      b.forLoop(first, last, 1, [&](Value *number) {
        Value *column = b.addScaled(b.index(run.column - before * run.pixels),
                                    number, run.pixels);
        emitTile(block, {batch, row, column}, rows, run);
      });
      before += run.count;
    }
  });
}

void ChannelSumsEmitter::emit() {
  int64_t tiles = llvm::divideCeil(shape.outWidth, tile.pixels);
  int64_t operations = getNumOperations(shape);
  auto countParts = [&](Value *needed, int64_t size) {
    return needed ? b.divideUp(needed, size) : nullptr;
  };
  if (shape.batch * shape.outHeight > 1) {
    ImageBands rows(b, shape, operands.needed);
    Value *rowTiles = countParts(operands.needed.columns, tile.pixels);
    return b.forTasks(
        shape.batch * shape.outHeight, operations,
        [&](Value *unit) {
          emitRow(b.CreateUDiv(unit, rows.perImage),
                  b.CreateURem(unit, rows.perImage), b.index(0),
                  rowTiles ? rowTiles : b.index(tiles));
        },
        rows.count);
  }
  // The tiles of a single row are the tasks, some at a time.
  constexpr int64_t together = 16;
  Value *needed = countParts(operands.neededColumns, tile.pixels);
  b.forTasks(
      int64_t(llvm::divideCeil(tiles, together)), operations,
      [&](Value *task) {
        Value *low = b.scaleIndex(task, together);
        Value *high = b.minIndex(b.CreateNSWAdd(low, b.index(together)),
                                 needed ? needed : b.index(tiles));
        emitRow(b.index(0), b.index(0), low, high);
      },
      countParts(needed, together));
}

void glowish::emitChannelSums(KernelBuilder &b, ConvolutionShape shape,
                              ChannelSumsTile tile,
                              ConvolutionOperands operands) {
  collapsePointwise(shape, operands);
  ChannelSumsEmitter(b, shape, tile, std::move(operands)).emit();
}
