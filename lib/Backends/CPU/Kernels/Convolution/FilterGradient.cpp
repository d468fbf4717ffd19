//===- FilterGradient.cpp - Gradients of filters --------------------------===//
//
// For each tap of the kernel a matmul over all pixels: the gradient's channels
// by the input's. One of the two sides lies in vectors, elements of the other
// are broadcast; a tile of sums stays in registers while the pixels go by. A
// tap has just the pixels whose input is inside the image, so that there are no
// borders.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Convolution/FilterGradient.h"
#include "Kernels/AMX/SlicedFilterBlocking.h"
#include "Kernels/KernelOperands.h"
#include "Kernels/MatMul/MicroKernel.h"
#include "Selection/KernelSelection.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;
using llvm::Value;

namespace {

/// One of the two images.
struct Side {
  StridedOperand image;
  /// Of a group.
  int64_t channels;
  /// Of a channel in the result.
  int64_t resultStride;
  /// Elements from one output pixel to the next in a row.
  int64_t pixelStride;
};

/// Output positions along one side whose input is inside the image, by tap.
struct Positions {
  std::vector<int64_t> low, high;
};
/// Those of one tap.
struct Range {
  Value *low, *high;
};

class FilterGradientEmitter {
public:
  FilterGradientEmitter(KernelBuilder &b, const ConvolutionShape &shape,
                        Value *result, StridedOperand input,
                        StridedOperand gradient);
  void emit();
  /// The estimated time on one thread of the target for sums.
  double getCycles() const { return cycles; }

private:
  /// Sums of some rows by some columns for one tap.
  struct Tile {
    Value *group, *kh, *kw, *row, *column;
    unsigned rows, columns;
  };

  void collapseRows();
  double chooseTile(const TargetDescription &target);
  Range lookUp(const Positions &positions, Value *tap);
  void emitColumns(Tile tile, Value *firstImage, Value *endImage);
  void emitTile(const Tile &tile, Value *firstImage, Value *endImage);
  Values accumulate(const Tile &tile, const MicroKernel &microKernel,
                    const Range &range, Value *image, Value *y, Values sums);
  Values accumulateLanes(const MicroKernel &microKernel, Value *length,
                         Value *x, Value *y, const Values &sums);
  void store(const Tile &tile, const MicroKernel &microKernel, Values sums,
             Value *isFirst);

  KernelBuilder &b;
  ConvolutionShape shape;
  ElemKind kind;
  Value *result;
  Side rows, columns;
  bool isDepthwise, isInputColumns;
  unsigned lanes, tileRows = 1, tileVectors = 1;
  int64_t imagesPerChunk;
  double cycles = 0;
  Positions vertical, horizontal;
};

} // namespace

static Positions getPositions(int64_t count, int64_t extent, int64_t taps,
                              int64_t stride, int64_t pad, int64_t dilation) {
  Positions positions;
  for (int64_t tap = 0; tap < taps; ++tap) {
    int64_t before = std::max<int64_t>(0, pad - tap * dilation);
    int64_t last = extent - 1 + pad - tap * dilation;
    int64_t end = last < 0 ? 0 : std::min(count, last / stride + 1);
    positions.high.push_back(end);
    positions.low.push_back(
        std::min<int64_t>(end, llvm::divideCeil(before, stride)));
  }
  return positions;
}

FilterGradientEmitter::FilterGradientEmitter(KernelBuilder &b,
                                             const ConvolutionShape &original,
                                             Value *result,
                                             StridedOperand input,
                                             StridedOperand gradient)
    : b(b), shape(original), kind(input.kind), result(result),
      isDepthwise(::isDepthwise(shape)), lanes(b.getRegisterLanes(kind)) {
  collapseRows();
  int64_t taps = shape.kernelH * shape.kernelW;
  int64_t depth = shape.getGroupChannels();
  int64_t imageSize = shape.height * shape.width * shape.channels +
                      shape.outHeight * shape.outWidth * shape.outChannels;
  Side in = {std::move(input), depth, 1, shape.strideW * shape.channels};
  Side out = {std::move(gradient), shape.getGroupOutChannels(), taps * depth,
              shape.outChannels};
  vertical = getPositions(shape.outHeight, shape.height, shape.kernelH,
                          shape.strideH, shape.padTop, shape.dilationH);
  horizontal = getPositions(shape.outWidth, shape.width, shape.kernelW,
                            shape.strideW, shape.padLeft, shape.dilationW);
  if (isDepthwise) {
    in.channels = shape.channels;
    in.resultStride = taps;
    out.channels = 1;
    shape.group = 1;
  }
  const TargetDescription &target = b.getTarget();
  const TargetDescription &sumTarget = target.getSumTarget();
  int64_t sumLanes = b.getSumLanes(kind);
  auto countVectors = [&](const Side &side) {
    return (side.channels + sumLanes - 1) / sumLanes;
  };
  // As few vectors as possible; else those that are stored as they are.
  isInputColumns = isDepthwise || countVectors(in) * out.channels <=
                                      countVectors(out) * in.channels;
  columns = isInputColumns ? in : out;
  rows = isInputColumns ? out : in;
  cycles = chooseTile(sumTarget);
  chooseTile(target);
  // Sums of a chunk wait in the result, which must not round them.
  int64_t bytes = imageSize * int64_t(getElemSize(kind));
  bool isExact = b.getStorageTy(kind) == b.getComputeTy(kind);
  imagesPerChunk = isExact
                       ? std::max<int64_t>(1, sumTarget.cacheBytes / 2 /
                                                  std::max<int64_t>(bytes, 1))
                       : shape.batch;
}

/// Makes one row of each image where output pixels have one input pixel each.
void FilterGradientEmitter::collapseRows() {
  if (shape.kernelH != 1 || shape.kernelW != 1 || shape.strideH != 1 ||
      shape.strideW != 1 || shape.outHeight != shape.height ||
      shape.outWidth != shape.width || shape.padTop != 0 || shape.padLeft != 0)
    return;
  shape.width = shape.outWidth = shape.width * shape.height;
  shape.height = shape.outHeight = 1;
}

/// Takes the tile with the fewest loads for its multiply-adds; returns the
/// estimated cycles of all.
double FilterGradientEmitter::chooseTile(const TargetDescription &target) {
  unsigned registers = target.numVectorRegisters;
  unsigned width = target.getComputeLanes(kind);
  unsigned available = unsigned((columns.channels + width - 1) / width);
  double least = std::numeric_limits<double>::infinity();
  for (unsigned vectors = 1; vectors <= std::min(available, 8u); ++vectors) {
    if (registers < 2 * vectors + 1)
      break;
    int64_t most = isDepthwise ? 1 : (registers - 1 - vectors) / vectors;
    int64_t tiles = (rows.channels + most - 1) / most;
    int64_t perTile = (rows.channels + tiles - 1) / tiles;
    int64_t blocks = (available + vectors - 1) / vectors;
    // Two multiply-adds or two loads a cycle, and at least four cycles for the
    // sums.
    double step = std::max(
        {double(perTile * vectors) / 2, 4.0, double(perTile + vectors) / 2});
    double cost =
        double(tiles * blocks) * (step + double(perTile + vectors) / 9);
    if (cost < least) {
      least = cost;
      tileRows = unsigned(perTile);
      tileVectors = vectors;
    }
  }
  return 1.2 * least * double(shape.batch * shape.outHeight * shape.outWidth) *
         double(shape.kernelH * shape.kernelW * shape.group);
}

Range FilterGradientEmitter::lookUp(const Positions &positions, Value *tap) {
  auto find = [&](llvm::ArrayRef<int64_t> values) {
    return llvm::all_equal(values) ? b.index(values[0]) : b.lookUp(values, tap);
  };
  return {find(positions.low), find(positions.high)};
}

/// A depthwise convolution's: multiply-adds of vectors.
Values FilterGradientEmitter::accumulateLanes(const MicroKernel &microKernel,
                                              Value *length, Value *x, Value *y,
                                              const Values &sums) {
  return b.forLoop(
      b.index(0), length, 1, sums,
      [&](Value *i, llvm::ArrayRef<Value *> carried) {
        Values current(carried);
        auto load = [&](Value *base, int64_t stride, unsigned vector) {
          Value *address = b.getElement(
              base, kind,
              b.addScaled(b.index(int64_t(vector) * lanes), i, stride));
          return b.widen(b.load(kind, address, microKernel.getLanes(vector)),
                         lanes);
        };
        for (unsigned v = 0; v < microKernel.vectors; ++v)
          current[v] =
              b.multiplyAdd(load(x, rows.pixelStride, v),
                            load(y, columns.pixelStride, v), current[v]);
        return current;
      });
}

/// The pixels of row \p y of the gradient.
Values FilterGradientEmitter::accumulate(const Tile &tile,
                                         const MicroKernel &microKernel,
                                         const Range &range, Value *image,
                                         Value *y, Values sums) {
  Value *length = b.CreateNSWSub(range.high, range.low);
  Value *inRow =
      b.addScaled(b.addScaled(b.index(-shape.padTop), tile.kh, shape.dilationH),
                  y, shape.strideH);
  Value *inColumn = b.addScaled(
      b.addScaled(b.index(-shape.padLeft), tile.kw, shape.dilationW), range.low,
      shape.strideW);
  Value *rowChannel = isDepthwise ? tile.column : tile.row;
  auto getAddress = [&](const Side &side, Value *channel, bool isInput) {
    channel = b.addScaled(channel, tile.group, side.channels);
    return side.image.getAddress(b, {image, isInput ? inRow : y,
                                     isInput ? inColumn : range.low, channel});
  };
  Value *x = getAddress(rows, rowChannel, !isInputColumns);
  Value *w = getAddress(columns, tile.column, isInputColumns);
  return isDepthwise ? accumulateLanes(microKernel, length, x, w, sums)
                     : microKernel.accumulate(b, length, x, w, std::move(sums));
}

void FilterGradientEmitter::store(const Tile &tile,
                                  const MicroKernel &microKernel, Values sums,
                                  Value *isFirst) {
  int64_t taps = shape.kernelH * shape.kernelW;
  int64_t depth = isDepthwise ? 1 : shape.getGroupChannels();
  Value *offset =
      b.scaleIndex(tile.group, shape.getGroupOutChannels() * taps * depth);
  offset = b.addScaled(offset, tile.kh, shape.kernelW * depth);
  offset = b.addScaled(offset, tile.kw, depth);
  offset = b.addScaled(offset, tile.row, rows.resultStride);
  offset = b.addScaled(offset, tile.column, columns.resultStride);
  Value *first = b.getElement(result, kind, offset);
  for (unsigned r = 0; r < tile.rows; ++r)
    for (unsigned v = 0; v < microKernel.vectors; ++v) {
      Value *address =
          b.getElement(first, kind,
                       int64_t(r) * rows.resultStride +
                           int64_t(v) * lanes * columns.resultStride);
      Value *sum = b.takeLanes(sums[r * microKernel.vectors + v],
                               microKernel.getLanes(v));
      if (isFirst) {
        Value *before = b.loadStrided(kind, address, microKernel.getLanes(v),
                                      columns.resultStride);
        before = b.CreateSelect(
            isFirst, b.literal(kind, 0, microKernel.getLanes(v)), before);
        sum = b.CreateFAdd(before, sum);
      }
      b.storeStrided(kind, sum, address, columns.resultStride);
    }
}

void FilterGradientEmitter::emitTile(const Tile &tile, Value *firstImage,
                                     Value *endImage) {
  unsigned vectors = (tile.columns + lanes - 1) / lanes;
  unsigned lastLanes = tile.columns - (vectors - 1) * lanes;
  MicroKernel microKernel = {.kind = kind,
                             .lanes = lanes,
                             .lastLanes = lastLanes,
                             .pixels = tile.rows,
                             .vectors = vectors,
                             .pixelStride = 1,
                             .rowStride = columns.pixelStride,
                             .isPadded = false,
                             .stepStride = rows.pixelStride};
  Range range = lookUp(horizontal, tile.kw);
  auto [low, high] = lookUp(vertical, tile.kh);
  auto addImage = [&, low = low, high = high](
                      Value *image, llvm::ArrayRef<Value *> imageSums) {
    return b.forLoop(
        low, high, 1, imageSums, [&](Value *y, llvm::ArrayRef<Value *> sums) {
          return accumulate(tile, microKernel, range, image, y, Values(sums));
        });
  };
  Values sums =
      b.forLoop(firstImage, endImage, 1, microKernel.getZeros(b), addImage);
  bool isWhole = imagesPerChunk >= shape.batch;
  store(tile, microKernel, sums,
        isWhole ? nullptr : b.CreateICmpEQ(firstImage, b.index(0)));
}

/// All rows by \p tile's columns, for each tap of a row of the kernel.
void FilterGradientEmitter::emitColumns(Tile tile, Value *firstImage,
                                        Value *endImage) {
  int64_t whole = rows.channels / tileRows * tileRows;
  b.forLoop(shape.kernelW, [&](Value *kw) {
    tile.kw = kw;
    tile.rows = tileRows;
    b.forLoop(b.index(0), b.index(whole), tileRows, [&](Value *row) {
      tile.row = row;
      emitTile(tile, firstImage, endImage);
    });
    tile.row = b.index(whole);
    tile.rows = unsigned(rows.channels - whole);
    if (tile.rows)
      emitTile(tile, firstImage, endImage);
  });
}

void FilterGradientEmitter::emit() {
  int64_t block = tileVectors * lanes;
  int64_t blocks = (columns.channels + block - 1) / block;
  int64_t tasks = shape.group * shape.kernelH * blocks;
  b.forTasks(tasks, getNumOperations(shape), [&](Value *task) {
    Values index = b.splitIndex(task, {shape.group, shape.kernelH, blocks});
    Tile tile = {index[0],
                 index[1],
                 nullptr,
                 nullptr,
                 b.scaleIndex(index[2], block),
                 0,
                 unsigned(block)};
    auto emitBlock = [&](unsigned numColumns) {
      tile.columns = numColumns;
      if (imagesPerChunk >= shape.batch)
        return emitColumns(tile, b.index(0), b.index(shape.batch));
      b.forLoop(
          b.index(0), b.index(shape.batch), imagesPerChunk, [&](Value *first) {
            Value *end = b.CreateNSWAdd(first, b.index(imagesPerChunk));
            emitColumns(tile, first, b.minIndex(end, b.index(shape.batch)));
          });
    };
    int64_t left = columns.channels % block;
    if (blocks == 1)
      return emitBlock(unsigned(columns.channels));
    if (!left)
      return emitBlock(unsigned(block));
    Value *isWhole = b.CreateICmpULT(index[2], b.index(blocks - 1));
    b.ifThen(isWhole, [&] { emitBlock(unsigned(block)); });
    b.ifThen(b.CreateNot(isWhole), [&] { emitBlock(unsigned(left)); });
  });
}

void glowish::emitFilterGradient(KernelBuilder &b,
                                 const ConvolutionShape &original,
                                 Value *result, StridedOperand input,
                                 StridedOperand gradient) {
  ConvolutionShape shape = original;
  // A stride of what is there once may be too large to multiply it.
  if (shape.outHeight == 1)
    shape.strideH = 1;
  if (shape.outWidth == 1)
    shape.strideW = 1;
  FilterGradientEmitter emitter(b, shape, result, input, gradient);
  // Each of the three adds in another order.
  const TargetDescription &target = b.getTarget().getSumTarget();
  double split = std::numeric_limits<double>::infinity();
  if (input.kind == ElemKind::Float)
    split = SlicedFilterBlocking(shape, target).cycles;
  double few = FewChannelBlocking(shape, input.kind, target).cycles;
  if (split < few && split < emitter.getCycles())
    return emitSlicedFilterGradient(b, shape, result, std::move(input),
                                    std::move(gradient));
  if (few < emitter.getCycles())
    return emitFewChannelFilterGradient(b, shape, result, std::move(input),
                                        std::move(gradient));
  emitter.emit();
}

void glowish::emitConvolutionFilterGradient(
    KernelBuilder &b, const ConvolutionFilterGradientInstr &instr,
    const KernelOperands &operands) {
  using Instr = ConvolutionFilterGradientInstr;
  emitFilterGradient(b, getConvolutionShape(instr, *instr.getGradient()),
                     operands.getPointer(Instr::resultIdx),
                     operands.getStrided(Instr::inputIdx),
                     operands.getStrided(Instr::gradientIdx));
}
