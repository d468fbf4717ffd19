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
  Value *firstColumn = b.CreateNSWSub(
      b.addScaled(b.index(0), column, shape.strideW), b.index(shape.padLeft));
  Values start(run.pixels, op.start(channel, lanes));
  Values sums = b.forLoop(
      rows.low, rows.high, 1, start,
      [&](Value *kh, llvm::ArrayRef<Value *> carried) {
        Values current(carried);
        Value *source = b.CreateNSWAdd(
            rows.firstRow, b.addScaled(b.index(0), kh, shape.dilationH));
        for (int64_t kw = 0; kw < shape.kernelW; ++kw) {
          PixelRange range = run.taps[kw];
          if (range.empty())
            continue;
          Value *tap =
              op.loadTap ? op.loadTap(kh, kw, channel, lanes) : nullptr;
          for (unsigned p = range.first; p < range.end; ++p) {
            int64_t shift = p * shape.strideW + kw * shape.dilationW;
            Value *address = input.getAddress(
                b, {batch, source, b.CreateNSWAdd(firstColumn, b.index(shift)),
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

static void emitWindows(KernelBuilder &b, const ConvolutionShape &shape,
                        const StridedOperand &input, unsigned lanes,
                        const WindowOperator &op) {
  // One register a pixel, and as many again for what is loaded.
  unsigned most = std::max(1u, b.getTarget().numVectorRegisters / 2 - 2);
  unsigned tiles = unsigned((shape.outWidth + most - 1) / most);
  unsigned pixels = unsigned((shape.outWidth + tiles - 1) / tiles);
  std::vector<TileRun> runs = splitRow(shape, pixels);
  int64_t work = shape.batch * shape.outHeight * shape.outWidth *
                 shape.channels * shape.kernelH * shape.kernelW;
  b.forTasks(shape.batch * shape.outHeight, work, [&](Value *task) {
    Value *batch = b.CreateUDiv(task, b.index(shape.outHeight));
    Value *row = b.CreateURem(task, b.index(shape.outHeight));
    KernelRows rows = getKernelRows(b, shape, row);
    for (const TileRun &run : runs)
      b.forLoop(b.index(run.column),
                b.index(run.column + run.count * run.pixels), run.pixels,
                [&](Value *column) {
                  b.forVectors(shape.channels, lanes,
                               [&](Value *channel, unsigned active) {
                                 emitWindowTile(b, shape, input, op, run, rows,
                                                {batch, row, column}, channel,
                                                active);
                               });
                });
  });
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
  emitWindows(b, shape, input, b.getRegisterLanes(kind), op);
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
  emitWindows(b, shape, input, b.getRegisterLanes(sumKind), op);
}

template <typename Instr>
static ConvolutionShape getPoolShape(const Instr &instr) {
  return getWindowShape(instr, instr.getInput()->getShape(),
                        instr.getResult()->getShape());
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
    return b.maximum(kind, best, x);
  };
  op.finish = [&](llvm::ArrayRef<Value *> index, Value *best, Value *,
                  unsigned) {
    b.storeStrided(kind, best, result.getAddress(b, index),
                   result.getInnerStride());
  };
  emitWindows(b, getPoolShape(instr), input, b.getRegisterLanes(kind), op);
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
  emitWindows(b, shape, input, b.getRegisterLanes(kind), op);
}
