//===- DualDepthwise.cpp - One filter a channel, of pairs of int16 --------===//
//
// Four channels of some rows of the image are widened, each to a plane of its
// own, where neighbouring columns are a pair. Two output columns of a channel
// are computed together: of the taps of a kernel row, those that begin at an
// even column of the plane are multiplied two at a time.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Dual/DualConvolution.h"
#include "Kernels/Dual/DualWindow.h"
#include "Kernels/Epilogue.h"
#include "Kernels/Math/DotInstrs.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;
using llvm::Value;

static constexpr ElemKind sumKind = ElemKind::Int32;
static constexpr ElemKind wideKind = ElemKind::Int16;
/// Channels that are widened together: the bytes of a register.
static constexpr int64_t quad = 4;

DualTaps::DualTaps(int64_t taps)
    : taps(taps), evenPairs(std::max<int64_t>(taps / 2, 1)),
      oddPairs(std::max<int64_t>(taps - 1, 0) / 2) {}

DualTaps::Place DualTaps::getPlace(int64_t tap) const {
  if (tap / 2 < evenPairs)
    return {tap / 2, tap % 2 == 1};
  return {evenPairs + (tap - 1) / 2, (tap - 1) % 2 == 1};
}

namespace {

/// The memory for some rows of the planes of four channels.
struct PlanesLayout {
  PlanesLayout(const ConvolutionShape &shape, int64_t outRows)
      : rows((outRows - 1) * shape.strideH +
             (shape.kernelH - 1) * shape.dilationH + 1),
        // The second of two output columns may be beyond the last one.
        columns(
            int64_t(llvm::alignTo(shape.outWidth * shape.strideW +
                                      (shape.kernelW - 1) * shape.dilationW + 1,
                                  2))),
        planeStride(rows * columns) {}

  int64_t rows, columns;
  /// int16 from a channel to the next.
  int64_t planeStride;

  int64_t getBytes() const { return 2 * quad * planeStride; }
};

class DualDepthwiseEmitter {
public:
  DualDepthwiseEmitter(KernelBuilder &b, const ConvolutionShape &shape,
                       int64_t bandRows, ConvolutionOperands taken)
      : b(b), shape(shape), bandRows(bandRows), operands(std::move(taken)),
        layout(shape, bandRows), taps(shape.kernelW),
        shift(b, operands.input.kind, operands.zeroPoint),
        planes(allocateSpace(b, wideKind, quad * layout.planeStride)) {}

  void emit();

private:
  /// Rows of the output that are computed of one widening.
  struct Band {
    Value *batch, *row, *end;
  };

  void clearBorders();
  void emitQuad(const Band &band, Value *channel, int64_t channels);
  void widenRow(const Band &band, Value *row, Value *channel, int64_t channels);
  void widenColumns(Value *from, Value *to, int64_t first, int64_t columns,
                    int64_t channels);
  void widenColumn(Value *from, Value *to, int64_t channels);
  Value *loadQuad(Value *from, int64_t channels);
  void emitChannel(const Band &band, Value *plane, Value *channel);
  void emitOutputs(const Band &band, Value *plane, Value *channel, Value *row,
                   Value *column, int64_t count);
  Value *addTaps(Value *sum, Value *pixel, Value *rowWeights, int64_t shifted);
  Value *loadPair(Value *base, int64_t number) {
    return b.loadElement(ElemKind::Int32, base, number, 1);
  }

  KernelBuilder &b;
  ConvolutionShape shape;
  int64_t bandRows;
  ConvolutionOperands operands;
  PlanesLayout layout;
  DualTaps taps;
  ZeroShift shift;
  Value *planes;
};

} // namespace

int64_t glowish::chooseDualBand(const ConvolutionShape &shape,
                                const TargetDescription &target) {
  auto getBytes = [&](int64_t rows) {
    return PlanesLayout(shape, rows).getBytes();
  };
  int64_t rows = 1;
  while (rows < shape.outHeight && getBytes(rows + 1) <= usualDualBytes)
    ++rows;
  if (getBytes(rows) > target.maxStackBytes / 2)
    return 0;
  // Bands of about one size.
  int64_t bands = llvm::divideCeilSigned(shape.outHeight, rows);
  return llvm::divideCeilSigned(shape.outHeight, bands);
}

//===- Widening -----------------------------------------------------------===//

/// Columns beside the image, in all rows of all planes: nothing is written
/// there later.
void DualDepthwiseEmitter::clearBorders() {
  int64_t end = std::min(shape.padLeft + shape.width, layout.columns);
  auto clear = [&](Value *row, int64_t first, int64_t columns) {
    for (int64_t i = first; i < columns; ++i)
      b.storeElement(wideKind, b.literal(wideKind, 0, 1), row, i);
  };
  if (shape.padLeft == 0 && end == layout.columns)
    return;
  b.forLoop(quad * layout.rows, [&](Value *number) {
    Value *row = b.getElement(planes, wideKind, number, layout.columns);
    clear(row, 0, std::min(shape.padLeft, layout.columns));
    clear(row, end, layout.columns);
  });
}

/// Four channels of a pixel as bytes of a word, of which the kernel needs
/// \p channels; others may be there or not.
Value *DualDepthwiseEmitter::loadQuad(Value *from, int64_t channels) {
  if (channels == quad)
    return b.CreateAlignedLoad(b.getInt32Ty(), from, llvm::Align(1));
  Value *word = nullptr;
  for (int64_t c = 0; c < channels; ++c) {
    Value *byte = b.CreateZExt(b.loadElement(operands.input.kind, from, c, 1),
                               b.getInt32Ty());
    byte = b.CreateShl(byte, uint64_t(8 * c));
    word = word ? b.CreateOr(word, byte) : byte;
  }
  return word;
}

/// One column.
void DualDepthwiseEmitter::widenColumn(Value *from, Value *to,
                                       int64_t channels) {
  Value *word = loadQuad(from, channels);
  Value *halves[] = {shift.widen(b, word),
                     shift.widen(b, emitRotated(b, word, 8))};
  for (int64_t c = 0; c < channels; ++c) {
    Value *half = halves[c % 2];
    if (c >= 2)
      half = b.CreateLShr(half, 16);
    b.storeElement(wideKind, b.CreateTrunc(half, b.getInt16Ty()), to,
                   c * layout.planeStride);
  }
}

/// \p columns columns, of which the first is number \p first of the planes.
void DualDepthwiseEmitter::widenColumns(Value *from, Value *to, int64_t first,
                                        int64_t columns, int64_t channels) {
  int64_t stride = operands.input.strides[2];
  auto getFrom = [&](Value *column) {
    return b.getElement(from, operands.input.kind, column, stride);
  };
  auto getTo = [&](Value *column) {
    return b.getElement(to, wideKind, b.CreateNSWAdd(column, b.index(first)));
  };
  int64_t begin = std::min(first % 2, columns);
  int64_t end = begin + (columns - begin) / 2 * 2;
  if (begin)
    widenColumn(getFrom(b.index(0)), getTo(b.index(0)), channels);
  b.forLoop(b.index(begin), b.index(end), 2, [&](Value *column) {
    Value *pixel = getFrom(column);
    Value *words[] = {
        loadQuad(pixel, channels),
        loadQuad(b.getElement(pixel, operands.input.kind, stride), channels)};
    Value *target = getTo(column);
    Value *lowMask = b.getInt32(0xffff), *highMask = b.getInt32(0xffff0000);
    for (int64_t odd = 0; odd < std::min<int64_t>(channels, 2); ++odd) {
      Value *left = words[0], *right = words[1];
      if (odd) {
        left = emitRotated(b, left, 8);
        right = emitRotated(b, right, 8);
      }
      left = shift.widen(b, left);
      right = shift.widen(b, right);
      auto store = [&](Value *pair, int64_t channel) {
        b.CreateAlignedStore(
            pair, b.getElement(target, wideKind, channel * layout.planeStride),
            llvm::Align(4));
      };
      store(b.CreateOr(b.CreateAnd(left, lowMask), b.CreateShl(right, 16)),
            odd);
      if (2 + odd < channels)
        store(b.CreateOr(b.CreateAnd(right, highMask), b.CreateLShr(left, 16)),
              2 + odd);
    }
  });
  if (end < columns)
    widenColumn(getFrom(b.index(end)), getTo(b.index(end)), channels);
}

/// Row \p row there.
void DualDepthwiseEmitter::widenRow(const Band &band, Value *row,
                                    Value *channel, int64_t channels) {
  Value *to = b.getElement(planes, wideKind, row, layout.columns);
  Value *source =
      b.CreateNSWSub(b.CreateNSWAdd(b.scaleIndex(band.row, shape.strideH), row),
                     b.index(shape.padTop));
  const StridedOperand &input = operands.input;
  Value *offset =
      b.addScaled(b.addScaled(channel, band.batch, input.strides[0]), source,
                  input.strides[1]);
  Value *from = b.CreateGEP(b.getStorageTy(input.kind), input.base, offset);
  int64_t first = shape.padLeft;
  int64_t columns = std::min(shape.width, layout.columns - first);
  auto widen = [&] { widenColumns(from, to, first, columns, channels); };
  auto clear = [&] {
    for (int64_t c = 0; c < channels; ++c) {
      Value *plane = b.getElement(to, wideKind, c * layout.planeStride);
      b.forLoop(layout.columns / 2, [&](Value *i) {
        b.storeElement(ElemKind::Int32, b.getInt32(0), plane, i);
      });
    }
  };
  // The last band's rows may end behind those of the output.
  int64_t bands = llvm::divideCeilSigned(shape.outHeight, bandRows);
  int64_t lastRow =
      (bands - 1) * bandRows * shape.strideH + layout.rows - 1 - shape.padTop;
  if (shape.padTop == 0 && lastRow < shape.height)
    return widen();
  // A negative number is large without its sign.
  b.ifThenElse(b.CreateICmpULT(source, b.index(shape.height)), widen, clear);
}

//===- Sums ---------------------------------------------------------------===//

/// \p sum plus the taps of a kernel row, the first of which is under element
/// \p shifted behind \p pixel, an even column.
Value *DualDepthwiseEmitter::addTaps(Value *sum, Value *pixel,
                                     Value *rowWeights, int64_t shifted) {
  for (int64_t tap = 0; tap < shape.kernelW;) {
    int64_t element = shifted + tap * shape.dilationW;
    Value *x = loadPair(pixel, element / 2);
    DualTaps::Place place = taps.getPlace(tap);
    bool isPair =
        shape.dilationW == 1 && element % 2 == 0 && tap + 1 < shape.kernelW;
    if (isPair && tap % 2 == 1)
      place.pair = taps.evenPairs + tap / 2;
    Value *weights = loadPair(rowWeights, place.pair);
    sum = isPair ? emitDualMultiplyAdd(b, sum, x, weights)
                 : emitHalfMultiplyAdd(b, sum, x, element % 2 == 1, weights,
                                       place.isUpper);
    tap += isPair ? 2 : 1;
  }
  return sum;
}

/// \p count outputs, at most two, from \p column on.
void DualDepthwiseEmitter::emitOutputs(const Band &band, Value *plane,
                                       Value *channel, Value *row,
                                       Value *column, int64_t count) {
  Value *start = b.literal(sumKind, 0, 1);
  if (operands.bias)
    start = b.loadElement(sumKind, operands.bias, channel, 1);
  Values sums{size_t(count), start};
  Value *weights = b.getElement(operands.weights, ElemKind::Int32, channel,
                                shape.kernelH * taps.getPairs());
  Value *first = b.addScaled(b.scaleIndex(b.CreateNSWSub(row, band.row),
                                          shape.strideH * layout.columns),
                             column, shape.strideW);
  Value *pixel = b.getElement(plane, wideKind, first);
  auto addRow = [&](Value *kh, Values current) {
    Value *kernelRow =
        b.getElement(pixel, wideKind, kh, shape.dilationH * layout.columns);
    Value *rowWeights =
        b.getElement(weights, ElemKind::Int32, kh, taps.getPairs());
    for (int64_t i = 0; i < count; ++i)
      current[size_t(i)] =
          addTaps(current[size_t(i)], kernelRow, rowWeights, i * shape.strideW);
    return current;
  };
  constexpr int64_t mostRows = 3;
  DualWindow window = {shape, layout.columns, taps};
  if (count == 2 && window.isPossible(b.getTarget()))
    sums = window.emit(b, start, pixel, weights);
  else if (shape.kernelH > mostRows)
    sums = b.forLoop(shape.kernelH, sums,
                     [&](Value *kh, llvm::ArrayRef<Value *> carried) {
                       return addRow(kh, Values(carried));
                     });
  else
    for (int64_t kh = 0; kh < shape.kernelH; ++kh)
      sums = addRow(b.index(kh), sums);
  ResultAddresses addresses(b, operands.result, operands.epilogue,
                            {band.batch, row, column, channel});
  for (int64_t i = 0; i < count; ++i)
    addresses.store(b, {0, 0, i, 0}, sums[size_t(i)]);
}

void DualDepthwiseEmitter::emitChannel(const Band &band, Value *plane,
                                       Value *channel) {
  b.forLoop(band.row, band.end, 1, [&](Value *row) {
    b.forVectors(
        shape.outWidth, 2,
        [&](Value *column, unsigned count) {
          emitOutputs(band, plane, channel, row, column, count);
        },
        operands.needed.columns);
  });
}

/// The first \p channels of four from \p channel on.
void DualDepthwiseEmitter::emitQuad(const Band &band, Value *channel,
                                    int64_t channels) {
  b.forLoop(layout.rows,
            [&](Value *row) { widenRow(band, row, channel, channels); });
  b.forLoop(channels, [&](Value *c) {
    emitChannel(band, b.getElement(planes, wideKind, c, layout.planeStride),
                b.CreateNSWAdd(channel, c));
  });
}

void DualDepthwiseEmitter::emit() {
  clearBorders();
  const NeededImages &needed = operands.needed;
  Value *endRow = ImageBands(b, shape, needed).endRow;
  Value *images = needed.images ? needed.images : b.index(shape.batch);
  b.forLoop(images, [&](Value *batch) {
    b.forLoop(b.index(0), endRow, bandRows, [&](Value *row) {
      Value *end = b.CreateNSWAdd(row, b.index(bandRows));
      if (needed.rows || shape.outHeight % bandRows)
        end = b.minIndex(end, endRow);
      Band band = {batch, row, end};
      b.forVectors(shape.channels, quad, [&](Value *channel, unsigned count) {
        emitQuad(band, channel, count);
      });
    });
  });
}

void glowish::emitDualDepthwise(KernelBuilder &b, const ConvolutionShape &shape,
                                ConvolutionOperands operands) {
  DualDepthwiseEmitter(b, shape, chooseDualBand(shape, b.getTarget()),
                       std::move(operands))
      .emit();
}
