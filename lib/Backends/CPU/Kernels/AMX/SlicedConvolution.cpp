//===- SlicedConvolution.cpp - Float convolution on AMX int8 tiles --------===//
//
// Pixels are counted along the padded rows of the image, so that every tap of
// the kernel reads a tile of pixels at a constant offset; the results of the
// few pixels between two rows are dropped. A tile has 16 pixels by 16 output
// channels, and three registers of sums, for the partial products of slices of
// weight 2^32, 2^24 and 2^16. The int32 sums are exact, so that their order
// doesn't matter. At the end they are converted to float and added.
//
// A task first packs its pixels as slices; they stay in the L2 cache while all
// tiles and blocks of channels use them. The weights were sliced before. While
// the AMX unit multiplies one tile, the vector units compute the epilogue of
// the previous (pending) tile.
//
//===----------------------------------------------------------------------===//

#include "Kernels/AMX/PipelinedTile.h"
#include "Kernels/AMX/SlicePacking.h"
#include "Kernels/Epilogue.h"

using namespace glowish;
using llvm::Value;

namespace {

/// Bytes of the weights of a reduction step.
constexpr int64_t stepBytes = numSlices * sliceStepBytes;

class SlicedConvolutionEmitter : private SlicedBlocking {
public:
  SlicedConvolutionEmitter(KernelBuilder &b, const ConvolutionShape &shape,
                           ConvolutionOperands operands)
      : SlicedBlocking(shape, ::isInputCollapsed(shape, operands.input.strides),
                       b.getTarget()),
        b(b), unit(b), shape(shape), needed(getNeeded(b, operands)),
        result(std::move(operands.result)), input(std::move(operands.input)),
        slices(operands.weights), scales(operands.scales), bias(operands.bias),
        epilogue(std::move(operands.epilogue)) {}
  void emit();

private:
  /// Output channels that are computed together.
  struct Block {
    Value *number, *channel; // the block's, and its first channel
    int64_t channels;
  };
  struct Tile {
    Value *pixel;  // the first one's number in the image
    Value *packed; // and in the panel
    Value *inTask; // the number of the tile in the task
    Value *count;  // of the pixels
  };
  /// Stack variables with the pixels and channels of the pending tile.
  struct Pending {
    Value *pixel, *packed, *channel;
  };
  /// The parts of the work that a run needs.
  struct Needed {
    /// The ends of the pixels of an image, of the packed rows that they take,
    /// and of its ranges of tiles.
    Value *endPixel, *endRow, *endRange;
    /// The ends of the rows and columns of the input that they take.
    Value *endInputRow, *endInputColumn;
    /// Tasks; null for all.
    Value *tasks;
  };
  /// What a task computes: tiles [low, high) of an image, for some blocks.
  struct Range {
    Value *image, *low, *high;
    Value *firstPixel; // in the panel
    Value *firstBlock, *endBlock;
  };

  Needed getNeeded(KernelBuilder &b, const ConvolutionOperands &operands) const;
  void limitImage(KernelBuilder &b, const NeededImages &images,
                  Needed &own) const;
  Value *getPackedEnd();
  void emitTask(Value *task);
  Range getRange(Value *task);
  void forBlocks(const Range &range, llvm::function_ref<void(const Block &)>);
  void forTiles(const Range &range, llvm::function_ref<void(const Tile &)>);
  void emitTile(const Range &range, const Block &block, const Tile &tile,
                Value *chunk);
  void emitMatMuls(const Block &block, const Tile &tile, Value *chunk,
                   int64_t prefetchedLines);
  void prefetchWeights(const Tile &tile, Value *weights, int64_t lines);
  void setPending(Value *sums, const Tile &tile, const Block &block);
  void finishPendingRow(Value *row);
  void emitPixel(const Block &block, const Tile &tile, Value *sums, Value *row);
  void emitPixelAt(const Block &block, const Tile &tile,
                   llvm::ArrayRef<Value *> index, Value *sums, Value *row);
  Value *getTapShift(Value *tap);
  std::array<Value *, 2> divide(Value *value, int64_t extent);

  KernelBuilder &b;
  PipelinedTile unit;
  ConvolutionShape shape;
  Needed needed;
  StridedOperand result, input;
  Value *slices, *scales, *bias;
  EpilogueCode epilogue;
  /// Whether the pixels of the result have a uniform stride, too.
  bool isResultCollapsed = false;
  /// The slices of a chunk's pixels.
  SlicePanel panel = {};
  Pending pending = {};
  /// The image of the task.
  Value *imageNumber = nullptr;
};

} // namespace

std::array<Value *, 2> SlicedConvolutionEmitter::divide(Value *value,
                                                        int64_t extent) {
  if (extent == 1)
    return {value, b.index(0)};
  return {b.CreateUDiv(value, b.index(extent)),
          b.CreateURem(value, b.index(extent))};
}

/// Limits \p own to the rows and columns that are needed. Others of the input
/// may be NaN, and must not be packed with those: they share a scale.
void SlicedConvolutionEmitter::limitImage(KernelBuilder &b,
                                          const NeededImages &images,
                                          Needed &own) const {
  auto getInputEnd = [&](Value *needed, int64_t stride, int64_t reach,
                         int64_t pad, int64_t extent) {
    Value *end = b.addScaled(b.index(reach + 1 - stride - pad), needed, stride);
    return b.maxIndex(b.index(0), b.minIndex(end, b.index(extent)));
  };
  if (Value *rows = images.rows) {
    own.endPixel = b.minIndex(own.endPixel, b.scaleIndex(rows, image.columns));
    own.endRow = b.CreateNSWAdd(rows, b.index(image.rows - shape.outHeight));
    own.endInputRow =
        getInputEnd(rows, shape.strideH, (shape.kernelH - 1) * shape.dilationH,
                    shape.padTop, shape.height);
  }
  if (images.columns)
    own.endInputColumn = getInputEnd(images.columns, shape.strideW,
                                     (shape.kernelW - 1) * shape.dilationW,
                                     shape.padLeft, shape.width);
}

SlicedConvolutionEmitter::Needed
SlicedConvolutionEmitter::getNeeded(KernelBuilder &b,
                                    const ConvolutionOperands &operands) const {
  Value *numImages = operands.needed.images;
  Needed own = {b.index(pixelsPerImage), b.index(getRows()),
                b.index(getRanges()),    b.index(shape.height),
                b.index(shape.width),    nullptr};
  if (isCollapsed) {
    if (!operands.neededColumns)
      return own;
    own.endPixel = operands.neededColumns;
    numImages = nullptr;
  } else {
    limitImage(b, operands.needed, own);
  }
  if (!numImages && !operands.needed.rows && !isCollapsed)
    return own;
  own.endRange = b.divideUp(b.divideUp(own.endPixel, tilePixels), tilesPerTask);
  own.tasks = b.scaleIndex(
      b.CreateNSWMul(numImages ? numImages : b.index(images), own.endRange),
      getGroups());
  return own;
}

//===- Matmuls ------------------------------------------------------------===//

/// The offset in bytes from a pixel of the panel to the one under \p tap.
Value *SlicedConvolutionEmitter::getTapShift(Value *tap) {
  if (isGathered)
    return b.scaleIndex(tap, panelPixels * matrixDepth);
  std::vector<int64_t> shifts;
  for (int64_t kh = 0; kh < shape.kernelH; ++kh)
    for (int64_t kw = 0; kw < shape.kernelW; ++kw) {
      int64_t y = kh * shape.dilationH, x = kw * shape.dilationW;
      int64_t phase = y % shape.strideH * image.phasesW + x % shape.strideW;
      shifts.push_back((phase * groupsPerChunk * panelPixels +
                        y / shape.strideH * image.columns + x / shape.strideW) *
                       matrixDepth);
    }
  return numTaps == 1 ? b.index(shifts[0]) : b.lookUp<int64_t>(shifts, tap);
}

/// Prefetches weights of the next block: each tile prefetches \p lines cache
/// lines of the weights of the same step.
void SlicedConvolutionEmitter::prefetchWeights(const Tile &tile, Value *weights,
                                               int64_t lines) {
  Value *first =
      b.getElement(weights, ElemKind::Int8,
                   b.addScaled(b.index(getSliceSteps(shape) * stepBytes),
                               tile.inTask, lines * 64));
  for (int64_t line = 0; line < lines; ++line)
    b.prefetch(b.getElement(first, ElemKind::Int8, line * 64));
}

/// Multiplies a tile and a block for all steps of a chunk.
void SlicedConvolutionEmitter::emitMatMuls(const Block &block, const Tile &tile,
                                           Value *chunk,
                                           int64_t prefetchedLines) {
  int64_t stepsPerChunk = groupsPerChunk * numTaps;
  Value *firstStep = b.addScaled(
      b.scaleIndex(block.number, getSliceSteps(shape)), chunk, stepsPerChunk);
  Value *first = b.scaleIndex(tile.packed, matrixDepth);
  // Each step finishes as many rows of the pending tile.
  int64_t rowsPerStep = (matrixRows + stepsPerChunk - 1) / stepsPerChunk;
  b.forLoop(groupsPerChunk, [&](Value *group) {
    Value *start = b.addScaled(first, group,
                               getPlanesPerGroup() * panelPixels * matrixDepth);
    Value *groupStep = b.scaleIndex(group, numTaps);
    b.forLoop(numTaps, [&](Value *tap) {
      Value *pixels = b.getElement(panel.slices, ElemKind::Int8,
                                   b.CreateNSWAdd(start, getTapShift(tap)));
      Value *step = b.CreateNSWAdd(groupStep, tap);
      Value *weights = b.getElement(slices, ElemKind::Int8,
                                    b.CreateNSWAdd(firstStep, step), stepBytes);
      prefetchWeights(tile, weights, prefetchedLines);
      unit.multiplyAndFinish({pixels, getSliceBytes()},
                             {weights, sliceStepBytes}, step, rowsPerStep,
                             [&](Value *row) { finishPendingRow(row); });
    });
  });
}

//===- Results ------------------------------------------------------------===//

/// Computes the epilogue of row \p row of the stored sums.
void SlicedConvolutionEmitter::emitPixelAt(const Block &block, const Tile &tile,
                                           llvm::ArrayRef<Value *> index,
                                           Value *sums, Value *row) {
  unsigned lanes = unsigned(block.channels);
  auto loadOfChannels = [&](Value *base) {
    return b.widen(b.loadElement(ElemKind::Float, base, block.channel, lanes),
                   matrixColumns);
  };
  Value *pixelIndex = b.index(0);
  if (isCollapsed)
    pixelIndex = b.CreateNSWAdd(tile.packed, row);
  Value *pixelScale =
      b.loadElement(ElemKind::Float, panel.scales, pixelIndex, 1);
  Value *scale =
      b.CreateFMul(loadOfChannels(scales), b.splat(pixelScale, matrixColumns));
  Value *total = unit.addOrders(sums, row);
  total = bias ? b.multiplyAdd(total, scale, loadOfChannels(bias))
               : b.CreateFMul(total, scale);
  storeResult(b, result, epilogue,
              {index[0], index[1], index[2], block.channel}, total, lanes);
}

void SlicedConvolutionEmitter::emitPixel(const Block &block, const Tile &tile,
                                         Value *sums, Value *row) {
  Value *zero = b.index(0);
  Value *pixel = b.CreateNSWAdd(tile.pixel, row);
  if (isResultCollapsed)
    return emitPixelAt(block, tile, {zero, zero, pixel}, sums, row);
  auto [y, x] = divide(pixel, image.columns);
  if (isCollapsed) {
    auto [batch, inImage] = divide(y, image.rows);
    return emitPixelAt(block, tile, {batch, inImage, x}, sums, row);
  }
  if (image.columns == shape.outWidth)
    return emitPixelAt(block, tile, {imageNumber, y, x}, sums, row);
  b.ifThen(b.CreateICmpULT(x, b.index(shape.outWidth)), [&, x = x, y = y] {
    emitPixelAt(block, tile, {imageNumber, y, x}, sums, row);
  });
}

void SlicedConvolutionEmitter::setPending(Value *sums, const Tile &tile,
                                          const Block &block) {
  unit.setPending(sums, tile.count);
  b.CreateStore(tile.pixel, pending.pixel);
  b.CreateStore(tile.packed, pending.packed);
  b.CreateStore(block.channel, pending.channel);
}

void SlicedConvolutionEmitter::finishPendingRow(Value *row) {
  auto load = [&](Value *cell) { return b.CreateLoad(b.getIndexTy(), cell); };
  unit.finishRow(row, [&] {
    Tile tile = {load(pending.pixel), load(pending.packed), nullptr, nullptr};
    Block block = {nullptr, load(pending.channel), tileChannels};
    emitPixel(block, tile, unit.getPendingSums(), row);
  });
}

void SlicedConvolutionEmitter::emitTile(const Range &range, const Block &block,
                                        const Tile &tile, Value *chunk) {
  Value *sums = nullptr;
  if (numChunks > 1)
    sums = unit.getSums(
        b.addScaled(tile.inTask, b.CreateNSWSub(block.number, range.firstBlock),
                    tilesPerTask));
  else
    sums = unit.getFreeSums();
  Value *isFirst = b.CreateICmpEQ(chunk, b.index(0));
  b.ifThen(isFirst, [&] { unit.clearSums(); });
  if (numChunks > 1)
    b.ifThen(b.CreateNot(isFirst), [&] { unit.loadSums(sums); });

  constexpr int64_t lines = stepBytes / 64;
  if (isTileOutside && tilesPerTask > 1) {
    // The first tile prefetches the weights for all.
    b.ifThenElse(
        b.CreateICmpEQ(tile.inTask, b.index(0)),
        [&] { emitMatMuls(block, tile, chunk, lines); },
        [&] { emitMatMuls(block, tile, chunk, 0); });
  } else {
    emitMatMuls(block, tile, chunk, (lines + tilesPerTask - 1) / tilesPerTask);
  }
  unit.clearPending();
  unit.storeSums(sums);
  b.ifThen(b.CreateICmpEQ(chunk, b.index(numChunks - 1)), [&] {
    if (block.channels == tileChannels)
      return setPending(sums, tile, block);
    b.forLoop(tile.count,
              [&](Value *row) { emitPixel(block, tile, sums, row); });
  });
}

//===- Loops --------------------------------------------------------------===//

void SlicedConvolutionEmitter::forBlocks(
    const Range &range, llvm::function_ref<void(const Block &)> body) {
  int64_t whole = shape.outChannels / tileChannels;
  int64_t left = shape.outChannels % tileChannels;
  b.forLoop(range.firstBlock, b.minIndex(range.endBlock, b.index(whole)), 1,
            [&](Value *number) {
              body({number, b.scaleIndex(number, tileChannels), tileChannels});
            });
  if (left)
    b.ifThen(b.CreateICmpEQ(range.endBlock, b.index(blocks)), [&] {
      body({b.index(whole), b.index(whole * tileChannels), left});
    });
}

void SlicedConvolutionEmitter::forTiles(
    const Range &range, llvm::function_ref<void(const Tile &)> body) {
  b.forLoop(range.low, range.high, 1, [&](Value *number) {
    Value *pixel = b.scaleIndex(number, tilePixels);
    Value *count = b.index(tilePixels);
    if (pixelsPerImage % tilePixels || needed.tasks)
      count = b.minIndex(count, b.CreateNSWSub(needed.endPixel, pixel));
    body({pixel, b.CreateNSWSub(pixel, range.firstPixel),
          b.CreateNSWSub(number, range.low), count});
  });
}

/// \p task is (image * tile ranges + tile range) * block groups + block group.
SlicedConvolutionEmitter::Range
SlicedConvolutionEmitter::getRange(Value *task) {
  auto [outer, group] = divide(task, getGroups());
  if (getGroups() == 1)
    group = b.index(0);
  Value *imageNumber = outer, *number = b.index(0);
  if (getRanges() != 1) {
    imageNumber = b.CreateUDiv(outer, needed.endRange);
    number = b.CreateURem(outer, needed.endRange);
  }
  if (images == 1)
    imageNumber = b.index(0);
  auto getEnd = [&](Value *first, int64_t count, Value *end) {
    return b.minIndex(b.CreateNSWAdd(first, b.index(count)), end);
  };
  Value *low = b.scaleIndex(number, tilesPerTask);
  Value *firstBlock = b.scaleIndex(group, blocksPerTask);
  Value *pixel = b.scaleIndex(low, tilePixels);
  if (!packsTiles())
    pixel = b.scaleIndex(divide(pixel, image.columns)[0], image.columns);
  return {imageNumber,
          low,
          getEnd(low, tilesPerTask, b.divideUp(needed.endPixel, tilePixels)),
          pixel,
          firstBlock,
          getEnd(firstBlock, blocksPerTask, b.index(blocks))};
}

/// Returns the end of the pixels that are packed: of whole tiles, but for the
/// last of all.
Value *SlicedConvolutionEmitter::getPackedEnd() {
  Value *end = b.index(pixelsPerImage);
  if (!needed.tasks)
    return end;
  Value *numTiles = b.divideUp(needed.endPixel, tilePixels);
  return b.minIndex(b.scaleIndex(numTiles, tilePixels), end);
}

void SlicedConvolutionEmitter::emitTask(Value *task) {
  Range range = getRange(task);
  imageNumber = range.image;
  SliceRange packed = {
      range.image,
      range.firstPixel,
      b.minIndex(b.index(tilesPerTask * tilePixels),
                 b.CreateNSWSub(getPackedEnd(), range.firstPixel)),
      needed.endRow,
      needed.endInputRow,
      needed.endInputColumn,
      b.index(0),
      b.index(image.groups)};
  if (numChunks > 1)
    emitSlicePanel(b, shape, *this, panel, input, packed, SliceStep::Scales);
  b.forLoop(numChunks, [&](Value *chunk) {
    packed.firstGroup = b.scaleIndex(chunk, groupsPerChunk);
    packed.endGroup =
        b.CreateNSWAdd(packed.firstGroup, b.index(groupsPerChunk));
    emitSlicePanel(b, shape, *this, panel, input, packed,
                   numChunks > 1 ? SliceStep::Slices : SliceStep::Both);
    auto emitAt = [&](const Block &block, const Tile &tile) {
      emitTile(range, block, tile, chunk);
    };
    if (isTileOutside)
      forTiles(range, [&](const Tile &tile) {
        forBlocks(range, [&](const Block &block) { emitAt(block, tile); });
      });
    else
      forBlocks(range, [&](const Block &block) {
        forTiles(range, [&](const Tile &tile) { emitAt(block, tile); });
      });
  });
  unit.finish([&](Value *row) { finishPendingRow(row); });
}

void SlicedConvolutionEmitter::emit() {
  if (isCollapsed) {
    std::vector<StridedOperand *> operands = {&result};
    for (StridedOperand &operand : epilogue.fused)
      operands.push_back(&operand);
    ConvolutionShape joined = shape;
    isResultCollapsed = collapseRows(joined, operands);
  }
  int64_t numScales = std::max(isCollapsed ? panelPixels : 1, matrixColumns);
  auto allocate = [&](int64_t bytes) {
    return b.allocate(ElemKind::Int8, bytes);
  };
  panel = {allocate(numSlices * getSliceBytes()), allocate(numScales * 4),
           allocate(numScales * 4), nullptr};
  if (isInputTransposed(shape, input.strides) || isGathered)
    panel.scratch = allocate(numSlices * sliceStepBytes);
  unit.allocateSums(getNumSums());
  for (Value **cell : {&pending.pixel, &pending.packed})
    *cell = b.allocateSlot(b.getIndexTy());
  unit.start();
  pending.channel = b.allocateSlot(b.getIndexTy());
  unit.configure();
  b.forTasks(
      images * getRanges() * getGroups(), getNumOperations(shape),
      [&](Value *task) { emitTask(task); }, needed.tasks);
  unit.release();
}

void glowish::emitSlicedConvolution(KernelBuilder &b,
                                    const ConvolutionShape &shape,
                                    ConvolutionOperands operands) {
  SlicedConvolutionEmitter(b, shape, std::move(operands)).emit();
}
