//===- Convolution.cpp - Direct convolution and matrix products -----------===//
//
// A tile of pixels by vectors of output channels stays in registers during the
// loops over taps and input channels: for each, one vector of weights
// a channel vector is loaded, one input element a pixel is broadcast, and
// pixels x vectors multiply-adds follow. In NHWC the taps of a kernel row and
// their channels lie side by side, so that away from the borders a kernel row
// is one long reduction.
//
// The output is cut into chunks of rows and blocks of channels; each pair is a
// task.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Convolution/LastColumns.h"
#include "Kernels/Epilogue.h"
#include "Kernels/MatMul/MicroKernel.h"

using namespace glowish;
using llvm::Value;

namespace {

class ConvolutionEmitter {
public:
  ConvolutionEmitter(KernelBuilder &b, const ConvolutionShape &shape, Tile tile,
                     const WeightLayout &layout, ConvolutionOperands operands,
                     DotInstr dot, int64_t numImages)
      : b(b), shape(shape), tile(tile), layout(layout), dot(dot),
        numImages(numImages), result(std::move(operands.result)),
        input(std::move(operands.input)), weights(operands.weights),
        bias(operands.bias),
        taps(operands.isBiasOfTaps ? TapRanges(shape) : TapRanges()),
        imageRows(b, shape, operands.needed),
        imageColumns(operands.needed.columns),
        neededColumns(operands.neededColumns),
        neededChannels(operands.neededChannels),
        neededDepth(operands.neededDepth), predicate(operands.predicate),
        epilogue(std::move(operands.epilogue)), kind(epilogue.kind),
        weightKind(operands.weightKind), lanes(b.getRegisterLanes(kind)) {}

  void emit();

private:
  /// Output channels that are computed together.
  struct Block {
    Value *channel;   // the first, of all groups
    Value *weights;   // of the block
    Value *inChannel; // the group's first input channel
    unsigned vectors, lastLanes;
    /// The number of blocks of packed weights whose channels these are.
    unsigned joined = 1;
    std::vector<TileRun> runs; // of one row
    /// The address of the next block's weights, and the bytes that each step of
    /// a tile prefetches; 0 where they are in the cache anyway.
    Value *nextWeights = nullptr;
    int64_t prefetchBytes = 0;
    /// Where the number of tiles is not known: how many share the prefetching,
    /// the number of the first, and the bytes of a step.
    Value *shares = nullptr, *firstShare = nullptr, *shareBytes = nullptr;
  };
  /// Where a tile is.
  struct Position {
    Value *batch, *row, *column;
    /// Of the tiles of the block.
    Value *number;
  };

  bool canOrderColumns() const;
  void emitOrderedTask(const ColumnOrder &columns, Value *task);
  Value *gather(Value *place, unsigned pixels);
  bool hasRows() const { return shape.batch * shape.outHeight > 1; }
  /// Returns how many rows, or columns of the only row, a run needs; null for
  /// all.
  Value *getNeeded() const {
    return hasRows() ? imageRows.count : neededColumns;
  }
  int64_t getNumUnits() const;
  Value *countNeededUnits() const;
  Value *countNeededTasks(int64_t chunks) const;
  void emitTask(Value *task);
  void emitBlock(Block block, Value *low, Value *high);
  void emitRows(const Block &block, Value *low, Value *high);
  void emitTiles(const Block &block, Value *low, Value *high);
  bool hasSmallTiles() const;
  Value *emitLastColumns(const Block &block, Value *low, Value *high);
  unsigned countJoined(unsigned pixels) const;
  Value *emitJoined(const Block &first, Value *number);
  void emitTile(const Block &block, const Position &position,
                const KernelRows &rows, const TileRun &run);
  MicroKernel getMicroKernel(const Block &block, unsigned pixels) const;
  Values emitKernelRow(const MicroKernel &microKernel, const TileRun &run,
                       Value *pixel, Value *rowWeights, Values sums,
                       Prefetch prefetch);
  void storeTile(const Block &block, const Position &position, unsigned pixels,
                 llvm::ArrayRef<Value *> sums);
  Prefetch getShare(const Block &block, Value *number, bool isWhole) const;
  void planPrefetch(Block &block, int64_t tiles) const;
  void sharePrefetch(Block &block, Value *low, Value *high,
                     int64_t unitTiles) const;
  int64_t countRowTiles(const Block &block) const;
  Value *addBias(Value *element, Value *sum, unsigned active);

  KernelBuilder &b;
  ConvolutionShape shape;
  Tile tile;
  WeightLayout layout;
  DotInstr dot;
  /// The number of images where a run may need one of them, else 1.
  int64_t numImages;
  StridedOperand result, input;
  Value *weights, *bias;
  /// Those that the bias differs by; one of each where it does not.
  TapRanges taps;
  /// The rows of images that are needed.
  ImageBands imageRows;
  /// The columns of images of several rows that are needed; null for all.
  Value *imageColumns;
  /// Null for all.
  Value *neededColumns, *neededChannels, *neededDepth;
  RowPredicate predicate;
  /// The order in which the code at hand computes columns; null for their own.
  /// Tiles count places of it.
  const ColumnOrder *order = nullptr;
  /// Room for the input pixels of a tile that are not neighbours.
  Value *gathered = nullptr;
  EpilogueCode epilogue;
  /// Of the sums.
  ElemKind kind;
  ElemKind weightKind;
  unsigned lanes;
  int64_t blocksPerGroup = 0, chunk = 0;
};

} // namespace

/// Whether the columns that a predicate states to be needed can be computed
/// alone: those of a matrix product.
bool ConvolutionEmitter::canOrderColumns() const {
  int64_t bytes =
      int64_t(tile.pixels) * shape.channels * getElemSize(input.kind) +
      4 * (shape.outWidth + 1);
  return predicate && !neededColumns && !hasRows() && shape.kernelH == 1 &&
         shape.kernelW == 1 && shape.strideW == 1 && !shape.padLeft &&
         shape.outWidth == shape.width && shape.group == 1 &&
         shape.outWidth % predicate.count == 0 && dot == DotInstr::None &&
         bytes <= b.getTarget().maxStackBytes / 2;
}

/// Emits the code of \p task twice: for runs that need all columns, where it is
/// as fast as without a predicate, and for others.
void ConvolutionEmitter::emitOrderedTask(const ColumnOrder &columns,
                                         Value *task) {
  Value *areAll =
      b.CreateICmpEQ(columns.getNumNeeded(), b.index(shape.outWidth));
  b.ifThen(areAll, [&] { emitTask(task); });
  order = &columns;
  neededColumns = columns.getNumNeeded();
  b.ifThen(b.CreateNot(areAll), [&] { emitTask(task); });
  order = nullptr;
  neededColumns = nullptr;
}

/// Returns the address of the input of \p pixels pixels from place \p place of
/// the order on, one after the other: copies of them, unless they are
/// neighbours anyway.
Value *ConvolutionEmitter::gather(Value *place, unsigned pixels) {
  int64_t depth = shape.channels;
  Values columns, sources;
  for (unsigned p = 0; p < pixels; ++p) {
    columns.push_back(order->getColumn(b, b.CreateNSWAdd(place, b.index(p))));
    sources.push_back(b.getElement(input.base, input.kind,
                                   b.scaleIndex(columns[p], input.strides[2])));
  }
  Value *areApart =
      b.CreateICmpNE(b.CreateNSWSub(columns.back(), columns.front()),
                     b.index(int64_t(pixels) - 1));
  if (input.strides[2] != depth)
    areApart = b.getTrue();
  b.ifThen(areApart, [&] {
    for (unsigned p = 0; p < pixels; ++p)
      b.CreateMemCpy(b.getElement(gathered, input.kind, p * depth),
                     llvm::Align(1), sources[p], llvm::Align(1),
                     uint64_t(depth) * getElemSize(input.kind));
  });
  return b.CreateSelect(areApart, gathered, sources.front());
}

/// Adds the bias from \p element on. It is loaded when the sums are done: in
/// registers before, it would leave too few for them.
Value *ConvolutionEmitter::addBias(Value *element, Value *sum,
                                   unsigned active) {
  if (!bias)
    return sum;
  Value *loaded = b.load(kind, b.getElement(bias, kind, element), active);
  loaded = b.widen(loaded, lanes);
  return isFloatKind(kind) ? b.CreateFAdd(sum, loaded)
                           : b.CreateAdd(sum, loaded);
}

MicroKernel ConvolutionEmitter::getMicroKernel(const Block &block,
                                               unsigned pixels) const {
  return {
      .kind = kind,
      .lanes = lanes,
      .lastLanes = block.lastLanes,
      .pixels = pixels,
      .vectors = block.vectors,
      .pixelStride = order ? shape.channels : input.strides[2] * shape.strideW,
      .rowStride = layout.rowStride,
      .isPadded = layout.isPadded,
      .blockVectors = block.joined > 1 ? block.vectors / block.joined : 0,
      .blockStride = block.joined > 1 ? layout.blockStride : 0,
      .takesLanes = b.getTarget().hasMultiplyByLane && dot == DotInstr::None,
      .inputKind = input.kind,
      .weightKind = weightKind,
      .dot = dot};
}

/// One row of the kernel. \p pixel: the input element under tap 0 of pixel 0,
/// perhaps outside of the image, where no tap that applies reads it.
Values ConvolutionEmitter::emitKernelRow(const MicroKernel &microKernel,
                                         const TileRun &run, Value *pixel,
                                         Value *rowWeights, Values sums,
                                         Prefetch prefetch) {
  int64_t depth = shape.getGroupChannels();
  if (neededDepth)
    return microKernel.accumulate(b, neededDepth, pixel, rowWeights,
                                  std::move(sums));
  bool isContiguous = shape.dilationW == 1 && input.strides[2] == depth;
  if (run.isInterior() && isContiguous)
    return microKernel.accumulate(b, {0, run.pixels}, shape.kernelW * depth,
                                  pixel, rowWeights, std::move(sums), prefetch);
  for (int64_t kw = 0; kw < shape.kernelW; ++kw) {
    if (run.taps[kw].empty())
      continue;
    Value *tap = b.CreateGEP(b.getStorageTy(input.kind), pixel,
                             b.index(kw * shape.dilationW * input.strides[2]));
    Value *tapWeights =
        b.getElement(rowWeights, weightKind, kw * depth * layout.rowStride);
    sums = microKernel.accumulate(b, run.taps[kw], depth, tap, tapWeights,
                                  std::move(sums), prefetch);
    if (prefetch.bytesPerStep)
      prefetch.address = b.CreateConstInBoundsGEP1_64(
          b.getInt8Ty(), prefetch.address, depth * prefetch.bytesPerStep);
  }
  return sums;
}

void ConvolutionEmitter::emitTile(const Block &block, const Position &position,
                                  const KernelRows &rows, const TileRun &run) {
  Value *column = b.CreateNSWSub(b.scaleIndex(position.column, shape.strideW),
                                 b.index(shape.padLeft));
  Value *offset = b.addScaled(
      b.addScaled(block.inChannel, position.batch, input.strides[0]), column,
      input.strides[2]);
  Value *firstPixels = order ? gather(position.column, run.pixels) : nullptr;
  MicroKernel microKernel = getMicroKernel(block, run.pixels);
  int64_t rowTaps = shape.kernelW * shape.getGroupChannels();
  Prefetch slice = getShare(block, position.number, run.pixels == tile.pixels);
  Values sums = b.forLoop(
      rows.low, rows.high, 1, microKernel.getZeros(b),
      [&](Value *kh, llvm::ArrayRef<Value *> carried) {
        Value *row =
            b.CreateNSWAdd(rows.firstRow, b.scaleIndex(kh, shape.dilationH));
        // Not inbounds: at the left border it may lie before the image.
        Value *pixel =
            order ? firstPixels
                  : b.CreateGEP(b.getStorageTy(input.kind), input.base,
                                b.addScaled(offset, row, input.strides[1]));
        Value *rowWeights =
            b.getElement(block.weights, weightKind,
                         b.scaleIndex(kh, rowTaps * layout.rowStride));
        Prefetch prefetch = slice;
        if (prefetch.bytesPerStep)
          prefetch.address = b.CreateInBoundsGEP(
              b.getInt8Ty(), slice.address,
              b.scaleIndex(kh, rowTaps * slice.bytesPerStep));
        return emitKernelRow(microKernel, run, pixel, rowWeights,
                             Values(carried), prefetch);
      });
  Value *rowRange = taps.getRow(b, position.row);
  for (unsigned p = 0; p < run.pixels; ++p)
    for (unsigned v = 0; v < block.vectors; ++v) {
      Value *&sum = sums[p * block.vectors + v];
      Value *element =
          b.addScaled(b.CreateNSWAdd(block.channel, b.index(v * lanes)),
                      taps.getPair(b, rowRange, run, p), shape.outChannels);
      sum = addBias(element, sum, microKernel.getLanes(v));
    }
  storeTile(block, position, run.pixels, sums);
}

/// Stores \p sums of \p pixels pixels; of few channels, as many pixels together
/// as fit a vector.
void ConvolutionEmitter::storeTile(const Block &block, const Position &position,
                                   unsigned pixels,
                                   llvm::ArrayRef<Value *> sums) {
  Values columns; // in an order of their own
  for (unsigned p = 0; order && p < pixels; ++p)
    columns.push_back(
        order->getColumn(b, b.CreateNSWAdd(position.column, b.index(p))));
  auto getIndex = [&](unsigned pixel, unsigned vector) {
    return std::array<Value *, 4>{
        position.batch, position.row,
        order ? columns[pixel]
              : b.CreateNSWAdd(position.column, b.index(pixel)),
        b.CreateNSWAdd(block.channel, b.index(vector * lanes))};
  };
  unsigned channels = unsigned(shape.outChannels);
  if (shape.outChannels <= lanes / 2 && shape.group == 1 && !order &&
      canJoinPixels(result, epilogue, channels)) {
    for (unsigned p = 0; p < pixels; p += lanes / channels) {
      unsigned count = std::min(lanes / channels, pixels - p);
      storePixels(b, result, epilogue, getIndex(p, 0), sums.slice(p, count),
                  channels);
    }
    return;
  }
  for (unsigned p = 0; p < pixels; ++p)
    for (unsigned v = 0; v < block.vectors; ++v)
      storeResult(b, result, epilogue, getIndex(p, v),
                  sums[p * block.vectors + v],
                  v + 1 == block.vectors ? block.lastLanes : lanes);
}

/// Rows \p low ... \p high - 1 of all batches.
void ConvolutionEmitter::emitRows(const Block &block, Value *low, Value *high) {
  b.forLoop(low, high, 1, [&](Value *unit) {
    Value *batch = b.index(0), *row = unit;
    if (shape.batch > 1) {
      batch = b.CreateUDiv(unit, imageRows.perImage);
      row = b.CreateURem(unit, imageRows.perImage);
    }
    KernelRows rows = getKernelRows(b, shape, row);
    int64_t before = 0;
    Value *rowNumber = b.scaleIndex(unit, countRowTiles(block));
    for (const TileRun &run : block.runs) {
      Value *count = b.index(run.count);
      if (imageColumns) {
        Value *columns = b.CreateNSWSub(getEndColumn(b, run, imageColumns),
                                        b.index(run.column));
        count = b.divideUp(b.maxIndex(columns, b.index(0)), run.pixels);
      }
      b.forLoop(count, [&](Value *i) {
        Value *number =
            b.CreateNSWAdd(rowNumber, b.CreateNSWAdd(i, b.index(before)));
        Value *column = b.addScaled(b.index(run.column), i, run.pixels);
        emitTile(block, {batch, row, column, number}, rows, run);
      });
      before += run.count;
    }
  });
}

/// Tiles \p low ... \p high - 1 of the only row.
void ConvolutionEmitter::emitTiles(const Block &block, Value *low,
                                   Value *high) {
  KernelRows rows = getKernelRows(b, shape, b.index(0));
  Value *end = high;
  if (hasSmallTiles())
    end = emitLastColumns(block, low, high);
  int64_t before = 0;
  for (const TileRun &run : block.runs) {
    Value *first = b.maxIndex(low, b.index(before));
    Value *last = b.minIndex(end, b.index(before + run.count));
    b.forLoop(first, last, 1, [&](Value *number) {
      Value *column = b.addScaled(b.index(run.column - before * run.pixels),
                                  number, run.pixels);
      emitTile(block, {b.index(0), b.index(0), column, number}, rows, run);
    });
    before += run.count;
  }
}

bool ConvolutionEmitter::hasSmallTiles() const {
  return neededColumns && glowish::hasSmallTiles(shape, tile.pixels);
}

/// Computes the columns behind the last whole tile that is needed, if that is
/// one of \p low ... \p high - 1; returns the end of the tiles that are left.
Value *ConvolutionEmitter::emitLastColumns(const Block &block, Value *low,
                                           Value *high) {
  KernelRows rows = getKernelRows(b, shape, b.index(0));
  auto emitSmall = [&](unsigned pixels, Value *column) {
    TileRun run = splitRow(shape, pixels).front();
    Value *number = b.divideUp(column, tile.pixels);
    emitTile(block, {b.index(0), b.index(0), column, number}, rows, run);
  };
  return LastColumns(tile, shape.outWidth, b.getTarget())
      .emit(b, neededColumns, low, high, emitSmall);
}

/// Returns how many blocks of channels a tile of \p pixels takes together where
/// a run needs no other columns: a block alone has too few sums.
unsigned ConvolutionEmitter::countJoined(unsigned pixels) const {
  unsigned size = tile.vectors * lanes;
  auto whole = unsigned(shape.getGroupOutChannels() / size);
  bool areTiles = !hasRows() && hasSmallTiles() && !order && !neededChannels &&
                  layout.isPadded && layout.rowStride == size;
  unsigned sums = pixels * tile.vectors;
  if (!areTiles || pixels >= tile.pixels)
    return 1;
  return std::min(getFewestSums(b.getTarget()) / sums, whole);
}

/// Computes block \p first, which is number \p number of its group, and those
/// behind it that it is joined with, in runs that need few columns; returns
/// whether it is not to be computed otherwise, null for never.
Value *ConvolutionEmitter::emitJoined(const Block &first, Value *number) {
  Value *isDone = nullptr;
  int64_t whole = shape.getGroupOutChannels() / (tile.vectors * lanes);
  for (unsigned pixels = 1; countJoined(pixels) > 1; ++pixels) {
    unsigned joined = countJoined(pixels);
    Value *isFew =
        b.CreateAnd(b.CreateICmpEQ(neededColumns, b.index(pixels)),
                    b.CreateICmpSLT(number, b.index(whole / joined * joined)));
    Value *isFirst =
        b.CreateICmpEQ(b.CreateURem(number, b.index(joined)), b.index(0));
    b.ifThen(b.CreateAnd(isFew, isFirst), [&] {
      Block block = first;
      block.joined = joined;
      block.vectors *= joined;
      planPrefetch(block, /*tiles=*/1);
      KernelRows rows = getKernelRows(b, shape, b.index(0));
      emitTile(block, {b.index(0), b.index(0), b.index(0), b.index(0)}, rows,
               splitRow(shape, pixels).front());
    });
    isDone = isDone ? b.CreateOr(isDone, isFew) : isFew;
  }
  return isDone;
}

/// What tile \p number of a block prefetches, which is perhaps a whole one.
Prefetch ConvolutionEmitter::getShare(const Block &block, Value *number,
                                      bool isWhole) const {
  Prefetch share;
  share.bytesPerStep = block.prefetchBytes;
  if (!share.bytesPerStep)
    return share;
  Value *offset;
  if (block.shares) {
    // A whole tile of a matrix is seldom the only one.
    if (isWhole && !hasRows())
      share.bytesPerStep = (share.bytesPerStep + 1) / 2;
    share.stride = block.shareBytes;
    offset =
        b.CreateNSWMul(b.CreateNSWSub(number, block.firstShare),
                       b.CreateNSWMul(share.stride, b.index(shape.getTaps())));
  } else {
    offset = b.scaleIndex(number, shape.getTaps() * share.bytesPerStep);
  }
  share.address = b.CreateInBoundsGEP(b.getInt8Ty(), block.nextWeights, offset);
  return share;
}

/// Where the weights are more than other layers leave in the second cache, each
/// of the \p tiles of a block prefetches a share of the next block's weights.
void ConvolutionEmitter::planPrefetch(Block &block, int64_t tiles) const {
  int64_t size = int64_t(getElemSize(weightKind));
  int64_t blockBytes = layout.blockStride * size;
  // A single tile would spend much of its time on requests.
  const TargetDescription &target = b.getTarget();
  int64_t cached = tiles == 1 ? target.cacheBytes : target.getNearBytes();
  if (!layout.isPadded || (chunk != getNumUnits() && !getNeeded()) ||
      blockBytes * blocksPerGroup <= cached)
    return;
  int64_t perTile = (blockBytes + tiles - 1) / tiles;
  block.prefetchBytes = (perTile + shape.getTaps() - 1) / shape.getTaps();
  // A single tile prefetches its own weights, at a fixed distance.
  constexpr int64_t distanceBytes = 4096;
  block.nextWeights =
      b.getElement(block.weights, weightKind,
                   tiles == 1 ? distanceBytes / size : layout.blockStride);
}

/// The same for the tiles of units \p low ... \p high - 1, of which a run
/// states how many there are, and each has \p unitTiles.
void ConvolutionEmitter::sharePrefetch(Block &block, Value *low, Value *high,
                                       int64_t unitTiles) const {
  int64_t size = int64_t(getElemSize(weightKind));
  int64_t blockBytes = layout.blockStride * size;
  if (!layout.isPadded ||
      blockBytes * blocksPerGroup <= b.getTarget().getNearBytes())
    return;
  constexpr int64_t distanceBytes = 4096;
  int64_t perStep = (blockBytes + shape.getTaps() - 1) / shape.getTaps();
  block.prefetchBytes = (perStep + unitTiles - 1) / unitTiles;
  block.firstShare = b.scaleIndex(low, unitTiles);
  block.shares = b.maxIndex(b.scaleIndex(b.CreateNSWSub(high, low), unitTiles),
                            b.index(1));
  block.shareBytes = b.CreateUDiv(
      b.CreateNSWAdd(block.shares, b.index(perStep - 1)), block.shares);
  // A single tile prefetches its own weights, at a fixed distance.
  Value *isSingle = b.CreateICmpEQ(block.shares, b.index(1));
  block.nextWeights =
      b.getElement(block.weights, weightKind,
                   b.CreateSelect(isSingle, b.index(distanceBytes / size),
                                  b.index(layout.blockStride)));
}

int64_t ConvolutionEmitter::countRowTiles(const Block &block) const {
  int64_t tiles = 0;
  for (const TileRun &run : block.runs)
    tiles += run.count;
  return tiles;
}

/// Returns the number of units that the output is divided into: rows, or tiles
/// of a single row.
int64_t ConvolutionEmitter::getNumUnits() const {
  if (hasRows())
    return shape.batch * shape.outHeight;
  return (shape.outWidth + tile.pixels - 1) / tile.pixels;
}

/// Returns the number of units with something that is needed.
Value *ConvolutionEmitter::countNeededUnits() const {
  if (!getNeeded())
    return b.index(getNumUnits());
  return hasRows() ? imageRows.count : b.divideUp(neededColumns, tile.pixels);
}

/// Returns the number of tasks up to the last chunk, or of a single chunk the
/// last block, with something that is needed; null for all.
Value *ConvolutionEmitter::countNeededTasks(int64_t chunks) const {
  if (chunks == 1 && neededChannels && shape.group == 1)
    return b.divideUp(neededChannels, tile.vectors * lanes);
  if (chunks == 1 || !getNeeded())
    return nullptr;
  return b.scaleIndex(b.divideUp(countNeededUnits(), chunk),
                      blocksPerGroup * shape.group);
}

void ConvolutionEmitter::emitBlock(Block block, Value *low, Value *high) {
  unsigned pixels = tile.pixels;
  // Tiles of a single row are counted in those of a whole block.
  if (block.vectors != tile.vectors && hasRows())
    pixels = chooseTilePixels(shape, block.vectors, b.getTarget());
  block.runs = splitRow(shape, pixels);
  if (!hasRows() && hasSmallTiles()) {
    // Columns behind the whole tiles are emitLastColumns' own.
    if (block.runs.size() > 1)
      block.runs.pop_back();
    sharePrefetch(block, low, high, /*unitTiles=*/1);
  } else if (hasRows() && imageRows.count) {
    sharePrefetch(block, low, high, countRowTiles(block));
  } else {
    planPrefetch(block, countRowTiles(block) *
                            (hasRows() ? shape.batch * shape.outHeight : 1));
  }
  if (hasRows())
    emitRows(block, low, high);
  else
    emitTiles(block, low, high);
}

/// Task: (chunk * groups + group) * blocks + block.
void ConvolutionEmitter::emitTask(Value *task) {
  auto split = [&](Value *value, int64_t extent) -> std::array<Value *, 2> {
    if (extent == 1)
      return {value, b.index(0)};
    return {b.CreateUDiv(value, b.index(extent)),
            b.CreateURem(value, b.index(extent))};
  };
  auto [outer, number] = split(task, blocksPerGroup);
  auto [chunkNumber, group] = split(outer, shape.group);
  int64_t units = getNumUnits();
  Value *low = b.scaleIndex(chunkNumber, chunk);
  Value *needed = countNeededUnits();
  Value *high = b.minIndex(b.CreateNSWAdd(low, b.index(chunk)), needed);
  if (chunk == units) {
    low = b.index(0);
    high = needed;
  }

  unsigned size = tile.vectors * lanes;
  int64_t channels = shape.getGroupOutChannels();
  Block block;
  block.inChannel = b.scaleIndex(group, shape.getGroupChannels());
  block.channel = b.addScaled(b.scaleIndex(group, channels), number, size);
  // Several tiles share a block that was packed for wider vectors.
  auto [packed, part] =
      split(number, layout.isPadded ? layout.rowStride / size : 1);
  Value *groupOffset = b.scaleIndex(group, layout.groupStride);
  block.weights = b.getElement(
      weights, weightKind,
      b.addScaled(b.addScaled(groupOffset, packed, layout.blockStride), part,
                  size));
  block.vectors = tile.vectors;
  block.lastLanes = lanes;
  int64_t whole = channels / size;
  unsigned left = unsigned(channels % size);
  if (neededChannels)
    high = b.CreateSelect(b.CreateICmpSLT(block.channel, neededChannels), high,
                          low);
  if (Value *isDone = emitJoined(block, number))
    high = b.CreateSelect(isDone, low, high);
  if (!left)
    return emitBlock(block, low, high);
  Block last = block;
  last.vectors = (left + lanes - 1) / lanes;
  last.lastLanes = (left - 1) % lanes + 1;
  if (whole == 0)
    return emitBlock(last, low, high);
  Value *isWhole = b.CreateICmpULT(number, b.index(whole));
  b.ifThen(isWhole, [&] { emitBlock(block, low, high); });
  b.ifThen(b.CreateNot(isWhole), [&] { emitBlock(last, low, high); });
}

void ConvolutionEmitter::emit() {
  unsigned size = tile.vectors * lanes;
  blocksPerGroup = (shape.getGroupOutChannels() + size - 1) / size;
  int64_t units = getNumUnits(), blocks = blocksPerGroup * shape.group;
  chunk = chooseChunk(shape, kind, units, blocks, numImages, b.getTarget());
  int64_t chunks = (units + chunk - 1) / chunk;
  int64_t numTasks = chunks * blocks;
  // For few pixels the weights' way from memory takes longer than
  // multiplying by them: a byte as long as some eight operations.
  int64_t readCost =
      8 * blocks * layout.blockStride * int64_t(getElemSize(weightKind));
  int64_t cost = std::max(getNumOperations(shape), readCost);
  if (!canOrderColumns())
    return b.forTasks(
        numTasks, cost, [&](Value *task) { emitTask(task); },
        countNeededTasks(chunks));
  ColumnOrder columns(b, predicate, shape.outWidth);
  gathered = b.allocate(input.kind, tile.pixels * shape.channels);
  b.forTasks(numTasks, cost,
             [&](Value *task) { emitOrderedTask(columns, task); });
}

void glowish::emitConvolution(KernelBuilder &b, ConvolutionShape shape,
                              Tile tile, const WeightLayout &layout,
                              ConvolutionOperands operands, DotInstr dot) {
  int64_t numImages = operands.needed.images ? shape.batch : 1;
  // A 1x1 convolution without strides and padding is a matrix product.
  collapsePointwise(shape, operands);
  ConvolutionEmitter(b, shape, tile, layout, std::move(operands), dot,
                     numImages)
      .emit();
}
