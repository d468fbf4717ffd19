//===- SlicedFilterGradient.cpp - Filter gradients on AMX int8 tiles ------===//
//
// The gradient of a filter is, for each tap, a matrix product: the transposed
// gradient of the result times the input. The reduction goes over the pixels of
// all images. A step takes 16 positions of the result in four images (a quad).
// Its register of the gradient has 16 rows of output channels. That of the
// input has 16 rows of positions and 16 columns of channels, with the slices of
// the four images side by side. So every tap reads the input at a constant
// offset, and four vectors of channels become one of slices without a
// permutation; only the gradient, which all taps share, is transposed.
//
// Each channel of a chunk has a scale of its own. The gradient is 0 at
// positions between rows and in images that pad the last quad; the values of
// the input are irrelevant there.
//
//===----------------------------------------------------------------------===//

#include "Kernels/AMX/PipelinedTile.h"
#include "Kernels/AMX/SlicedFilterBlocking.h"
#include "Kernels/Convolution/FilterGradient.h"

using namespace glowish;
using llvm::Value;

namespace {

/// The first pixel of a sub-image of a side, in the padded image.
struct Plane {
  int64_t y, x;
};

/// One of the two operands, input or gradient, and its packing.
struct SlicedSide {
  StridedOperand image;
  int64_t height, width, channels;
  int64_t strideH, strideW, padTop, padLeft;
  std::vector<Plane> planes;
  /// The size of a sub-image.
  int64_t rows, columns;
};

/// A block of channels of a side.
struct Block {
  Value *number, *channel; // the block's, and its first channel
  int64_t channels;
};

/// The packed slices of a block, and the factors before slicing.
struct Panel {
  Value *slices;
  int64_t sliceBytes;
  /// Bytes from one sub-image to the next.
  int64_t planeBytes;
  Value *factors;
};

class SlicedFilterEmitter : private SlicedFilterBlocking {
public:
  SlicedFilterEmitter(KernelBuilder &b, const ConvolutionShape &shape,
                      Value *result, StridedOperand input,
                      StridedOperand gradient);
  void emit();

private:
  /// The quads and rows that are reduced at a time.
  struct Chunk {
    Value *number, *firstQuad, *endQuad, *firstRow;
  };
  /// Pixels of a sub-image from one row of a quad: \p count from position
  /// \p place on, the first of which is at \p offset in its image.
  struct Run {
    int64_t plane;
    Value *place;
    int64_t count;
    Value *offset;
  };
  using RunBody = llvm::function_ref<void(const Run &)>;
  using BlockBody = llvm::function_ref<void(const Block &)>;

  void forBlocks(int64_t channels, Value *first, Value *end, BlockBody body);
  void forRuns(const SlicedSide &side, Value *firstRow, RunBody body,
               RunBody padding);
  Values getImages(const SlicedSide &side, const Block &block, Value *quad);
  Value *loadPixel(const SlicedSide &side, const Block &block, Value *image,
                   Value *quad, unsigned number);
  void findScales(const SlicedSide &side, const Block &block,
                  const Chunk &chunk, Value *factors, Value *scales);
  void slice(const SlicedSide &side, const Block &block, const Chunk &chunk,
             Value *quad, const Panel &panel);
  void clear(Value *address, Value *count, int64_t sliceBytes);
  void packGradient(const Chunk &chunk);
  void packInput(const Block &block, const Chunk &chunk);
  Value *getTap(Value *number);
  Value *getTapShift(Value *tap);
  void emitTile(const Block &out, const Block &in, Value *tap,
                const Chunk &chunk);
  void setPending(const Block &out, const Block &in, Value *tap, Value *sums);
  void finishPendingRow(const Block &in, const Chunk &chunk, Value *row);
  void emitChunk(const Chunk &chunk, Value *firstBlock, Value *endBlock);
  Value *getFloats(Value *base, Value *index) {
    return b.getElement(base, ElemKind::Float, index);
  }

  KernelBuilder &b;
  PipelinedTile unit;
  ConvolutionShape shape;
  Value *result;
  /// `scanned`: the input as it is read to compute the scales.
  SlicedSide gradient, input, scanned;
  Value *gradientSlices = nullptr, *inputSlices = nullptr, *rows = nullptr;
  Value *gradientScales = nullptr, *inputScales = nullptr;
  Value *gradientFactors = nullptr, *inputFactors = nullptr;
  /// Stack variables for the pending tile, which is to be added to the result:
  /// the address of its first element, and the scales of its rows.
  struct Pending {
    Value *target, *scales;
  };
  Pending pending = {};
};

} // namespace

SlicedFilterEmitter::SlicedFilterEmitter(KernelBuilder &b,
                                         const ConvolutionShape &shape,
                                         Value *result, StridedOperand in,
                                         StridedOperand out)
    : SlicedFilterBlocking(shape, b.getTarget()), b(b), unit(b), shape(shape),
      result(result) {
  gradient = {.image = std::move(out),
              .height = shape.outHeight,
              .width = shape.outWidth,
              .channels = shape.outChannels,
              .strideH = 1,
              .strideW = 1,
              .padTop = 0,
              .padLeft = 0,
              .planes = {{0, 0}},
              .rows = rowsPerChunk,
              .columns = columns};
  scanned = {.image = std::move(in),
             .height = shape.height,
             .width = shape.width,
             .channels = shape.channels,
             .strideH = shape.strideH,
             .strideW = shape.strideW,
             .padTop = shape.padTop,
             .padLeft = shape.padLeft,
             .planes = {},
             .rows = inRows,
             .columns = columns};
  int64_t reachW = (shape.kernelW - 1) * shape.dilationW;
  scanned.columns = shape.outWidth + reachW / shape.strideW;
  input = scanned;
  input.columns = columns;
  for (int64_t y = 0; y < planesH; ++y) {
    for (int64_t x = 0; x < std::min(shape.strideW, reachW + 1); ++x)
      scanned.planes.push_back({y, x});
    for (int64_t x = 0; x < planesW; ++x)
      input.planes.push_back({y, areTapsApart ? x * shape.dilationW : x});
  }
}

//===- Loops --------------------------------------------------------------===//

void SlicedFilterEmitter::forBlocks(int64_t channels, Value *first, Value *end,
                                    BlockBody body) {
  int64_t whole = channels / matrixColumns, left = channels % matrixColumns;
  b.forLoop(first, b.minIndex(end, b.index(whole)), 1, [&](Value *number) {
    body({number, b.scaleIndex(number, matrixColumns), matrixColumns});
  });
  if (left)
    b.ifThen(b.CreateICmpSGT(end, b.index(whole)), [&] {
      body({b.index(whole), b.index(whole * matrixColumns), left});
    });
}

/// The rows of all sub-images, from row \p firstRow of the result on.
void SlicedFilterEmitter::forRuns(const SlicedSide &side, Value *firstRow,
                                  RunBody body, RunBody padding) {
  int64_t s = side.strideW, pixel = side.image.strides[2];
  for (auto [number, plane] : llvm::enumerate(side.planes)) {
    auto plane64 = int64_t(number);
    // Column j is the image's j * s + shift.
    int64_t shift = plane.x - side.padLeft;
    auto countBelow = [&](int64_t limit) {
      return limit <= shift
                 ? 0
                 : std::min((limit - shift + s - 1) / s, side.columns);
    };
    int64_t low = countBelow(0), high = countBelow(side.width);
    b.forLoop(side.rows, [&, plane = plane](Value *row) {
      Value *y = b.addScaled(b.index(plane.y - side.padTop),
                             b.CreateNSWAdd(firstRow, row), side.strideH);
      Value *place = b.scaleIndex(row, side.columns);
      auto at = [&](int64_t column) {
        return b.CreateNSWAdd(place, b.index(column));
      };
      // Negative rows are large as unsigned numbers.
      Value *isInside = b.CreateICmpULT(y, b.index(side.height));
      b.ifThen(isInside, [&] {
        if (low > 0)
          padding({plane64, place, low, nullptr});
        if (high > low)
          body({plane64, at(low), high - low,
                b.addScaled(b.index((low * s + shift) * pixel), y,
                            side.image.strides[1])});
        if (side.columns > high)
          padding({plane64, at(high), side.columns - high, nullptr});
      });
      b.ifThen(b.CreateNot(isInside),
               [&] { padding({plane64, place, side.columns, nullptr}); });
    });
  }
}

/// The addresses of the four images of \p quad; that of the last image in place
/// of missing ones.
Values SlicedFilterEmitter::getImages(const SlicedSide &side,
                                      const Block &block, Value *quad) {
  Values images;
  for (int64_t i = 0; i < imagesPerQuad; ++i) {
    Value *image = b.addScaled(b.index(i), quad, imagesPerQuad);
    image = b.minIndex(image, b.index(shape.batch - 1));
    images.push_back(
        b.CreateGEP(b.getFloatTy(), side.image.base,
                    b.addScaled(block.channel, image, side.image.strides[0])));
  }
  return images;
}

/// The channels of a pixel at \p address in image \p number of \p quad. They
/// are 0 in the gradient of missing images.
Value *SlicedFilterEmitter::loadPixel(const SlicedSide &side,
                                      const Block &block, Value *address,
                                      Value *quad, unsigned number) {
  auto lanes = unsigned(block.channels);
  Value *zero = b.literal(ElemKind::Float, 0, matrixColumns);
  Value *value = widenWithZeros(b, b.load(ElemKind::Float, address, lanes));
  if (&side != &gradient || shape.batch % imagesPerQuad == 0)
    return value;
  Value *image = b.addScaled(b.index(number), quad, imagesPerQuad);
  return b.CreateSelect(b.CreateICmpSLT(image, b.index(shape.batch)), value,
                        zero);
}

//===- Scales -------------------------------------------------------------===//

/// Computes, for each channel of \p block in \p chunk, the factor of its
/// elements before slicing and the scale of their sums.
void SlicedFilterEmitter::findScales(const SlicedSide &side, const Block &block,
                                     const Chunk &chunk, Value *factors,
                                     Value *scales) {
  storeRow(b, getZeroRow(b), factors);
  b.forLoop(chunk.firstQuad, chunk.endQuad, 1, [&](Value *quad) {
    Values images = getImages(side, block, quad);
    auto scan = [&](const Run &run) {
      Values largest = b.forUnrolled(
          run.count, 4, {loadRow(b, factors)},
          [&](Value *i, llvm::ArrayRef<Value *> carried) {
            Value *offset = b.addScaled(run.offset, i,
                                        side.strideW * side.image.strides[2]);
            Value *most = carried[0];
            for (auto [number, image] : llvm::enumerate(images)) {
              Value *value = loadPixel(
                  side, block, b.CreateGEP(b.getFloatTy(), image, offset), quad,
                  unsigned(number));
              most = joinMagnitudes(b, most, getMagnitudes(b, value));
            }
            return Values{most};
          });
      storeRow(b, largest[0], factors);
    };
    forRuns(side, chunk.firstRow, scan, [](const Run &) {});
  });
  SliceScale slice = getSliceScale(b, loadRow(b, factors));
  b.store(ElemKind::Float, slice.factor, factors);
  // The sums are in units of 2^16; each side contributes 2^8.
  b.store(
      ElemKind::Float,
      b.CreateFMul(slice.scale, b.literal(ElemKind::Float, 256, matrixColumns)),
      scales);
}

//===- Slices -------------------------------------------------------------===//

void SlicedFilterEmitter::clear(Value *address, Value *count,
                                int64_t sliceBytes) {
  b.forLoop(count, [&](Value *i) {
    for (int64_t slice = 0; slice < numSlices; ++slice)
      storeRow(b, getZeroRow(b),
               b.getElement(
                   address, ElemKind::Int8,
                   b.addScaled(b.index(slice * sliceBytes), i, matrixDepth)));
  });
}

/// Packs the slices of \p block for the images of \p quad.
void SlicedFilterEmitter::slice(const SlicedSide &side, const Block &block,
                                const Chunk &chunk, Value *quad,
                                const Panel &panel) {
  Values images = getImages(side, block, quad);
  Value *factors = b.load(ElemKind::Float, panel.factors, matrixColumns);
  auto getPlace = [&](const Run &run) {
    return b.getElement(panel.slices, ElemKind::Int8,
                        b.addScaled(b.index(run.plane * panel.planeBytes),
                                    run.place, matrixDepth));
  };
  auto sliceRun = [&](const Run &run) {
    Value *place = getPlace(run);
    b.forLoop(run.count, [&](Value *i) {
      Value *offset =
          b.addScaled(run.offset, i, side.strideW * side.image.strides[2]);
      std::array<Value *, 4> values;
      for (auto [number, image] : llvm::enumerate(images))
        values[number] =
            loadPixel(side, block, b.CreateGEP(b.getFloatTy(), image, offset),
                      quad, unsigned(number));
      for (auto [slice, bytes] :
           llvm::enumerate(sliceFloats(b, values, factors)))
        storeRow(
            b, bytes,
            b.getElement(place, ElemKind::Int8,
                         b.addScaled(b.index(int64_t(slice) * panel.sliceBytes),
                                     i, matrixDepth)));
    });
  };
  forRuns(side, chunk.firstRow, sliceRun, [&](const Run &run) {
    clear(getPlace(run), b.index(run.count), panel.sliceBytes);
  });
}

/// Packs all blocks: [block][quad][step][slice].
void SlicedFilterEmitter::packGradient(const Chunk &chunk) {
  auto packBlock = [&](const Block &block) {
    Value *factors = gradientFactors;
    findScales(gradient, block, chunk, factors,
               getFloats(gradientScales, block.channel));
    b.forLoop(chunk.firstQuad, chunk.endQuad, 1, [&](Value *quad) {
      slice(gradient, block, chunk, quad,
            {rows, getRowsSliceBytes(), /*planeBytes=*/0, factors});
      Value *number = b.addScaled(b.CreateNSWSub(quad, chunk.firstQuad),
                                  block.number, quadsPerChunk);
      Value *target = b.getElement(gradientSlices, ElemKind::Int8, number,
                                   steps * gradientStepBytes);
      // Transposes rows of positions to rows of channels.
      b.forLoop(steps, [&](Value *step) {
        auto at = [&](Value *base, int64_t stepBytes) {
          return b.getElement(base, ElemKind::Int8, step, stepBytes);
        };
        transposeSlices(b, at(rows, AmxTile::registerBytes),
                        getRowsSliceBytes(), at(target, gradientStepBytes),
                        AmxTile::registerBytes);
      });
    });
  };
  forBlocks(shape.outChannels, b.index(0), b.index(outBlocks), packBlock);
}

/// Packs one block: [slice][sub-image][quad][position].
void SlicedFilterEmitter::packInput(const Block &block, const Chunk &chunk) {
  findScales(scanned, block, chunk, inputFactors, inputScales);
  int64_t quadBytes = panelPlaces * matrixDepth;
  b.forLoop(chunk.firstQuad, chunk.endQuad, 1, [&](Value *quad) {
    Value *number = b.CreateNSWSub(quad, chunk.firstQuad);
    slice(input, block, chunk, quad,
          {b.getElement(inputSlices, ElemKind::Int8, number, quadBytes),
           getInputSliceBytes(), quadsPerChunk * quadBytes, inputFactors});
  });
}

//===- Matmuls ------------------------------------------------------------===//

/// Orders the taps so that those which share sub-images are consecutive.
Value *SlicedFilterEmitter::getTap(Value *number) {
  if (!areTapsApart)
    return number;
  Values index = b.splitIndex(number, {shape.kernelW, shape.kernelH});
  return b.addScaled(index[0], index[1], shape.kernelW);
}

/// The offset in bytes from a position to the one under \p tap.
Value *SlicedFilterEmitter::getTapShift(Value *tap) {
  std::vector<int64_t> shifts;
  for (int64_t kh = 0; kh < shape.kernelH; ++kh)
    for (int64_t kw = 0; kw < shape.kernelW; ++kw) {
      int64_t y = kh * shape.dilationH, x = kw * shape.dilationW;
      int64_t column = areTapsApart ? kw : x % shape.strideW;
      int64_t shift = areTapsApart ? 0 : x / shape.strideW;
      int64_t plane = y % shape.strideH * planesW + column;
      shifts.push_back((plane * quadsPerChunk * panelPlaces +
                        y / shape.strideH * columns + shift) *
                       matrixDepth);
    }
  return taps == 1 ? b.index(shifts[0]) : b.lookUp<int64_t>(shifts, tap);
}

/// Adds row \p row of the pending tile to the result.
void SlicedFilterEmitter::finishPendingRow(const Block &in, const Chunk &chunk,
                                           Value *row) {
  auto load = [&](Value *cell) { return b.CreateLoad(b.getPtrTy(), cell); };
  unit.finishRow(row, [&] {
    auto lanes = unsigned(in.channels);
    Value *address = getFloats(load(pending.target),
                               b.scaleIndex(row, taps * shape.channels));
    Value *scale =
        b.load(ElemKind::Float, getFloats(load(pending.scales), row), 1);
    Value *inScales = b.load(ElemKind::Float, inputScales, matrixColumns);
    Value *sum =
        b.CreateFMul(unit.addOrders(unit.getPendingSums(), row),
                     b.CreateFMul(inScales, b.splat(scale, matrixColumns)));
    Value *before = b.load(ElemKind::Float, address, lanes);
    Value *isFirst = b.CreateICmpEQ(chunk.number, b.index(0));
    before =
        b.CreateSelect(isFirst, b.literal(ElemKind::Float, 0, lanes), before);
    b.store(ElemKind::Float, b.CreateFAdd(before, b.takeLanes(sum, lanes)),
            address);
  });
}

/// Makes the tile of \p out, \p in and \p tap pending.
void SlicedFilterEmitter::setPending(const Block &out, const Block &in,
                                     Value *tap, Value *sums) {
  unit.setPending(sums, b.index(out.channels));
  b.CreateStore(getFloats(gradientScales, out.channel), pending.scales);
  Value *offset = b.addScaled(b.addScaled(in.channel, tap, shape.channels),
                              out.channel, taps * shape.channels);
  b.CreateStore(getFloats(result, offset), pending.target);
}

/// Computes the tile of one tap and two blocks of channels, and concurrently
/// adds the pending tile to the result.
void SlicedFilterEmitter::emitTile(const Block &out, const Block &in,
                                   Value *tap, const Chunk &chunk) {
  unit.clearSums();
  Value *shift = getTapShift(tap);
  Value *firstGroup = b.scaleIndex(out.number, quadsPerChunk);
  int64_t rowsPerStep =
      (matrixRows + quadsPerChunk * steps - 1) / (quadsPerChunk * steps);
  auto emitStep = [&](Value *quad, Value *step) {
    Value *number = b.addScaled(step, b.CreateNSWAdd(firstGroup, quad), steps);
    Value *rowSlices =
        b.getElement(gradientSlices, ElemKind::Int8, number, gradientStepBytes);
    Value *columnSlices = b.getElement(
        inputSlices, ElemKind::Int8,
        b.addScaled(b.addScaled(shift, quad, panelPlaces * matrixDepth), step,
                    AmxTile::registerBytes));
    Value *inTile = b.addScaled(step, quad, steps);
    unit.multiplyAndFinish(
        {rowSlices, AmxTile::registerBytes},
        {columnSlices, getInputSliceBytes()}, inTile, rowsPerStep,
        [&](Value *row) { finishPendingRow(in, chunk, row); });
  };
  Value *numQuads = b.CreateNSWSub(chunk.endQuad, chunk.firstQuad);
  b.forLoop(numQuads, [&](Value *quad) {
    b.forLoop(steps, [&](Value *step) { emitStep(quad, step); });
  });
  // The last chunk may have fewer steps than there are rows.
  if (quads % quadsPerChunk && quadsPerChunk * steps > 1)
    b.forLoop(b.scaleIndex(numQuads, steps * rowsPerStep), b.index(matrixRows),
              1, [&](Value *row) { finishPendingRow(in, chunk, row); });
  Value *next = unit.getFreeSums();
  unit.storeSums(next);
  setPending(out, in, tap, next);
}

void SlicedFilterEmitter::emitChunk(const Chunk &chunk, Value *firstBlock,
                                    Value *endBlock) {
  packGradient(chunk);
  forBlocks(shape.channels, firstBlock, endBlock, [&](const Block &in) {
    packInput(in, chunk);
    forBlocks(shape.outChannels, b.index(0), b.index(outBlocks),
              [&](const Block &out) {
                b.forLoop(taps, [&](Value *number) {
                  emitTile(out, in, getTap(number), chunk);
                });
              });
    unit.finish([&](Value *row) { finishPendingRow(in, chunk, row); });
  });
}

void SlicedFilterEmitter::emit() {
  auto allocate = [&](int64_t bytes) {
    return b.allocate(ElemKind::Int8, bytes);
  };
  gradientSlices = allocate(getGradientBytes());
  inputSlices = allocate(numSlices * getInputSliceBytes());
  rows = allocate(numSlices * getRowsSliceBytes());
  gradientScales = allocate(outBlocks * 64);
  gradientFactors = allocate(64);
  inputScales = allocate(64);
  inputFactors = allocate(64);
  unit.allocateSums(2);
  for (Value **cell : {&pending.target, &pending.scales})
    *cell = b.allocateSlot(b.getPtrTy());
  unit.start();
  // Clears the positions after the last row, which are not written otherwise.
  int64_t used = rowsPerChunk * columns * matrixDepth;
  clear(b.getElement(rows, ElemKind::Int8, used),
        b.index((getRowsSliceBytes() - used) / matrixDepth),
        getRowsSliceBytes());
  unit.configure();
  int64_t numTasks = std::min(inBlocks, b.getTarget().numThreads);
  int64_t blocksPerTask = (inBlocks + numTasks - 1) / numTasks;
  int64_t quadChunks = (quads + quadsPerChunk - 1) / quadsPerChunk;
  b.forTasks(numTasks, getNumOperations(shape), [&](Value *task) {
    Value *first = b.scaleIndex(task, blocksPerTask);
    Value *end = b.minIndex(b.CreateNSWAdd(first, b.index(blocksPerTask)),
                            b.index(inBlocks));
    b.forLoop(quadChunks * bands, [&](Value *number) {
      Values index = b.splitIndex(number, {quadChunks, bands});
      Value *quad = b.scaleIndex(index[0], quadsPerChunk);
      Value *endQuad = b.minIndex(b.CreateNSWAdd(quad, b.index(quadsPerChunk)),
                                  b.index(quads));
      emitChunk({number, quad, endQuad, b.scaleIndex(index[1], rowsPerChunk)},
                first, end);
    });
  });
  unit.release();
}

void glowish::emitSlicedFilterGradient(KernelBuilder &b,
                                       const ConvolutionShape &shape,
                                       Value *result, StridedOperand input,
                                       StridedOperand gradient) {
  SlicedFilterEmitter(b, shape, result, std::move(input), std::move(gradient))
      .emit();
}
