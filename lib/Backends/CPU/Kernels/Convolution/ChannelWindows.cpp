//===- ChannelWindows.cpp - Depthwise convolution and pooling -------------===//
//
// Depthwise convolution and pooling: operators of windows that do not combine
// channels. Vectors run over channels, and a tile of pixels stays in registers
// during the loop over taps.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Convolution/Depthwise.h"
#include "Kernels/Convolution/Window.h"
#include "Kernels/Epilogue.h"
#include "Kernels/KernelOperands.h"
#include "Kernels/Math/DotInstrs.h"
#include "glowish/Base/CheckedInt.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace glowish;
using llvm::Value;

namespace {

/// The parts of the kernel that differ between the operators.
struct WindowOperator {
  /// The accumulators' first value, for channels from \p channel on.
  std::function<Value *(Value *channel, unsigned lanes)> start;
  /// The tap's factor, loaded once a tap; may be empty.
  std::function<Value *(Value *kh, int64_t kw, Value *channel, unsigned lanes)>
      loadTap;
  std::function<Value *(Value *accumulator, Value *x, Value *tap)> combine;
  /// \p count: taps inside the image, as an index.
  std::function<void(llvm::ArrayRef<Value *> index, Value *accumulator,
                     Value *count, unsigned lanes)>
      finish;
};

} // namespace

static void emitWindowTile(KernelBuilder &b, const ConvolutionShape &shape,
                           const StridedOperand &input,
                           const WindowOperator &op, const TileRun &run,
                           const KernelRows &rows,
                           llvm::ArrayRef<Value *> position, Value *channel,
                           unsigned lanes) {
  Value *batch = position[0], *row = position[1], *column = position[2];
  Value *firstColumn = b.CreateNSWSub(b.scaleIndex(column, shape.strideW),
                                      b.index(shape.padLeft));
  Values start(run.pixels, op.start(channel, lanes));
  Values sums = b.forLoop(
      rows.low, rows.high, 1, start,
      [&](Value *kh, llvm::ArrayRef<Value *> carried) {
        Values current(carried);
        Value *source =
            b.CreateNSWAdd(rows.firstRow, b.scaleIndex(kh, shape.dilationH));
        // Perhaps before the image, where no tap that applies reads it.
        Value *first = b.getTarget().isTranslated
                           ? b.keepOffsets(input.getAddress(
                                 b, {batch, source, firstColumn, channel}))
                           : nullptr;
        for (int64_t kw = 0; kw < shape.kernelW; ++kw) {
          PixelRange range = run.taps[kw];
          if (range.empty())
            continue;
          Value *tap =
              op.loadTap ? op.loadTap(kh, kw, channel, lanes) : nullptr;
          for (unsigned p = range.first; p < range.end; ++p) {
            int64_t shift = p * shape.strideW + kw * shape.dilationW;
            Value *address =
                first
                    ? b.getElement(first, input.kind, shift * input.strides[2])
                    : input.getAddress(
                          b, {batch, source,
                              b.CreateNSWAdd(firstColumn, b.index(shift)),
                              channel});
            Value *x = b.loadStrided(input.kind, address, lanes,
                                     input.getInnerStride());
            current[p] = op.combine(current[p], x, tap);
          }
        }
        return current;
      });
  Value *rowCount = b.CreateNSWSub(rows.high, rows.low);
  for (unsigned p = 0; p < run.pixels; ++p) {
    int64_t columns = llvm::count_if(run.taps, [&](const PixelRange &range) {
      return p >= range.first && p < range.end;
    });
    op.finish({batch, row, b.CreateNSWAdd(column, b.index(p)), channel},
              sums[p], b.CreateNSWMul(rowCount, b.index(columns)), lanes);
  }
}

/// Whether the windows of a tile of \p pixels that goes down the rows have rows
/// in common, and find them in the first cache. A pixel takes \p pixelBytes.
static bool sharesRows(const ConvolutionShape &shape, unsigned pixels,
                       int64_t pixelBytes) {
  // In few rows little is shared, and the short loops are mispredicted: images
  // of 7x7 took as long or longer, of 14x14 less time (Zen 5).
  constexpr int64_t fewRows = 8;
  int64_t windowRows = (shape.kernelH - 1) * shape.dilationH + 1;
  if (shape.outHeight <= fewRows || windowRows <= shape.strideH)
    return false;
  int64_t columns =
      std::min(shape.width, (pixels - 1) * shape.strideW +
                                (shape.kernelW - 1) * shape.dilationW + 1);
  // What a vector of channels of a tile reads and writes: a line for each pixel
  // of its windows, tap and result.
  int64_t lines =
      shape.kernelH * columns + shape.kernelH * shape.kernelW + pixels;
  // A cache of 32 KB, the smallest first one of x86-64 and AArch64 cores with
  // vectors. Pixels that are a multiple of 4 KB apart compete for the places of
  // a set.
  constexpr int64_t lineBytes = 64, sets = 64, ways = 8;
  int64_t step = std::gcd(sets, (pixelBytes + lineBytes - 1) / lineBytes);
  if (lines > sets / step * ways)
    return false;
  // Their pages must be in the first translation buffer (TLB), of 64 entries;
  // some are left for the stack and the code's constants. Each row may begin on
  // another.
  constexpr int64_t pageBytes = 4096, mostPages = 48;
  return lines * pixelBytes / pageBytes + shape.kernelH <= mostPages;
}

namespace {

/// In which order the tiles of an image are computed: for a group of channels,
/// strips of a row's tiles go down the rows of a band.
struct WindowOrder {
  WindowOrder(const ConvolutionShape &shape, unsigned pixels, unsigned lanes,
              int64_t elementBytes, int64_t numThreads);

  /// Channels of a group: a multiple of the lanes.
  int64_t groupChannels;
  int64_t stripTiles;
  int64_t bandRows, bands;
};

} // namespace

/// Vectors of a group, of which \p most are wanted: groups of about one size.
static int64_t chooseGroup(int64_t vectors, int64_t most) {
  int64_t groups = llvm::divideCeilSigned(vectors, std::max<int64_t>(most, 1));
  return llvm::divideCeilSigned(vectors, groups);
}

/// Where windows share rows, these are read once from the farther caches, and
/// not by each row of the output.
WindowOrder::WindowOrder(const ConvolutionShape &shape, unsigned pixels,
                         unsigned lanes, int64_t elementBytes,
                         int64_t numThreads)
    : groupChannels(shape.channels / lanes * lanes), stripTiles(shape.outWidth),
      bandRows(1), bands(shape.outHeight) {
  if (!sharesRows(shape, pixels, shape.channels * elementBytes))
    return;
  // Each thread has four bands, so that no thread waits long for another.
  bandRows = llvm::divideCeilSigned(shape.outHeight,
                                    numThreads > 1 ? 4 * numThreads : 1);
  bands = llvm::divideCeilSigned(shape.outHeight, bandRows);
  // Four lines. The depthwise layers of three networks took as long with groups
  // of 8 lines, and with 2 or 16 within 2 % (Zen 5).
  constexpr int64_t groupBytes = 256;
  int64_t vectors = std::max<int64_t>(shape.channels / lanes, 1);
  groupChannels =
      chooseGroup(vectors, groupBytes / (lanes * elementBytes)) * lanes;
  // Windows of a strip in a quarter of the first cache. Strips are as long as
  // that allows: short ones are hard to read ahead of.
  constexpr int64_t mostBytes = 12 << 10;
  int64_t tileBytes =
      shape.kernelH * pixels * shape.strideW * groupChannels * elementBytes;
  stripTiles = std::max<int64_t>(1, mostBytes / tileBytes);
}

/// Calls \p body with the first channel, the end and the lanes of each group of
/// channels, and of those that are left over.
static void
forChannelGroups(KernelBuilder &b, int64_t channels, unsigned lanes,
                 int64_t groupChannels,
                 llvm::function_ref<void(Value *, Value *, unsigned)> body) {
  int64_t whole = channels / lanes * lanes;
  b.forLoop(b.index(0), b.index(whole), groupChannels, [&](Value *low) {
    Value *high = b.CreateNSWAdd(low, b.index(groupChannels));
    body(low, b.minIndex(high, b.index(whole)), lanes);
  });
  if (whole < channels)
    body(b.index(whole), b.index(channels), unsigned(channels - whole));
}

/// Calls \p body with the first column and the end of each strip of \p run that
/// has one of the \p needed columns; null for all.
static void forStrips(KernelBuilder &b, const TileRun &run, int64_t stripTiles,
                      Value *needed,
                      llvm::function_ref<void(Value *, Value *)> body) {
  Value *end = getEndColumn(b, run, needed);
  int64_t strip = std::min(stripTiles, run.count) * run.pixels;
  b.forLoop(b.index(run.column), end, strip, [&](Value *low) {
    body(low, b.minIndex(b.CreateNSWAdd(low, b.index(strip)), end));
  });
}

/// Pixels of a tile: one register each, and as many again for what is loaded;
/// or all that a row of the kernel loads for them where loads come first.
static unsigned chooseTilePixels(const KernelBuilder &b,
                                 const ConvolutionShape &shape) {
  int64_t registers = b.getTarget().numVectorRegisters;
  int64_t most = std::max<int64_t>(1, registers / 2 - 2);
  auto countLoads = [&](int64_t pixels) {
    int64_t columns = (pixels - 1) * shape.strideW +
                      (shape.kernelW - 1) * shape.dilationW + 1;
    return std::min(columns, pixels * shape.kernelW) + shape.kernelW;
  };
  if (b.getTarget().isTranslated)
    while (most > 1 && most + countLoads(most) >= registers)
      --most;
  int64_t tiles = llvm::divideCeilSigned(shape.outWidth, most);
  return unsigned(llvm::divideCeilSigned(shape.outWidth, tiles));
}

static void emitWindows(KernelBuilder &b, const ConvolutionShape &shape,
                        const StridedOperand &input, NeededImages needed,
                        unsigned lanes, const WindowOperator &op) {
  unsigned pixels = chooseTilePixels(b, shape);
  std::vector<TileRun> runs = splitRow(shape, pixels);
  WindowOrder order(shape, pixels, lanes, int64_t(getElemSize(input.kind)),
                    b.getTarget().numThreads);
  auto emitGroup = [&](Value *batch, Value *low, Value *high, Value *first,
                       Value *last, unsigned active) {
    for (const TileRun &run : runs)
      forStrips(b, run, order.stripTiles, needed.columns,
                [&](Value *strip, Value *end) {
                  b.forLoop(low, high, 1, [&](Value *row) {
                    KernelRows rows = getKernelRows(b, shape, row);
                    b.forLoop(strip, end, run.pixels, [&](Value *column) {
                      b.forLoop(first, last, active, [&](Value *channel) {
                        emitWindowTile(b, shape, input, op, run, rows,
                                       {batch, row, column}, channel, active);
                      });
                    });
                  });
                });
  };
  ImageBands bands(b, shape, needed, order.bandRows);
  CheckedInt work = CheckedInt(shape.batch) * shape.outHeight * shape.outWidth *
                    shape.channels * shape.kernelH * shape.kernelW;
  b.forTasks(
      shape.batch * order.bands, work.get().value_or(INT64_MAX),
      [&](Value *task) {
        Value *batch = b.CreateUDiv(task, bands.perImage);
        Value *band = b.CreateURem(task, bands.perImage);
        Value *low = b.scaleIndex(band, order.bandRows);
        Value *high = b.CreateNSWAdd(low, b.index(order.bandRows));
        if (needed.rows || shape.outHeight % order.bandRows)
          high = b.minIndex(high, bands.endRow);
        forChannelGroups(b, shape.channels, lanes, order.groupChannels,
                         [&](Value *first, Value *last, unsigned active) {
                           emitGroup(batch, low, high, first, last, active);
                         });
      },
      bands.count);
}

void glowish::emitDepthwise(KernelBuilder &b, const ConvolutionShape &shape,
                            const ConvolutionOperands &operands) {
  const StridedOperand &result = operands.result, &input = operands.input;
  Value *weights = operands.weights, *bias = operands.bias;
  ElemKind kind = input.kind;
  WindowOperator op;
  op.start = [&](Value *channel, unsigned lanes) {
    return bias ? b.load(kind, b.getElement(bias, kind, channel), lanes)
                : b.literal(kind, 0, lanes);
  };
  op.loadTap = [&](Value *kh, int64_t kw, Value *channel, unsigned lanes) {
    Value *tap = b.addScaled(b.index(kw), kh, shape.kernelW);
    return b.load(
        kind,
        b.getElement(weights, kind, b.addScaled(channel, tap, shape.channels)),
        lanes);
  };
  op.combine = [&](Value *sum, Value *x, Value *tap) {
    return b.multiplyAdd(x, tap, sum);
  };
  op.finish = [&](llvm::ArrayRef<Value *> index, Value *sum, Value *,
                  unsigned lanes) {
    storeResult(b, result, operands.epilogue, index, sum, lanes);
  };
  emitWindows(b, shape, input, operands.needed, b.getRegisterLanes(kind), op);
}

void glowish::emitDepthwiseBytes(KernelBuilder &b,
                                 const ConvolutionShape &shape,
                                 const ConvolutionOperands &operands) {
  constexpr ElemKind sumKind = ElemKind::Int32;
  const StridedOperand &result = operands.result, &input = operands.input;
  TapRanges ranges = operands.isBiasOfTaps ? TapRanges(shape) : TapRanges();
  WindowOperator op;
  op.start = [&](Value *, unsigned lanes) {
    return b.literal(sumKind, 0, lanes);
  };
  op.loadTap = [&](Value *kh, int64_t kw, Value *channel, unsigned lanes) {
    Value *tap = b.addScaled(b.index(kw), kh, shape.kernelW);
    return b.load(sumKind,
                  b.getElement(operands.weights, sumKind,
                               b.addScaled(channel, tap, shape.channels)),
                  lanes);
  };
  op.combine = [&](Value *sums, Value *x, Value *tap) {
    Value *wide =
        b.CreateIntCast(x, sums->getType(), isSignedIntegerKind(input.kind));
    return emitSmallMultiplyAdd(b, sums, wide, tap);
  };
  op.finish = [&](llvm::ArrayRef<Value *> index, Value *sum, Value *,
                  unsigned lanes) {
    if (operands.bias) {
      Value *element = b.addScaled(
          index[3], ranges.getPairAt(b, index[1], index[2]), shape.channels);
      sum = b.CreateAdd(
          sum, b.load(sumKind, b.getElement(operands.bias, sumKind, element),
                      lanes));
    }
    storeResult(b, result, operands.epilogue, index, sum, lanes);
  };
  emitWindows(b, shape, input, operands.needed, b.getRegisterLanes(sumKind),
              op);
}

template <typename Instr>
static ConvolutionShape getPoolShape(const Instr &instr) {
  return getWindowShape(instr, instr.getInput()->getShape(),
                        instr.getResult()->getShape());
}

/// Returns what a run needs of the result of a pooling.
static NeededImages getNeeded(const KernelOperands &operands) {
  return {.images = operands.getBound(/*index=*/0, /*dim=*/0),
          .rows = operands.getBound(/*index=*/0, /*dim=*/1),
          .columns = operands.getBound(/*index=*/0, /*dim=*/2)};
}

/// KernelBuilder::maximum, but any NaN for a NaN: the first choice is one
/// instruction of x86, which LLVM does not find where a NaN is kept as it is.
static Value *emitLarger(KernelBuilder &b, ElemKind kind, Value *best,
                         Value *x) {
  if (!x->getType()->isFPOrFPVectorTy())
    return b.maximum(kind, best, x);
  Value *larger = b.CreateSelect(b.CreateFCmpOLT(best, x), x, best);
  return b.CreateSelect(b.CreateFCmpUNO(x, x),
                        llvm::ConstantFP::getNaN(x->getType()), larger);
}

void glowish::emitMaxPool(KernelBuilder &b, const MaxPoolInstr &instr,
                          const KernelOperands &operands) {
  StridedOperand result = operands.getStrided(MaxPoolInstr::resultIdx);
  StridedOperand input = operands.getStrided(MaxPoolInstr::inputIdx);
  ElemKind kind = input.kind;
  WindowOperator op;
  op.start = [&](Value *, unsigned lanes) {
    return b.literal(kind, -std::numeric_limits<double>::infinity(), lanes);
  };
  op.combine = [&](Value *best, Value *x, Value *) {
    return emitLarger(b, kind, best, x);
  };
  op.finish = [&](llvm::ArrayRef<Value *> index, Value *best, Value *,
                  unsigned) {
    b.storeStrided(kind, best, result.getAddress(b, index),
                   result.getInnerStride());
  };
  emitWindows(b, getPoolShape(instr), input, getNeeded(operands),
              b.getRegisterLanes(kind), op);
}

void glowish::emitAvgPool(KernelBuilder &b, const AvgPoolInstr &instr,
                          const KernelOperands &operands) {
  StridedOperand result = operands.getStrided(AvgPoolInstr::resultIdx);
  StridedOperand input = operands.getStrided(AvgPoolInstr::inputIdx);
  ElemKind kind = input.kind;
  ConvolutionShape shape = getPoolShape(instr);
  WindowOperator op;
  op.start = [&](Value *, unsigned lanes) { return b.literal(kind, 0, lanes); };
  op.combine = [&](Value *sum, Value *x, Value *) {
    return b.CreateFAdd(sum, x);
  };
  op.finish = [&](llvm::ArrayRef<Value *> index, Value *sum, Value *count,
                  unsigned lanes) {
    if (instr.getCountIncludePads())
      count = b.index(shape.kernelH * shape.kernelW);
    // An empty window has the mean 0.
    count = b.maxIndex(count, b.index(1));
    Value *divisor = b.CreateSIToFP(count, b.getComputeTy(kind));
    b.storeStrided(kind, b.CreateFDiv(sum, b.splat(divisor, lanes)),
                   result.getAddress(b, index), result.getInnerStride());
  };
  emitWindows(b, shape, input, getNeeded(operands), b.getRegisterLanes(kind),
              op);
}
