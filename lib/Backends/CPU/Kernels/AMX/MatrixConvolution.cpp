//===- MatrixConvolution.cpp - Convolutions on AMX registers --------------===//
//
// Two tiles of 16 positions by two blocks of 16 output channels are computed
// together, each pair in a register of sums: so each register that is loaded is
// multiplied twice, and the next multiplication need not wait for the last.
// For each pair of blocks, the weights of which stay in the cache, all tiles of
// the task follow one another.
//
//===----------------------------------------------------------------------===//

#include "Kernels/AMX/MatrixBlocking.h"
#include "Kernels/Convolution/Window.h"
#include "Kernels/Epilogue.h"

using namespace glowish;
using llvm::Value;

namespace {

/// Where all pixels of the operands are one row, the distance of those of the
/// input in lanes; else 0. \p lanes becomes that row.
int64_t getRowStride(ConvolutionShape &lanes, ConvolutionOperands &operands) {
  ConvolutionShape joined = lanes;
  if (!collapsePointwise(joined, operands))
    return 0;
  lanes = joined;
  return operands.input.strides[2];
}

class MatrixConvolutionEmitter {
public:
  MatrixConvolutionEmitter(KernelBuilder &b, const ConvolutionShape &lanes,
                           int64_t rowStride, AmxUnit::Elements elements,
                           ConvolutionOperands operands)
      : b(b), unit(b), blocking(lanes, rowStride, b.getTarget()), lanes(lanes),
        elements(elements), result(std::move(operands.result)),
        input(std::move(operands.input)), weights(operands.weights),
        bias(operands.bias),
        taps(operands.isBiasOfTaps ? TapRanges(lanes) : TapRanges()),
        bands(b, lanes, operands.needed, blocking.bandRows),
        neededColumns(operands.neededColumns),
        epilogue(std::move(operands.epilogue)) {}

  void emit();

private:
  /// The assignment of tile registers: sums of tile i and block j at 2 i + j.
  enum : unsigned { SumRegister = 0, PixelRegister = 4, WeightRegister = 6 };

  /// What a task computes.
  struct Band {
    Value *image, *row;
    /// The first position, and how many.
    Value *first, *count;
  };
  /// Blocks that are computed together.
  struct Blocks {
    Value *channel, *weights;
    unsigned count;
    /// The channels of the last.
    unsigned lastLanes;
  };

  Value *getLane(Value *base, Value *lane) {
    return b.getElement(base, ElemKind::Int32, lane);
  }
  void copyLanes(Value *to, Value *from, int64_t count);
  void clearLanes(Value *to, int64_t count);
  void copyPixels(Value *to, Value *from, int64_t count);
  void packRow(Value *to, Value *image, Value *row);
  void packBand(const Band &band);
  void packTail();

  Band getBand(Value *image, Value *number);
  void emitTask(Value *task);
  void forBlocks(Value *group, llvm::function_ref<void(const Blocks &)> body);
  void emitTiles(const Band &band, const Blocks &blocks);
  void emitTile(const Band &band, const Blocks &blocks, Value *first,
                unsigned tiles);
  Value *getPosition(const Band &band, Value *position);
  void multiply(const Blocks &blocks, llvm::ArrayRef<Value *> positions);
  void storePosition(const Band &band, const Blocks &blocks, Value *position,
                     Value *rowSums);
  void storePixel(const Blocks &blocks, llvm::ArrayRef<Value *> pixel,
                  Value *rowSums);

  KernelBuilder &b;
  AmxUnit unit;
  MatrixBlocking blocking;
  ConvolutionShape lanes;
  AmxUnit::Elements elements;
  StridedOperand result, input;
  Value *weights, *bias;
  /// Those that the bias differs by; one of each where it does not.
  TapRanges taps;
  /// The bands that are needed, unless there is one row.
  ImageBands bands;
  Value *neededColumns;
  EpilogueCode epilogue;
  Value *panel = nullptr, *sums = nullptr;
};

} // namespace

//===- The panel ----------------------------------------------------------===//

void MatrixConvolutionEmitter::copyLanes(Value *to, Value *from,
                                         int64_t count) {
  b.forVectors(count, matrixColumns, [&](Value *lane, unsigned active) {
    b.store(ElemKind::Int32,
            b.load(ElemKind::Int32, getLane(from, lane), active),
            getLane(to, lane));
  });
}

void MatrixConvolutionEmitter::clearLanes(Value *to, int64_t count) {
  b.forVectors(count, matrixColumns, [&](Value *lane, unsigned active) {
    b.store(ElemKind::Int32, b.literal(ElemKind::Int32, 0, active),
            getLane(to, lane));
  });
}

void MatrixConvolutionEmitter::copyPixels(Value *to, Value *from,
                                          int64_t count) {
  if (input.strides[2] == lanes.channels)
    return copyLanes(to, from, count * lanes.channels);
  b.forLoop(count, [&](Value *pixel) {
    copyLanes(getLane(to, b.scaleIndex(pixel, lanes.channels)),
              getLane(from, b.scaleIndex(pixel, input.strides[2])),
              lanes.channels);
  });
}

/// Row \p row of the input, which may lie outside of it.
void MatrixConvolutionEmitter::packRow(Value *to, Value *image, Value *row) {
  int64_t columns = blocking.panelColumns, channels = lanes.channels;
  int64_t left = std::min(lanes.padLeft, columns);
  int64_t there = std::min(lanes.width, columns - left);
  Value *isInside = b.CreateICmpULT(row, b.index(lanes.height));
  b.ifThen(b.CreateNot(isInside), [&] { clearLanes(to, columns * channels); });
  b.ifThen(isInside, [&] {
    Value *from = input.getAddress(b, {image, row});
    auto getColumn = [&](int64_t column) {
      return getLane(to, b.index(column * channels));
    };
    clearLanes(to, left * channels);
    copyPixels(getColumn(left), from, there);
    clearLanes(getColumn(left + there), (columns - left - there) * channels);
  });
}

void MatrixConvolutionEmitter::packBand(const Band &band) {
  int64_t rowLanes = blocking.panelColumns * lanes.channels;
  Value *firstRow = b.CreateNSWSub(b.scaleIndex(band.row, lanes.strideH),
                                   b.index(lanes.padTop));
  for (int64_t phase = 0; phase < blocking.phases; ++phase)
    b.forLoop(blocking.panelRows, [&](Value *row) {
      Value *panelRow =
          b.CreateNSWAdd(row, b.index(phase * blocking.panelRows));
      Value *inputRow = b.CreateNSWAdd(
          b.addScaled(firstRow, row, lanes.strideH), b.index(phase));
      packRow(getLane(panel, b.scaleIndex(panelRow, rowLanes)), band.image,
              inputRow);
    });
}

/// What cannot be loaded from the only row.
void MatrixConvolutionEmitter::packTail() {
  int64_t first = blocking.directTiles * matrixRows;
  int64_t left = blocking.rowPositions - first;
  copyLanes(panel, getLane(input.base, b.index(first * blocking.rowStride)),
            (left - 1) * blocking.rowStride + lanes.channels);
}

//===- Tiles --------------------------------------------------------------===//

/// The address of the lanes under the first tap of \p position of the band.
Value *MatrixConvolutionEmitter::getPosition(const Band &band,
                                             Value *position) {
  if (!blocking.isDirect())
    return getLane(panel, b.scaleIndex(position, blocking.positionLanes));
  int64_t tail = blocking.directTiles * matrixRows;
  Value *number = b.CreateNSWAdd(band.first, position);
  Value *there =
      getLane(input.base, b.scaleIndex(number, blocking.positionLanes));
  Value *packed =
      getLane(panel, b.scaleIndex(b.CreateNSWSub(number, b.index(tail)),
                                  blocking.positionLanes));
  return b.CreateSelect(b.CreateICmpSLT(number, b.index(tail)), there, packed);
}

void MatrixConvolutionEmitter::multiply(const Blocks &blocks,
                                        llvm::ArrayRef<Value *> positions) {
  int64_t stride = blocking.positionLanes * 4;
  for (unsigned sum = 0; sum < 2 * positions.size(); ++sum)
    if (sum % 2 < blocks.count)
      unit.clear(SumRegister + sum);
  std::vector<int64_t> offsets = blocking.getRunOffsets();
  b.forLoop(blocking.runs, [&](Value *run) {
    Value *offset = blocking.runs == 1 ? b.index(offsets[0])
                                       : b.lookUp<int64_t>(offsets, run);
    b.forLoop(blocking.runSteps, [&](Value *step) {
      Value *number = b.addScaled(step, run, blocking.runSteps);
      Value *lane = b.addScaled(offset, step, matrixDepth / 4);
      Value *first = b.getElement(blocks.weights, ElemKind::Int8, number,
                                  AmxUnit::registerBytes);
      int64_t blockBytes = blocking.getSteps() * AmxUnit::registerBytes;
      for (unsigned block = 0; block < blocks.count; ++block)
        unit.load(WeightRegister + block,
                  b.getElement(first, ElemKind::Int8, block * blockBytes),
                  matrixDepth);
      for (auto [tile, position] : llvm::enumerate(positions)) {
        unit.load(PixelRegister + unsigned(tile), getLane(position, lane),
                  stride);
        for (unsigned block = 0; block < blocks.count; ++block)
          unit.multiply(elements, SumRegister + 2 * unsigned(tile) + block,
                        PixelRegister + unsigned(tile), WeightRegister + block);
      }
    });
  });
}

/// \p rowSums: the sums of the output pixel \p pixel.
void MatrixConvolutionEmitter::storePixel(const Blocks &blocks,
                                          llvm::ArrayRef<Value *> pixel,
                                          Value *rowSums) {
  bool isFloat = isFloatKind(epilogue.kind);
  ElemKind kind = isFloat ? ElemKind::Float : ElemKind::Int32;
  Value *biasRow = nullptr;
  if (bias)
    biasRow = b.getElement(bias, epilogue.kind,
                           b.addScaled(blocks.channel,
                                       taps.getPairAt(b, pixel[1], pixel[2]),
                                       lanes.outChannels));
  for (unsigned block = 0; block < blocks.count; ++block) {
    int64_t first = block * matrixColumns;
    unsigned active =
        block + 1 == blocks.count ? blocks.lastLanes : unsigned(matrixColumns);
    Value *sum = b.loadElement(kind, rowSums, first, active);
    if (bias) {
      Value *added = b.loadElement(epilogue.kind, biasRow, first, active);
      sum = isFloat ? b.CreateFAdd(sum, added) : b.CreateAdd(sum, added);
    }
    storeResult(b, result, epilogue,
                {pixel[0], pixel[1], pixel[2],
                 b.CreateNSWAdd(blocks.channel, b.index(first))},
                sum, active);
  }
}

void MatrixConvolutionEmitter::storePosition(const Band &band,
                                             const Blocks &blocks,
                                             Value *position, Value *rowSums) {
  Value *zero = b.index(0);
  if (blocking.isDirect())
    return storePixel(
        blocks, {zero, zero, b.CreateNSWAdd(band.first, position)}, rowSums);
  Value *rowLength = b.index(blocking.rowPositions);
  Value *row = b.CreateNSWAdd(band.row, b.CreateUDiv(position, rowLength));
  Value *column = b.CreateURem(position, rowLength);
  if (blocking.rowPositions == lanes.outWidth)
    return storePixel(blocks, {band.image, row, column}, rowSums);
  b.ifThen(b.CreateICmpULT(column, b.index(lanes.outWidth)),
           [&] { storePixel(blocks, {band.image, row, column}, rowSums); });
}

/// \p tiles tiles from position \p first of the band on.
void MatrixConvolutionEmitter::emitTile(const Band &band, const Blocks &blocks,
                                        Value *first, unsigned tiles) {
  constexpr int64_t rowBytes = 2 * matrixColumns * 4;
  llvm::SmallVector<Value *, 2> positions;
  for (unsigned tile = 0; tile < tiles; ++tile)
    positions.push_back(
        getPosition(band, b.CreateNSWAdd(first, b.index(tile * matrixRows))));
  multiply(blocks, positions);
  for (unsigned tile = 0; tile < tiles; ++tile)
    for (unsigned block = 0; block < blocks.count; ++block)
      unit.store(SumRegister + 2 * tile + block,
                 b.getElement(sums, ElemKind::Int8,
                              tile * matrixRows * rowBytes +
                                  block * matrixColumns * 4),
                 rowBytes);
  Value *count = b.minIndex(b.CreateNSWSub(band.count, first),
                            b.index(tiles * matrixRows));
  b.forLoop(count, [&](Value *row) {
    storePosition(band, blocks, b.CreateNSWAdd(first, row),
                  b.getElement(sums, ElemKind::Int8, row, rowBytes));
  });
}

void MatrixConvolutionEmitter::emitTiles(const Band &band,
                                         const Blocks &blocks) {
  Value *single = b.index(matrixRows);
  Value *tiles =
      b.CreateUDiv(b.CreateNSWAdd(band.count, b.index(matrixRows - 1)), single);
  Value *odd = b.CreateAnd(tiles, b.index(1));
  Value *paired = b.CreateNSWMul(b.CreateNSWSub(tiles, odd), single);
  b.forLoop(b.index(0), paired, 2 * matrixRows,
            [&](Value *first) { emitTile(band, blocks, first, 2); });
  b.ifThen(b.CreateICmpNE(odd, b.index(0)),
           [&] { emitTile(band, blocks, paired, 1); });
}

//===- Tasks --------------------------------------------------------------===//

void MatrixConvolutionEmitter::forBlocks(
    Value *group, llvm::function_ref<void(const Blocks &)> body) {
  int64_t channels = lanes.outChannels;
  int64_t pairChannels = 2 * matrixColumns;
  int64_t blockBytes = blocking.getSteps() * AmxUnit::registerBytes;
  auto getBlocks = [&](Value *pair, unsigned count, unsigned lastLanes) {
    return Blocks{b.scaleIndex(pair, pairChannels),
                  b.getElement(weights, ElemKind::Int8, pair, 2 * blockBytes),
                  count, lastLanes};
  };
  int64_t wholePairs = channels / pairChannels;
  int64_t groupPairs = blocking.groupBlocks / 2;
  Value *low = b.scaleIndex(group, groupPairs);
  Value *high = b.CreateNSWAdd(low, b.index(groupPairs));
  b.forLoop(low, b.minIndex(high, b.index(wholePairs)), 1, [&](Value *pair) {
    body(getBlocks(pair, 2, unsigned(matrixColumns)));
  });
  int64_t left = channels % pairChannels;
  if (!left)
    return;
  unsigned count = left > matrixColumns ? 2 : 1;
  b.ifThen(b.CreateICmpSGT(high, b.index(wholePairs)), [&] {
    body(getBlocks(b.index(wholePairs), count,
                   unsigned(left - (count - 1) * matrixColumns)));
  });
}

MatrixConvolutionEmitter::Band
MatrixConvolutionEmitter::getBand(Value *image, Value *number) {
  Value *zero = b.index(0);
  auto getCount = [&](Value *first, int64_t count, Value *end) -> Value * {
    return b.minIndex(b.index(count), b.CreateNSWSub(end, first));
  };
  if (blocking.isDirect()) {
    int64_t positions = blocking.bandTiles * matrixRows;
    Value *first = b.addScaled(zero, number, positions);
    return {zero, zero, first,
            getCount(first, positions,
                     neededColumns ? neededColumns
                                   : b.index(blocking.rowPositions))};
  }
  Value *row = b.addScaled(zero, number, blocking.bandRows);
  Value *rows = getCount(row, blocking.bandRows, bands.endRow);
  return {image, row, zero, b.addScaled(zero, rows, blocking.rowPositions)};
}

/// \p task is (image * bands + band) * groups + group.
void MatrixConvolutionEmitter::emitTask(Value *task) {
  Values split =
      b.splitIndex(task, {blocking.images, blocking.bands, blocking.groups});
  if (!llvm::isa<llvm::Constant>(bands.perImage)) {
    Value *number = b.CreateUDiv(task, b.index(blocking.groups));
    split[0] = b.CreateUDiv(number, bands.perImage);
    split[1] = b.CreateURem(number, bands.perImage);
  }
  Band band = getBand(split[0], split[1]);
  if (!blocking.isDirect()) {
    packBand(band);
  } else if (blocking.directTiles * matrixRows < blocking.rowPositions) {
    Value *end = b.CreateNSWAdd(band.first, band.count);
    b.ifThen(b.CreateICmpSGT(end, b.index(blocking.directTiles * matrixRows)),
             [&] { packTail(); });
  }
  forBlocks(split[2], [&](const Blocks &blocks) { emitTiles(band, blocks); });
}

void MatrixConvolutionEmitter::emit() {
  panel = b.allocate(ElemKind::Int8, blocking.panelLanes * 4);
  sums = b.allocate(ElemKind::Int8, 4 * AmxUnit::registerBytes);
  unit.configure();
  Value *needed = bands.count;
  if (blocking.isDirect() && neededColumns)
    needed = b.divideUp(neededColumns, blocking.bandTiles * matrixRows);
  b.forTasks(
      blocking.getTasks(), getNumOperations(lanes),
      [&](Value *task) { emitTask(task); },
      needed ? b.scaleIndex(needed, blocking.groups) : nullptr);
  unit.release();
}

void glowish::emitMatrixConvolution(KernelBuilder &b,
                                    const ConvolutionShape &lanes,
                                    AmxUnit::Elements elements,
                                    ConvolutionOperands operands) {
  ConvolutionShape shape = lanes;
  int64_t rowStride = getRowStride(shape, operands);
  MatrixConvolutionEmitter(b, shape, rowStride, elements, std::move(operands))
      .emit();
}
