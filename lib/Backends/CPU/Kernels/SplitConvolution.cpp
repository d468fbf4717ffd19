//===- SplitConvolution.cpp - Convolution on bfloat16 matrix units --------===//
//
// Pixels are counted along the padded rows of the image, so that every tap of
// the kernel reads a tile of pixels at a constant shift; the few pixels between
// two rows are computed and dropped. A tile has two registers of pixels by two
// of output channels. For each step of the reduction, the parts are loaded and
// the products of the parts are added to four sums.
//
// Pixels and weights are floats in memory, and split here, a chunk of steps at
// a time: the chunk's weights and the pixels' parts of those steps stay in the
// second cache while all tiles and several blocks of channels use them; the
// sums wait in a buffer from one chunk to the next. While the matrix unit
// multiplies one chunk, the vector units split the next weights.
//
//===----------------------------------------------------------------------===//

#include "Epilogue.h"
#include "SplitStage.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"

using namespace glowish;
using llvm::Value;

namespace {

/// The tile registers and what is in them.
enum : unsigned { SumRegister = 0, PixelRegister = 4, WeightRegister = 6 };

constexpr int64_t registerBytes = matrixRows * matrixColumns * 4;
constexpr int64_t partSize = 2; // bytes of a bfloat16
/// Elements of a register's row of weights.
constexpr int64_t rowSize = 2 * matrixColumns;

class SplitConvolutionEmitter : private SplitPlan {
public:
  SplitConvolutionEmitter(KernelBuilder &b, const ConvolutionShape &shape,
                          StridedOperand result, StridedOperand input,
                          Value *weights, Value *bias, EpilogueCode epilogue)
      : SplitPlan(shape, ::isInputFlat(shape, input.strides), b.getTarget()),
        b(b), shape(shape), result(std::move(result)), input(std::move(input)),
        weights(weights), bias(bias), epilogue(std::move(epilogue)) {}
  void emit();

private:
  /// Output channels that are computed together, and the tiles that are.
  struct Block {
    Value *number, *channel; // the block's, and its first channel
    /// The blocks that share pixels.
    Value *groupFirst, *groupEnd;
    int64_t channels;
    int64_t getRegisters() const {
      return (channels + matrixColumns - 1) / matrixColumns;
    }
  };
  struct Tile {
    Value *image, *pixel; // the first one's number in the image
    Value *staged;        // and in the stage
    Value *sums;          // where the sums are kept
    Value *firstRow;      // of each step of the next chunk, to split meanwhile
    int64_t pixels;
    int64_t getRegisters() const {
      return (pixels + matrixRows - 1) / matrixRows;
    }
  };
  /// Tiles low ... high - 1 of an image, and the first pixel in the stage.
  struct TileRange {
    Value *image, *low, *high;
    Value *stagePixel;
  };
  /// Groups of channels firstGroup ... endGroup - 1 of the reduction, and of
  /// each the taps firstTap ... endTap - 1. Only whole groups come in numbers.
  /// A tap of a group is a step.
  struct Steps {
    Value *number; // of the chunk
    Value *firstGroup, *endGroup, *firstTap, *endTap;
  };

  void configure();
  TileRange getRange(Value *image, Value *number);
  void stagePixels(const TileRange &range, const Steps &steps);
  void emitTask(Value *task);
  Steps getSteps(Value *chunk);
  void emitBlock(const Block &block, const TileRange &range,
                 const Steps &steps);
  Value *getChunkWeights(Value *block, Value *chunk, int64_t registers);
  Value *getChunkBuffer(Value *parity);
  void splitChunk(const Block &block, Value *source, Value *buffer);
  void splitRow(Value *source, Value *target, int64_t rowsPerStep);
  void prepareChunk(const Block &block, const Steps &steps);
  void emitTile(const Block &block, const Tile &tile, const Steps &steps);
  void emitProducts(const Block &block, const Tile &tile, const Steps &steps);
  void emitStep(const Block &block, const Tile &tile, Value *pixels,
                Value *number);
  void moveSums(llvm::Intrinsic::ID id, const Block &block, const Tile &tile);
  void splitMeanwhile(const Tile &tile, Value *number, int64_t low,
                      int64_t high);
  void emitPixel(const Block &block, const Tile &tile, Value *row);
  void emitPixelAt(const Block &block, const Tile &tile,
                   llvm::ArrayRef<Value *> index, Value *row);
  Value *getTapShift(Value *tap);
  std::array<Value *, 2> divide(Value *value, int64_t extent);
  void call(llvm::Intrinsic::ID id, llvm::ArrayRef<Value *> args) {
    b.CreateIntrinsic(id, {}, args);
  }
  void load(unsigned number, Value *base, int64_t bytes, int64_t stride) {
    call(llvm::Intrinsic::x86_tileloadd64,
         {b.getInt8(number),
          b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, bytes),
          b.getInt64(stride)});
  }
  Value *allocate(int64_t bytes) {
    auto *buffer = b.CreateAlloca(llvm::ArrayType::get(b.getInt8Ty(), bytes));
    buffer->setAlignment(llvm::Align(64));
    return buffer;
  }

  KernelBuilder &b;
  ConvolutionShape shape;
  StridedOperand result, input;
  Value *weights, *bias;
  EpilogueCode epilogue;
  /// Whether the result is one long row of pixels, too.
  bool isResultFlat = false;
  /// Room for the parts of a chunk's pixels, and of two chunks' weights, and
  /// for the sums of a task's tiles.
  Value *stage = nullptr, *splitBuffer = nullptr, *sumBuffer = nullptr;
  /// In memory: which half of splitBuffer is in use, and the number of the
  /// chunk that is in it already, or -1.
  Value *parityCell = nullptr, *readyCell = nullptr;
  /// While a block is emitted: the parts of its chunk, and where the next chunk
  /// comes from and goes.
  Value *currentParts = nullptr, *nextSource = nullptr, *nextParts = nullptr;
};

} // namespace

//===- Steps -------------------------------------------------------------===//

std::array<Value *, 2> SplitConvolutionEmitter::divide(Value *value,
                                                       int64_t extent) {
  if (extent == 1)
    return {value, b.index(0)};
  return {b.CreateUDiv(value, b.index(extent)),
          b.CreateURem(value, b.index(extent))};
}

SplitConvolutionEmitter::Steps SplitConvolutionEmitter::getSteps(Value *chunk) {
  auto [groups, part] = divide(chunk, chunksPerGroup);
  Value *firstGroup = b.addScaled(b.index(0), groups, groupsPerChunk);
  Value *firstTap = b.addScaled(b.index(0), part, tapsPerChunk);
  return {chunk, firstGroup,
          b.CreateNSWAdd(firstGroup, b.index(groupsPerChunk)), firstTap,
          b.CreateNSWAdd(firstTap, b.index(tapsPerChunk))};
}

/// How far from a pixel, in elements, is the one under \p tap.
Value *SplitConvolutionEmitter::getTapShift(Value *tap) {
  std::vector<int64_t> shifts;
  for (int64_t kh = 0; kh < shape.kernelH; ++kh)
    for (int64_t kw = 0; kw < shape.kernelW; ++kw) {
      int64_t y = kh * shape.dilationH, x = kw * shape.dilationW;
      int64_t phase = y % shape.strideH * image.phasesW + x % shape.strideW;
      shifts.push_back((phase * groupsPerChunk * SplitPlan::stagePixels +
                        y / shape.strideH * image.columns + x / shape.strideW) *
                       matrixDepth);
    }
  return numTaps == 1 ? b.index(shifts[0]) : b.lookUp<int64_t>(shifts, tap);
}

//===- Products ----------------------------------------------------------===//

/// All registers have 16 rows of 64 bytes.
void SplitConvolutionEmitter::configure() {
  llvm::SmallVector<uint8_t, 64> bytes(64, 0);
  bytes[0] = 1;
  for (unsigned i = 0; i < 8; ++i) {
    bytes[16 + 2 * i] = 64;
    bytes[48 + i] = matrixRows;
  }
  llvm::Module *module = b.getFunction().getParent();
  llvm::StringRef name = "tile_configuration";
  llvm::GlobalVariable *global = module->getGlobalVariable(name, true);
  if (!global) {
    auto *data = llvm::ConstantDataArray::get(b.getContext(), bytes);
    global = new llvm::GlobalVariable(
        *module, data->getType(),
        /*isConstant=*/true, llvm::GlobalValue::InternalLinkage, data, name);
    global->setAlignment(llvm::Align(64));
  }
  call(llvm::Intrinsic::x86_ldtilecfg, {global});
}

Value *SplitConvolutionEmitter::getChunkWeights(Value *block, Value *chunk,
                                                int64_t registers) {
  int64_t blockSize = getSplitSteps(shape) * getSplitStepSize(2);
  int64_t chunkSize =
      groupsPerChunk * tapsPerChunk * getSplitStepSize(registers);
  return b.getElement(
      weights, ElemKind::Float,
      b.addScaled(b.addScaled(b.index(0), block, blockSize), chunk, chunkSize));
}

Value *SplitConvolutionEmitter::getChunkBuffer(Value *parity) {
  return b.getElement(splitBuffer, ElemKind::BFloat16,
                      b.addScaled(b.index(0), parity, getChunkSize()));
}

/// The 32 floats at \p source, which lie as in a register's row, become that
/// row in each part; \p target: of part 0.
void SplitConvolutionEmitter::splitRow(Value *source, Value *target,
                                       int64_t rowsPerStep) {
  Value *odd = b.getElement(source, ElemKind::Float, matrixColumns);
  for (auto [part, pairs] : llvm::enumerate(
           splitFloats(b, b.load(ElemKind::Float, source, matrixColumns),
                       b.load(ElemKind::Float, odd, matrixColumns))))
    b.CreateAlignedStore(pairs,
                         b.getElement(target, ElemKind::BFloat16,
                                      int64_t(part) * rowsPerStep * rowSize),
                         llvm::Align(64));
}

void SplitConvolutionEmitter::splitChunk(const Block &block, Value *source,
                                         Value *buffer) {
  int64_t rowsPerStep = block.getRegisters() * matrixRows;
  int64_t stepSize = getSplitStepSize(block.getRegisters());
  b.forLoop(groupsPerChunk * tapsPerChunk, [&](Value *step) {
    Value *from = b.getElement(source, ElemKind::Float,
                               b.addScaled(b.index(0), step, stepSize));
    Value *to =
        b.getElement(buffer, ElemKind::BFloat16,
                     b.addScaled(b.index(0), step, numParts * stepSize));
    b.forUnrolled(rowsPerStep, 4, {}, [&](Value *row, llvm::ArrayRef<Value *>) {
      Value *offset = b.addScaled(b.index(0), row, rowSize);
      splitRow(b.getElement(from, ElemKind::Float, offset),
               b.getElement(to, ElemKind::BFloat16, offset), rowsPerStep);
      return Values();
    });
  });
}

/// Sets currentParts, split now if that was not done meanwhile, and what is to
/// be split meanwhile: chunks follow each other block by block, in groups of
/// blocks chunk by chunk.
void SplitConvolutionEmitter::prepareChunk(const Block &block,
                                           const Steps &steps) {
  Value *own =
      getChunkWeights(block.number, steps.number, block.getRegisters());
  if (!rowsPerTile) {
    currentParts = splitBuffer;
    return splitChunk(block, own, currentParts);
  }
  llvm::Type *cellTy = b.getIndexTy();
  Value *parity = b.CreateLoad(cellTy, parityCell);
  currentParts = getChunkBuffer(parity);
  Value *id = b.addScaled(steps.number, block.number, numChunks);
  Value *ready = b.CreateLoad(cellTy, readyCell);
  b.ifThen(b.CreateICmpNE(ready, id),
           [&] { splitChunk(block, own, currentParts); });

  Value *number = b.CreateNSWAdd(block.number, b.index(1));
  Value *chunk = steps.number;
  Value *isGroupDone = b.CreateICmpEQ(number, block.groupEnd);
  Value *isLastChunk = b.CreateICmpEQ(chunk, b.index(numChunks - 1));
  Value *nextChunk =
      b.CreateSelect(isGroupDone,
                     b.CreateSelect(isLastChunk, b.index(0),
                                    b.CreateNSWAdd(chunk, b.index(1))),
                     chunk);
  Value *nextBlock =
      b.CreateSelect(b.CreateAnd(isGroupDone, b.CreateNot(isLastChunk)),
                     block.groupFirst, number);
  // Half a block has another layout and does it itself; behind the last one
  // the work is done for nothing.
  Value *isWhole =
      b.CreateICmpSLT(nextBlock, b.index(shape.outChannels / splitChannels));
  if (block.getRegisters() != 2)
    isWhole = b.getFalse();
  nextSource =
      b.CreateSelect(isWhole, getChunkWeights(nextBlock, nextChunk, 2), own);
  Value *nextParity = b.CreateNSWSub(b.index(1), parity);
  nextParts = getChunkBuffer(nextParity);
  Value *nextId = b.addScaled(nextChunk, nextBlock, numChunks);
  b.CreateStore(b.CreateSelect(isWhole, nextId, b.index(-1)), readyCell);
  b.CreateStore(nextParity, parityCell);
}

/// Step \p number of the chunk: the elements at \p pixels by its weights.
void SplitConvolutionEmitter::emitStep(const Block &block, const Tile &tile,
                                       Value *pixels, Value *number) {
  constexpr int64_t stride = matrixDepth * partSize;
  int64_t columns = block.getRegisters(), rows = tile.getRegisters();
  int64_t stepSize = getSplitStepSize(columns);
  Value *stepWeights =
      b.getElement(currentParts, ElemKind::BFloat16,
                   b.addScaled(b.index(0), number, numParts * stepSize));
  auto loadPixels = [&](int64_t part) {
    for (int64_t r = 0; r < rows; ++r)
      load(PixelRegister + r, pixels,
           part * getStagePartSize() * partSize + r * matrixRows * stride,
           stride);
  };
  auto loadWeights = [&](int64_t part) {
    for (int64_t c = 0; c < columns; ++c)
      load(WeightRegister + c, stepWeights,
           (part * columns + c) * registerBytes, 64);
  };
  // The pairs of parts in an order in which mostly one of the two changes.
  constexpr std::array<std::array<int64_t, 2>, 6> pairs = {
      {{1, 1}, {1, 0}, {2, 0}, {0, 0}, {0, 1}, {0, 2}}};
  std::array<int64_t, 2> loaded = {-1, -1};
  for (auto [i, pair] : llvm::enumerate(pairs)) {
    auto [pixelPart, weightPart] = pair;
    if (pixelPart != loaded[0])
      loadPixels(pixelPart);
    if (weightPart != loaded[1])
      loadWeights(weightPart);
    loaded = {pixelPart, weightPart};
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        call(llvm::Intrinsic::x86_tdpbf16ps,
             {b.getInt8(SumRegister + 2 * r + c), b.getInt8(PixelRegister + r),
              b.getInt8(WeightRegister + c)});
    if (rowsPerTile && columns == 2)
      splitMeanwhile(tile, number, rowsPerTile * int64_t(i) / 6,
                     rowsPerTile * int64_t(i + 1) / 6);
  }
}

/// How many weights before their turn weights are asked for.
static constexpr int64_t prefetchDistance = 1024;

/// Rows \p low ... \p high - 1 of what the tile splits of the next chunk while
/// it does step \p number of this one. All tiles together read the chunk from
/// front to back.
void SplitConvolutionEmitter::splitMeanwhile(const Tile &tile, Value *number,
                                             int64_t low, int64_t high) {
  constexpr int64_t rowsPerStep = 2 * matrixRows;
  int64_t rows = groupsPerChunk * tapsPerChunk * rowsPerStep;
  for (int64_t i = low; i < high; ++i) {
    Value *row = b.CreateNSWAdd(b.addScaled(tile.firstRow, number, rowsPerTile),
                                b.index(i));
    // The last tile's share may be smaller; a row twice does no harm.
    if (tiles > tilesPerTask || tiles * rowsPerTile != rowsPerStep)
      row = b.minIndex(row, b.index(rows - 1));
    auto [step, inStep] = divide(row, rowsPerStep);
    Value *source = b.getElement(nextSource, ElemKind::Float,
                                 b.addScaled(b.index(0), row, rowSize));
    Value *target =
        b.getElement(nextParts, ElemKind::BFloat16,
                     b.addScaled(b.addScaled(b.index(0), inStep, rowSize), step,
                                 numParts * getSplitStepSize(2)));
    splitRow(source, target, rowsPerStep);
    // It should have come from memory when it is its turn.
    Value *ahead = b.getElement(source, ElemKind::Float, prefetchDistance);
    b.prefetch(ahead);
    b.prefetch(b.getElement(ahead, ElemKind::Float, matrixColumns));
  }
}

/// The products of a chunk.
void SplitConvolutionEmitter::emitProducts(const Block &block, const Tile &tile,
                                           const Steps &steps) {
  Value *first = b.addScaled(b.index(0), tile.staged, matrixDepth);
  b.forLoop(groupsPerChunk, [&](Value *group) {
    Value *start =
        b.addScaled(first, group, SplitPlan::stagePixels * matrixDepth);
    Value *before = b.addScaled(b.index(0), group, tapsPerChunk);
    b.forLoop(steps.firstTap, steps.endTap, 1, [&](Value *tap) {
      Value *pixels = b.getElement(stage, ElemKind::BFloat16,
                                   b.CreateNSWAdd(start, getTapShift(tap)));
      emitStep(block, tile, pixels,
               b.CreateNSWAdd(before, b.CreateNSWSub(tap, steps.firstTap)));
    });
  });
}

/// Loads or stores the sums.
void SplitConvolutionEmitter::moveSums(llvm::Intrinsic::ID id,
                                       const Block &block, const Tile &tile) {
  for (int64_t r = 0; r < tile.getRegisters(); ++r)
    for (int64_t c = 0; c < block.getRegisters(); ++c)
      call(id,
           {b.getInt8(SumRegister + 2 * r + c),
            b.getElement(tile.sums, ElemKind::Float,
                         r * matrixRows * splitChannels + c * matrixColumns),
            b.getInt64(splitChannels * 4)});
}

//===- Results -----------------------------------------------------------===//

/// Takes row \p row of the stored sums through the epilogue.
void SplitConvolutionEmitter::emitPixelAt(const Block &block, const Tile &tile,
                                          llvm::ArrayRef<Value *> index,
                                          Value *row) {
  for (int64_t c = 0; c < block.channels; c += matrixColumns) {
    unsigned lanes =
        unsigned(std::min<int64_t>(matrixColumns, block.channels - c));
    Value *channel = b.CreateNSWAdd(block.channel, b.index(c));
    Value *sum = b.load(
        ElemKind::Float,
        b.getElement(tile.sums, ElemKind::Float,
                     b.CreateNSWAdd(b.addScaled(b.index(0), row, splitChannels),
                                    b.index(c))),
        lanes);
    if (bias)
      sum = b.CreateFAdd(
          sum, b.load(ElemKind::Float,
                      b.getElement(bias, ElemKind::Float, channel), lanes));
    storeResult(b, result, epilogue, {index[0], index[1], index[2], channel},
                sum, lanes);
  }
}

void SplitConvolutionEmitter::emitPixel(const Block &block, const Tile &tile,
                                        Value *row) {
  Value *zero = b.index(0);
  Value *pixel = b.CreateNSWAdd(tile.pixel, row);
  if (isResultFlat)
    return emitPixelAt(block, tile, {zero, zero, pixel}, row);
  auto [y, x] = divide(pixel, image.columns);
  if (isFlat) {
    auto [batch, inImage] = divide(y, image.rows);
    return emitPixelAt(block, tile, {batch, inImage, x}, row);
  }
  if (image.columns == shape.outWidth)
    return emitPixelAt(block, tile, {tile.image, y, x}, row);
  b.ifThen(b.CreateICmpULT(x, b.index(shape.outWidth)), [&, x = x, y = y] {
    emitPixelAt(block, tile, {tile.image, y, x}, row);
  });
}

void SplitConvolutionEmitter::emitTile(const Block &block, const Tile &tile,
                                       const Steps &steps) {
  auto clear = [&] {
    for (int64_t r = 0; r < tile.getRegisters(); ++r)
      for (int64_t c = 0; c < block.getRegisters(); ++c)
        call(llvm::Intrinsic::x86_tilezero,
             {b.getInt8(SumRegister + 2 * r + c)});
  };
  auto finish = [&] {
    b.forUnrolled(tile.pixels, isResultFlat ? 4 : 1, {},
                  [&](Value *row, llvm::ArrayRef<Value *>) {
                    emitPixel(block, tile, row);
                    return Values();
                  });
  };
  if (numChunks == 1) {
    clear();
  } else {
    Value *isFirst = b.CreateICmpEQ(steps.number, b.index(0));
    b.ifThen(isFirst, clear);
    b.ifThen(b.CreateNot(isFirst),
             [&] { moveSums(llvm::Intrinsic::x86_tileloadd64, block, tile); });
  }
  emitProducts(block, tile, steps);
  moveSums(llvm::Intrinsic::x86_tilestored64, block, tile);
  if (numChunks == 1)
    return finish();
  b.ifThen(b.CreateICmpEQ(steps.number, b.index(numChunks - 1)), finish);
}

//===- Loops -------------------------------------------------------------===//

void SplitConvolutionEmitter::emitBlock(const Block &block,
                                        const TileRange &range,
                                        const Steps &steps) {
  prepareChunk(block, steps);
  auto getSums = [&](Value *number) -> Value * {
    if (numChunks == 1)
      return sumBuffer;
    Value *inTask = b.addScaled(b.CreateNSWSub(number, range.low),
                                b.CreateNSWSub(block.number, block.groupFirst),
                                tilesPerTask);
    return b.getElement(
        sumBuffer, ElemKind::Float,
        b.addScaled(b.index(0), inTask, splitPixels * splitChannels));
  };
  int64_t whole = pixelsPerImage / splitPixels;
  int64_t left = pixelsPerImage % splitPixels;
  auto emitAt = [&](Value *number, int64_t pixels) {
    Value *pixel = b.addScaled(b.index(0), number, splitPixels);
    emitTile(block,
             {range.image, pixel, b.CreateNSWSub(pixel, range.stagePixel),
              getSums(number),
              b.addScaled(b.index(0), b.CreateNSWSub(number, range.low),
                          rowsPerTile * groupsPerChunk * tapsPerChunk),
              pixels},
             steps);
  };
  b.forLoop(range.low, b.minIndex(range.high, b.index(whole)), 1,
            [&](Value *number) { emitAt(number, splitPixels); });
  if (!left)
    return;
  auto emitLast = [&] { emitAt(b.index(whole), left); };
  if (tilesPerTask == tiles)
    return emitLast();
  b.ifThen(b.CreateICmpEQ(range.high, b.index(tiles)), emitLast);
}

SplitConvolutionEmitter::TileRange
SplitConvolutionEmitter::getRange(Value *image, Value *number) {
  Value *low = b.addScaled(b.index(0), number, tilesPerTask);
  Value *high =
      b.minIndex(b.CreateNSWAdd(low, b.index(tilesPerTask)), b.index(tiles));
  Value *pixel = b.addScaled(b.index(0), low, splitPixels);
  if (!isInputFlat) {
    int64_t columns = this->image.columns;
    pixel = b.addScaled(b.index(0), divide(pixel, columns)[0], columns);
  }
  return {image, low, high, pixel};
}

void SplitConvolutionEmitter::stagePixels(const TileRange &range,
                                          const Steps &steps) {
  Value *numPixels =
      b.minIndex(b.index(tilesPerTask * splitPixels),
                 b.CreateNSWSub(b.index(pixelsPerImage), range.stagePixel));
  auto emitStage = [&] {
    emitSplitStage(b, shape, *this, stage, input,
                   {range.image, range.stagePixel, numPixels, steps.firstGroup,
                    steps.endGroup});
  };
  // Chunks of the taps of one group have the same pixels.
  if (chunksPerGroup == 1)
    emitStage();
  else
    b.ifThen(b.CreateICmpEQ(steps.firstTap, b.index(0)), emitStage);
}

/// Task: (image * tile ranges + tile range) * block groups + block group.
void SplitConvolutionEmitter::emitTask(Value *task) {
  int64_t ranges = getRanges(), groups = getGroups();
  auto [outer, group] = divide(task, groups);
  auto [imageNumber, rangeNumber] = divide(outer, ranges);
  if (groups == 1)
    group = b.index(0);
  if (images == 1)
    imageNumber = b.index(0);
  if (ranges == 1)
    rangeNumber = b.index(0);
  TileRange range = getRange(imageNumber, rangeNumber);
  Value *firstBlock = b.addScaled(b.index(0), group, blocksPerTask);
  Value *endBlock = b.minIndex(
      b.CreateNSWAdd(firstBlock, b.index(blocksPerTask)), b.index(blocks));
  int64_t whole = shape.outChannels / splitChannels;
  int64_t left = shape.outChannels % splitChannels;
  b.forLoop(numChunks, [&](Value *chunk) {
    Steps steps = getSteps(chunk);
    stagePixels(range, steps);
    auto emitAt = [&](Value *number, int64_t channels) {
      emitBlock({number, b.addScaled(b.index(0), number, splitChannels),
                 firstBlock, endBlock, channels},
                range, steps);
    };
    b.forLoop(firstBlock, b.minIndex(endBlock, b.index(whole)), 1,
              [&](Value *number) { emitAt(number, splitChannels); });
    if (!left)
      return;
    b.ifThen(b.CreateICmpEQ(endBlock, b.index(blocks)),
             [&] { emitAt(b.index(whole), left); });
  });
}

void SplitConvolutionEmitter::emit() {
  if (isFlat) {
    std::vector<StridedOperand *> operands = {&result};
    for (StridedOperand &operand : epilogue.fused)
      operands.push_back(&operand);
    ConvolutionShape joined = shape;
    isResultFlat = joinRows(joined, operands);
  }
  stage = allocate(numParts * getStagePartSize() * partSize);
  splitBuffer = allocate((rowsPerTile ? 2 : 1) * getChunkSize() * partSize);
  if (rowsPerTile) {
    parityCell = b.CreateAlloca(b.getIndexTy());
    readyCell = b.CreateAlloca(b.getIndexTy());
    b.CreateStore(b.index(0), parityCell);
    b.CreateStore(b.index(-1), readyCell);
  }
  sumBuffer = allocate(getSumSize() * 4);
  configure();
  b.forTasks(images * getRanges() * getGroups(), getNumOperations(shape),
             [&](Value *task) { emitTask(task); });
  call(llvm::Intrinsic::x86_tilerelease, {});
}

void glowish::emitSplitConvolution(KernelBuilder &b,
                                   const ConvolutionShape &shape,
                                   StridedOperand result, StridedOperand input,
                                   Value *weights, Value *bias,
                                   EpilogueCode epilogue) {
  SplitConvolutionEmitter(b, shape, std::move(result), std::move(input),
                          weights, bias, std::move(epilogue))
      .emit();
}
