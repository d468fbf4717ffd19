//===- WinogradConvolution.cpp - Convolution with few multiplications -----===//
//
// A task transforms the inputs of its tiles to
//
//   inputs   [point][tile][channel]
//
// and then, for one block of output channels after the other, multiplies them
// with the filters and transforms the results back:
//
//   matMulResults [point][tile][output channel of the block]
//
// Both are on the stack and stay in the second cache.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Convolution/LastColumns.h"
#include "Kernels/Epilogue.h"
#include "Kernels/MatMul/MicroKernel.h"
#include "Kernels/Winograd/Winograd.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;
using llvm::Value;

namespace {

class WinogradEmitter : private WinogradBlocking {
public:
  WinogradEmitter(KernelBuilder &b, const ConvolutionShape &shape,
                  WinogradSize size, unsigned packedBlock,
                  ConvolutionOperands operands)
      : WinogradBlocking(shape, size, b.getTarget(), packedBlock,
                         operands.needed.images || operands.needed.rows ||
                             operands.needed.columns),
        b(b), shape(shape), packedBlock(packedBlock), needed(operands.needed),
        tileRows(b, shape, needed, size.height),
        result(std::move(operands.result)), input(std::move(operands.input)),
        weights(operands.weights), bias(operands.bias),
        epilogue(std::move(operands.epilogue)), lanes(b.getRegisterLanes(kind)),
        width(int64_t(registers.vectors) * lanes) {
    rowTiles = needed.columns ? b.divideUp(needed.columns, horizontal.outputs)
                              : b.index(tilesW);
    if (needed.columns)
      neededTiles = b.CreateNSWMul(
          tileRows.count ? tileRows.count : b.index(shape.batch * tilesH),
          rowTiles);
    else if (tileRows.count)
      neededTiles = b.scaleIndex(tileRows.count, tilesW);
  }

  void emit();

private:
  static constexpr ElemKind kind = ElemKind::Float;
  /// Output channels that are computed together: the first, how many, and
  /// their filters.
  struct Block {
    Value *channel;
    int64_t channels;
    Value *weights;
  };
  /// Where a tile is: the image, and its first output pixel.
  struct Position {
    Value *batch, *row, *column;
  };

  /// How many elements behind its own filters a group of tiles prefetches.
  struct FilterPrefetch {
    Value *distance = nullptr;
    /// For each channel; none if they are 0. The stride is null where it is as
    /// many bytes (Prefetch).
    int64_t bytesPerStep = 0;
    Value *stride = nullptr;
  };

  Position getPosition(Value *tile);
  void emitTask(Value *task);
  void emitBlocks(Value *first, Value *end, Value *low, Value *count);
  void emitBlock(const Block &block, Value *low, Value *count);
  bool needsBorder() const;
  Value *getInputEnd(Value *outputs, int64_t taps, int64_t pad, int64_t extent);
  Value *getInputEndRow() {
    return getInputEnd(needed.rows, shape.kernelH, shape.padTop, shape.height);
  }
  Value *getInputEndColumn() {
    return getInputEnd(needed.columns, shape.kernelW, shape.padLeft,
                       shape.width);
  }
  void emitInputs(Value *tile, Value *inTask);
  void emitInputs(const Position &position, Value *inTask, bool isBorder);
  void emitInputsInLoops(const Position &position, Value *inTask,
                         bool isBorder);
  Value *loadInput(const Position &position, Value *row, Value *column,
                   Value *channel, unsigned active, bool isBorder);
  FilterPrefetch planPrefetch(int64_t pixels, Value *groups);
  using GroupBody = llvm::function_ref<void(
      Value *group, int64_t pixels, llvm::function_ref<Value *()> getFirst)>;
  void forGroups(int64_t pixels, Value *count, GroupBody body);
  void emitMatMuls(const Block &block, Value *count);
  void emitOutputs(const Block &block, Value *tile, Value *inTask);
  void emitOutputsInLoops(const Block &block, Value *tile, Value *inTask);
  void storeWholeOrCut(const Position &position,
                       llvm::function_ref<void()> whole,
                       llvm::function_ref<void()> cut);
  void storeTile(const Position &position, Value *channel,
                 llvm::ArrayRef<Value *> outputs);
  void storeCutTile(const Position &position, Value *channel,
                    llvm::ArrayRef<Value *> outputs);
  void storeCutTile(const Position &position, Value *channel, unsigned active);
  void storeOutput(const Position &position, Value *row, Value *column,
                   Value *channel, Value *output);
  /// The transform of columns, then rows, of `values` [row][column].
  static Values transform(KernelBuilder &b, const TransformMatrix &vertical,
                          const TransformMatrix &horizontal, Values values);
  using LoadFn = llvm::function_ref<Values(Value *column)>;
  using StoreFn = llvm::function_ref<void(Value *row, llvm::ArrayRef<Value *>)>;
  void transformColumns(const TransformMatrix &vertical, int64_t columns,
                        LoadFn load);
  void transformRows(int64_t rows, const TransformMatrix &horizontal,
                     unsigned active, StoreFn store);
  /// Whether a tile's values are transformed in loops, and lie in memory in
  /// between: where LLVM does not order instructions, it would not be known how
  /// many values of an unrolled transform are in registers at a time.
  bool usesLoops() const { return b.getTarget().isTranslated; }

  KernelBuilder &b;
  ConvolutionShape shape;
  int64_t packedBlock;
  NeededImages needed;
  ImageBands tileRows;
  /// The tiles of a row, and of all images, that are needed; null for all.
  Value *rowTiles, *neededTiles = nullptr;
  StridedOperand result, input;
  Value *weights, *bias;
  EpilogueCode epilogue;
  unsigned lanes;
  /// Channels of a block.
  int64_t width;
  /// The last is for the outputs of tiles that the image's end cuts.
  Value *inputs = nullptr, *matMulResults = nullptr, *cutTile = nullptr;
  /// A tile whose columns are transformed; null without loops.
  Value *halfway = nullptr;
};

} // namespace

Values WinogradEmitter::transform(KernelBuilder &b,
                                  const TransformMatrix &vertical,
                                  const TransformMatrix &horizontal,
                                  Values values) {
  unsigned columns = horizontal.getColumns();
  Values rows(vertical.getRows() * columns);
  for (unsigned j = 0; j < columns; ++j) {
    Values column;
    for (unsigned i = 0; i < vertical.getColumns(); ++i)
      column.push_back(values[i * columns + j]);
    for (auto [i, value] : llvm::enumerate(vertical.apply(b, column)))
      rows[i * columns + j] = value;
  }
  Values results;
  for (unsigned i = 0; i < vertical.getRows(); ++i)
    results.append(
        horizontal.apply(b, llvm::ArrayRef(rows).slice(i * columns, columns)));
  return results;
}

/// The transform of the columns, each of which \p load loads, to `halfway`.
void WinogradEmitter::transformColumns(const TransformMatrix &vertical,
                                       int64_t columns, LoadFn load) {
  b.forLoop(columns, [&](Value *j) {
    Values values = vertical.apply(b, load(j));
    Value *first = b.keepOffsets(b.getElement(halfway, kind, j, lanes));
    b.storeVectors(kind, values, first, columns * lanes);
  });
}

/// The transform of the rows that are there, each of which \p store stores.
void WinogradEmitter::transformRows(int64_t rows,
                                    const TransformMatrix &horizontal,
                                    unsigned active, StoreFn store) {
  int64_t columns = horizontal.getColumns();
  b.forLoop(rows, [&](Value *i) {
    Value *first =
        b.keepOffsets(b.getElement(halfway, kind, i, columns * lanes));
    store(i, horizontal.apply(
                 b, b.loadVectors(kind, first, columns, active, lanes)));
  });
}

WinogradEmitter::Position WinogradEmitter::getPosition(Value *tile) {
  Value *row = b.CreateUDiv(tile, rowTiles);
  Value *column = b.CreateURem(tile, rowTiles);
  Value *batch = b.index(0);
  if (shape.batch > 1) {
    batch = b.CreateUDiv(row, tileRows.perImage);
    row = b.CreateURem(row, tileRows.perImage);
  }
  return {batch, b.scaleIndex(row, vertical.outputs),
          b.scaleIndex(column, horizontal.outputs)};
}

//===- To the points ------------------------------------------------------===//

/// Whether some tile reads beyond the image.
bool WinogradEmitter::needsBorder() const {
  auto reaches = [](int64_t tiles, const WinogradTransform &transform) {
    return (tiles - 1) * transform.outputs + transform.getPoints();
  };
  return needed.rows || needed.columns || shape.padTop > 0 ||
         shape.padLeft > 0 || reaches(tilesH, vertical) > shape.height ||
         reaches(tilesW, horizontal) > shape.width;
}

/// Returns the end of the input rows, or columns, that the first \p outputs of
/// the output take, all for null. What is behind may be NaN, and would reach
/// all outputs of a tile. \p extent: of the input.
Value *WinogradEmitter::getInputEnd(Value *outputs, int64_t taps, int64_t pad,
                                    int64_t extent) {
  Value *end = b.index(extent);
  if (!outputs)
    return end;
  Value *reached = b.CreateNSWAdd(outputs, b.index(taps - 1 - pad));
  return b.minIndex(b.maxIndex(reached, b.index(0)), end);
}

/// The input \p row and \p column behind a tile's first output; 0 beyond the
/// image if \p isBorder.
Value *WinogradEmitter::loadInput(const Position &position, Value *row,
                                  Value *column, Value *channel,
                                  unsigned active, bool isBorder) {
  Value *y = b.CreateNSWAdd(position.row, row);
  Value *x = b.CreateNSWAdd(position.column, column);
  Value *isInside = nullptr;
  if (isBorder) {
    isInside = b.CreateAnd(b.CreateICmpULT(y, getInputEndRow()),
                           b.CreateICmpULT(x, getInputEndColumn()));
    auto clamp = [&](Value *value, int64_t extent) {
      return b.minIndex(b.maxIndex(value, b.index(0)), b.index(extent - 1));
    };
    y = clamp(y, shape.height);
    x = clamp(x, shape.width);
  }
  Value *address = input.getAddress(b, {position.batch, y, x, channel});
  Value *value = b.loadStrided(kind, address, active, input.getInnerStride());
  if (!isInside)
    return value;
  return b.CreateSelect(isInside, value, b.literal(kind, 0, active));
}

void WinogradEmitter::emitInputs(const Position &position, Value *inTask,
                                 bool isBorder) {
  if (usesLoops())
    return emitInputsInLoops(position, inTask, isBorder);
  int64_t pointStride = getPointStride(shape.channels);
  b.forVectors(shape.channels, lanes, [&](Value *channel, unsigned active) {
    Values values;
    for (int64_t i = 0; i < vertical.getPoints(); ++i)
      for (int64_t j = 0; j < horizontal.getPoints(); ++j)
        values.push_back(loadInput(position, b.index(i - shape.padTop),
                                   b.index(j - shape.padLeft), channel, active,
                                   isBorder));
    values = transform(b, vertical.input, horizontal.input, std::move(values));
    Value *target = b.getElement(inputs, kind,
                                 b.addScaled(channel, inTask, shape.channels));
    b.storeVectors(kind, values, target, pointStride);
  });
}

/// The same for a target that takes loops.
void WinogradEmitter::emitInputsInLoops(const Position &position, Value *inTask,
                                        bool isBorder) {
  int64_t points = vertical.getPoints(), columns = horizontal.getPoints();
  int64_t pointStride = getPointStride(shape.channels);
  b.forVectors(shape.channels, lanes, [&](Value *channel, unsigned active) {
    auto load = [&](Value *j) {
      Value *column = b.CreateNSWSub(j, b.index(shape.padLeft));
      Values values;
      Value *first = b.keepOffsets(input.getAddress(
          b,
          {position.batch, b.CreateNSWSub(position.row, b.index(shape.padTop)),
           b.CreateNSWAdd(position.column, column), channel}));
      for (int64_t i = 0; i < points; ++i)
        values.push_back(
            isBorder
                ? loadInput(position, b.index(i - shape.padTop), column,
                            channel, active, isBorder)
                : b.loadStrided(kind,
                                b.getElement(first, kind, i * input.strides[1]),
                                active, input.getInnerStride()));
      return values;
    };
    transformColumns(vertical.input, columns, load);
    Value *target = b.getElement(inputs, kind,
                                 b.addScaled(channel, inTask, shape.channels));
    transformRows(points, horizontal.input, active,
                  [&](Value *i, llvm::ArrayRef<Value *> values) {
                    Value *first = b.keepOffsets(
                        b.getElement(target, kind, i, columns * pointStride));
                    b.storeVectors(kind, values, first, pointStride);
                  });
  });
}

void WinogradEmitter::emitInputs(Value *tile, Value *inTask) {
  Position position = getPosition(tile);
  if (!needsBorder())
    return emitInputs(position, inTask, /*isBorder=*/false);
  auto isInside = [&](Value *first, int64_t pad, int64_t points, Value *end) {
    Value *low = b.CreateNSWSub(first, b.index(pad));
    return b.CreateAnd(
        b.CreateICmpSGE(low, b.index(0)),
        b.CreateICmpSLE(low, b.CreateNSWSub(end, b.index(points))));
  };
  Value *isWhole =
      b.CreateAnd(isInside(position.row, shape.padTop, vertical.getPoints(),
                           getInputEndRow()),
                  isInside(position.column, shape.padLeft,
                           horizontal.getPoints(), getInputEndColumn()));
  b.ifThenElse(
      isWhole, [&] { emitInputs(position, inTask, /*isBorder=*/false); },
      [&] { emitInputs(position, inTask, /*isBorder=*/true); });
}

//===- At the points ------------------------------------------------------===//

/// Filters that other layers displace from the second cache are prefetched:
/// those of the next point, by each group of \p pixels tiles a share; by a
/// single group its own, at a fixed distance. \p numGroups: of a run.
WinogradEmitter::FilterPrefetch
WinogradEmitter::planPrefetch(int64_t pixels, Value *numGroups) {
  if (4 * getPoints() * shape.channels * shape.outChannels <=
      b.getTarget().getNearBytes())
    return {};
  Value *fixedDistance = b.index(4096);
  Value *ofNextPoint = b.index(shape.channels * packedBlock);
  int64_t fewest =
      neededTiles ? (needed.columns ? 1 : tilesW) * (needed.rows ? 1 : tilesH)
                  : tilesPerTask;
  int64_t groups =
      llvm::divideCeilSigned(std::min(fewest, tilesPerTask), pixels);
  FilterPrefetch ahead = {.distance = groups == 1 ? fixedDistance : ofNextPoint,
                          .bytesPerStep =
                              llvm::divideCeilSigned(4 * packedBlock, groups)};
  if (neededTiles) {
    Value *isSingle = b.CreateICmpEQ(numGroups, b.index(1));
    ahead.distance = b.CreateSelect(isSingle, fixedDistance, ofNextPoint);
    ahead.stride = b.CreateUDiv(
        b.CreateNSWAdd(numGroups, b.index(4 * packedBlock - 1)), numGroups);
  }
  return ahead;
}

/// Calls \p body with the number and the tiles of each group of those that are
/// multiplied together, and what computes the first tile. The last group
/// overlaps another or, where there are fewer tiles, has some that are not
/// used; unless a run states how many there are.
void WinogradEmitter::forGroups(int64_t pixels, Value *count, GroupBody body) {
  if (!neededTiles) {
    Value *groups = b.divideUp(count, pixels);
    Value *lastFirst =
        b.maxIndex(b.CreateNSWSub(count, b.index(pixels)), b.index(0));
    return b.forLoop(groups, [&](Value *group) {
      body(group, pixels,
           [&] { return b.minIndex(b.scaleIndex(group, pixels), lastFirst); });
    });
  }
  LastColumns last({unsigned(pixels), registers.vectors}, tilesPerTask,
                   b.getTarget());
  Value *whole = b.CreateUDiv(count, b.index(pixels));
  Value *first = b.scaleIndex(whole, pixels);
  Value *plan =
      last.getPlan(b, b.CreateNSWSub(count, first), whole, b.index(0));
  b.forLoop(last.getEnd(b, plan, whole), [&](Value *group) {
    body(group, pixels, [&] { return b.scaleIndex(group, pixels); });
  });
  last.forTiles(b, plan, first, [&](unsigned own, Value *tile) {
    body(b.divideUp(tile, pixels), own, [&] { return tile; });
  });
}

void WinogradEmitter::emitMatMuls(const Block &block, Value *count) {
  int64_t pixels = std::min<int64_t>(registers.pixels, tilesPerTask);
  unsigned vectors = unsigned((block.channels + lanes - 1) / lanes);
  MicroKernel microKernel = {.kind = kind,
                             .lanes = lanes,
                             .lastLanes = lanes,
                             .pixels = unsigned(pixels),
                             .vectors = vectors,
                             .pixelStride = shape.channels,
                             .rowStride = packedBlock,
                             .isPadded = true,
                             .takesLanes = b.getTarget().hasMultiplyByLane};
  FilterPrefetch ahead = planPrefetch(pixels, b.divideUp(count, pixels));
  b.forLoop(getPoints(), [&](Value *point) {
    Value *filters =
        b.getElement(block.weights, kind, point, shape.channels * packedBlock);
    Value *pointInputs =
        b.getElement(inputs, kind, point, getPointStride(shape.channels));
    Value *pointResults =
        b.getElement(matMulResults, kind, point, getPointStride(width));
    forGroups(
        pixels, count,
        [&](Value *group, int64_t own, llvm::function_ref<Value *()> getFirst) {
          Prefetch prefetch = {.bytesPerStep = ahead.bytesPerStep,
                               .stride = ahead.stride};
          if (prefetch.bytesPerStep) {
            Value *share = b.scaleIndex(group, shape.channels);
            prefetch.address = b.CreateInBoundsGEP(
                b.getInt8Ty(), b.getElement(filters, kind, ahead.distance),
                ahead.stride ? b.CreateNSWMul(share, ahead.stride)
                             : b.scaleIndex(share, prefetch.bytesPerStep));
          }
          microKernel.pixels = unsigned(own);
          Value *first = getFirst();
          Value *x = b.getElement(pointInputs, kind, first, shape.channels);
          Values sums = microKernel.accumulate(
              b, {0, microKernel.pixels}, shape.channels, x, filters,
              microKernel.getZeros(b), prefetch);
          Value *target = b.getElement(pointResults, kind, first, width);
          for (unsigned p = 0; p < microKernel.pixels; ++p)
            for (unsigned v = 0; v < vectors; ++v)
              b.storeElement(kind, sums[p * vectors + v], target,
                             p * width + v * lanes);
        });
  });
}

//===- Back to pixels -----------------------------------------------------===//

void WinogradEmitter::storeOutput(const Position &position, Value *row,
                                  Value *column, Value *channel,
                                  Value *output) {
  storeResult(b, result, epilogue,
              {position.batch, b.CreateNSWAdd(position.row, row),
               b.CreateNSWAdd(position.column, column), channel},
              output, KernelBuilder::getLanes(output));
}

/// The part of a tile that is in the image.
void WinogradEmitter::storeCutTile(const Position &position, Value *channel,
                                   llvm::ArrayRef<Value *> outputs) {
  b.storeVectors(kind, outputs, cutTile, lanes);
  storeCutTile(position, channel, KernelBuilder::getLanes(outputs[0]));
}

/// The same of outputs in `cutTile`.
void WinogradEmitter::storeCutTile(const Position &position, Value *channel,
                                   unsigned active) {
  auto countRest = [&](Value *first, int64_t extent, int64_t outputs) {
    return b.minIndex(b.CreateNSWSub(b.index(extent), first), b.index(outputs));
  };
  Value *rows = countRest(position.row, shape.outHeight, vertical.outputs);
  Value *columns =
      countRest(position.column, shape.outWidth, horizontal.outputs);
  b.forLoop(rows, [&](Value *i) {
    b.forLoop(columns, [&](Value *j) {
      Value *number = b.addScaled(j, i, horizontal.outputs);
      Value *output =
          b.loadElement(kind, cutTile, b.scaleIndex(number, lanes), active);
      storeOutput(position, i, j, channel, output);
    });
  });
}

/// Emits \p whole for a tile whose outputs all are in the image, and \p cut for
/// one that the image's end cuts.
void WinogradEmitter::storeWholeOrCut(const Position &position,
                                      llvm::function_ref<void()> whole,
                                      llvm::function_ref<void()> cut) {
  if (shape.outHeight % vertical.outputs == 0 &&
      shape.outWidth % horizontal.outputs == 0)
    return whole();
  Value *isWhole = b.CreateAnd(
      b.CreateICmpSLE(position.row,
                      b.index(shape.outHeight - int64_t(vertical.outputs))),
      b.CreateICmpSLE(position.column,
                      b.index(shape.outWidth - int64_t(horizontal.outputs))));
  b.ifThenElse(isWhole, whole, cut);
}

void WinogradEmitter::storeTile(const Position &position, Value *channel,
                                llvm::ArrayRef<Value *> outputs) {
  auto storeWhole = [&] {
    for (auto [i, output] : llvm::enumerate(outputs))
      storeOutput(position, b.index(int64_t(i / horizontal.outputs)),
                  b.index(int64_t(i % horizontal.outputs)), channel, output);
  };
  storeWholeOrCut(position, storeWhole,
                  [&] { storeCutTile(position, channel, outputs); });
}

void WinogradEmitter::emitOutputs(const Block &block, Value *tile,
                                  Value *inTask) {
  if (usesLoops())
    return emitOutputsInLoops(block, tile, inTask);
  Position position = getPosition(tile);
  Value *source = b.getElement(matMulResults, kind, inTask, width);
  int64_t pointStride = getPointStride(width);
  b.forVectors(block.channels, lanes, [&](Value *i, unsigned active) {
    Value *channel = b.CreateNSWAdd(block.channel, i);
    Value *first = b.getElement(source, kind, i);
    Values values =
        transform(b, vertical.toOutput, horizontal.toOutput,
                  b.loadVectors(kind, first, getPoints(), active, pointStride));
    if (bias) {
      Value *added = b.loadElement(kind, bias, channel, active);
      for (Value *&value : values)
        value = b.CreateFAdd(value, added);
    }
    storeTile(position, channel, values);
  });
}

/// The same for a target that takes loops.
void WinogradEmitter::emitOutputsInLoops(const Block &block, Value *tile,
                                         Value *inTask) {
  Position position = getPosition(tile);
  int64_t columns = horizontal.getPoints(), pointStride = getPointStride(width);
  Value *source = b.getElement(matMulResults, kind, inTask, width);
  b.forVectors(block.channels, lanes, [&](Value *i, unsigned active) {
    Value *channel = b.CreateNSWAdd(block.channel, i);
    transformColumns(vertical.toOutput, columns, [&](Value *j) {
      Value *first = b.keepOffsets(
          b.getElement(source, kind, b.addScaled(i, j, pointStride)));
      return b.loadVectors(kind, first, vertical.getPoints(), active,
                           columns * pointStride);
    });
    auto addBias = [&](Value *value) {
      return bias ? b.CreateFAdd(value,
                                 b.loadElement(kind, bias, channel, active))
                  : value;
    };
    auto store = [&](llvm::function_ref<void(Value *, Value *, Value *)> take) {
      transformRows(vertical.outputs, horizontal.toOutput, active,
                    [&](Value *row, llvm::ArrayRef<Value *> outputs) {
                      for (auto [j, output] : llvm::enumerate(outputs))
                        take(row, b.index(int64_t(j)), addBias(output));
                    });
    };
    auto storeWhole = [&] {
      store([&](Value *row, Value *column, Value *output) {
        storeOutput(position, row, column, channel, output);
      });
    };
    storeWholeOrCut(position, storeWhole, [&] {
      store([&](Value *row, Value *column, Value *output) {
        Value *number = b.addScaled(column, row, horizontal.outputs);
        b.storeElement(kind, output, cutTile, b.scaleIndex(number, lanes));
      });
      storeCutTile(position, channel, active);
    });
  });
}

//===- Tasks --------------------------------------------------------------===//

/// Tiles low ... low + count - 1.
void WinogradEmitter::emitBlock(const Block &block, Value *low, Value *count) {
  emitMatMuls(block, count);
  b.forLoop(count,
            [&](Value *i) { emitOutputs(block, b.CreateNSWAdd(low, i), i); });
}

void WinogradEmitter::emitBlocks(Value *first, Value *end, Value *low,
                                 Value *count) {
  int64_t whole = shape.outChannels / width, left = shape.outChannels % width;
  // Several blocks share one that was packed for wider vectors.
  int64_t parts = packedBlock / width;
  auto getBlock = [&](Value *number, int64_t channels) {
    Value *packed = b.CreateUDiv(number, b.index(parts));
    Value *offset =
        b.scaleIndex(packed, getPoints() * shape.channels * packedBlock);
    offset = b.addScaled(offset, b.CreateURem(number, b.index(parts)), width);
    return Block{b.scaleIndex(number, width), channels,
                 b.getElement(weights, kind, offset)};
  };
  b.forLoop(first, b.minIndex(end, b.index(whole)), 1, [&](Value *number) {
    emitBlock(getBlock(number, width), low, count);
  });
  if (left)
    b.forLoop(b.maxIndex(first, b.index(whole)), end, 1, [&](Value *number) {
      emitBlock(getBlock(number, left), low, count);
    });
}

/// Task: range * groups + group.
void WinogradEmitter::emitTask(Value *task) {
  Value *range = b.CreateUDiv(task, b.index(getGroups()));
  Value *group = b.CreateURem(task, b.index(getGroups()));
  Value *low = b.scaleIndex(range, tilesPerTask);
  Value *count = b.index(tilesPerTask);
  if (neededTiles)
    count = b.minIndex(b.CreateNSWSub(neededTiles, low), count);
  else if (tiles % tilesPerTask != 0)
    count = b.minIndex(b.CreateNSWSub(b.index(tiles), low), count);
  b.forLoop(count, [&](Value *i) { emitInputs(b.CreateNSWAdd(low, i), i); });
  Value *first = b.scaleIndex(group, blocksPerTask);
  Value *end = b.minIndex(b.CreateNSWAdd(first, b.index(blocksPerTask)),
                          b.index(blocks));
  emitBlocks(first, end, low, count);
}

void WinogradEmitter::emit() {
  inputs = b.allocate(kind, getPoints() * getPointStride(shape.channels));
  matMulResults = b.allocate(kind, getPoints() * getPointStride(width));
  cutTile =
      b.allocate(kind, int64_t(vertical.outputs) * horizontal.outputs * lanes);
  if (usesLoops())
    halfway = b.allocate(kind, getPoints() * lanes);
  Value *ranges = nullptr;
  if (neededTiles)
    ranges = b.scaleIndex(b.divideUp(neededTiles, tilesPerTask), getGroups());
  b.forTasks(
      getRanges() * getGroups(), getNumOperations(shape),
      [&](Value *task) { emitTask(task); }, ranges);
}

void glowish::emitWinograd(KernelBuilder &b, const ConvolutionShape &shape,
                           WinogradSize size, unsigned block,
                           ConvolutionOperands operands) {
  WinogradEmitter(b, shape, size, block, std::move(operands)).emit();
}
