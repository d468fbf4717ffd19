//===- PoolGradient.cpp - Gradients of poolings ---------------------------===//
//
// A task has some channels of one image, and no other adds to them: it goes
// from window to window, in their order, and adds to the pixels of each. Rows
// are cleared just before the first window that reaches them.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Convolution/Window.h"
#include "Kernels/KernelOperands.h"
#include "glowish/Base/CheckedInt.h"

using namespace glowish;
using llvm::Value;

namespace {

/// Where a window of one output pixel is, and some of its channels.
struct WindowPlace {
  Value *image, *row, *column, *channel;
  KernelRows rows;
  /// The columns of the kernel that are inside the image, and the input column
  /// of column 0.
  llvm::SmallVector<int64_t, 8> taps;
  Value *firstColumn;
  unsigned lanes;
};

class PoolGradientEmitter {
public:
  PoolGradientEmitter(KernelBuilder &b, const ConvolutionShape &shape,
                      StridedOperand result, StridedOperand gradient)
      : b(b), shape(shape), kind(result.kind), result(std::move(result)),
        gradient(std::move(gradient)) {}
  virtual ~PoolGradientEmitter() = default;
  void emit();

protected:
  /// The value that window \p place adds at its tap; called once, before all
  /// taps.
  using TapValue = std::function<Value *(Value *kh, int64_t kw)>;
  virtual TapValue prepare(const WindowPlace &place) = 0;

  Value *loadGradient(const WindowPlace &place) {
    return b.load(kind,
                  gradient.getAddress(
                      b, {place.image, place.row, place.column, place.channel}),
                  place.lanes);
  }
  Value *getPixel(const StridedOperand &image, const WindowPlace &place,
                  Value *kh, int64_t kw) {
    // The only row is 0, and the only column. Where a dimension has the stride
    // of another one, LLVM 19 adds their indices first, shrinks a negative
    // number among them by the bits that the stride shifts out, and may then
    // take two addresses of the same pixel for different ones.
    Value *row = shape.height == 1
                     ? b.index(0)
                     : b.addScaled(place.rows.firstRow, kh, shape.dilationH);
    Value *column =
        shape.width == 1
            ? b.index(0)
            : b.CreateNSWAdd(place.firstColumn, b.index(kw * shape.dilationW));
    return image.getAddress(b, {place.image, row, column, place.channel});
  }
  /// body(kh) for each row of the kernel that is inside, and values that each
  /// passes to the next; straight code where all are.
  Values forRows(const WindowPlace &place, llvm::ArrayRef<Value *> start,
                 KernelBuilder::CarryBody body) {
    auto *low = llvm::dyn_cast<llvm::ConstantInt>(place.rows.low);
    auto *high = llvm::dyn_cast<llvm::ConstantInt>(place.rows.high);
    if (!low || !high)
      return b.forLoop(place.rows.low, place.rows.high, 1, start, body);
    Values values(start);
    for (int64_t kh = low->getSExtValue(); kh < high->getSExtValue(); ++kh)
      values = body(b.index(kh), values);
    return values;
  }

  KernelBuilder &b;
  ConvolutionShape shape;
  ElemKind kind;

private:
  /// Whether no two windows have a pixel in common, and whether all pixels are
  /// in one.
  bool areWindowsApart() const {
    return shape.strideH > (shape.kernelH - 1) * shape.dilationH &&
           shape.strideW > (shape.kernelW - 1) * shape.dilationW;
  }
  bool doWindowsCover() const;
  /// Those of a task.
  struct Channels {
    Value *first;
    int64_t count;
  };
  void clearRows(const Channels &channels, Value *image, Value *row);
  void emitWindow(const WindowPlace &place);
  void emitRow(const Channels &channels, Value *image, Value *row);
  void emitTask(const Channels &channels, Value *image);

  StridedOperand result, gradient;
};

/// The share goes to the largest element.
class MaxPoolGradientEmitter : public PoolGradientEmitter {
public:
  MaxPoolGradientEmitter(KernelBuilder &b, const ConvolutionShape &shape,
                         StridedOperand result, StridedOperand input,
                         StridedOperand gradient)
      : PoolGradientEmitter(b, shape, std::move(result), std::move(gradient)),
        input(std::move(input)) {}

private:
  TapValue prepare(const WindowPlace &place) override;
  Value *getNumber(Value *kh, int64_t kw, unsigned lanes);

  StridedOperand input;
};

/// All elements have the same share.
class AvgPoolGradientEmitter : public PoolGradientEmitter {
public:
  AvgPoolGradientEmitter(KernelBuilder &b, const ConvolutionShape &shape,
                         bool countIncludePads, StridedOperand result,
                         StridedOperand gradient)
      : PoolGradientEmitter(b, shape, std::move(result), std::move(gradient)),
        countIncludePads(countIncludePads) {}

private:
  TapValue prepare(const WindowPlace &place) override;

  bool countIncludePads;
};

} // namespace

bool PoolGradientEmitter::doWindowsCover() const {
  auto covers = [](int64_t extent, int64_t count, int64_t kernel,
                   int64_t stride, int64_t pad, int64_t dilation) {
    return dilation == 1 && stride <= kernel &&
           (count - 1) * stride - pad + kernel >= extent;
  };
  return covers(shape.height, shape.outHeight, shape.kernelH, shape.strideH,
                shape.padTop, shape.dilationH) &&
         covers(shape.width, shape.outWidth, shape.kernelW, shape.strideW,
                shape.padLeft, shape.dilationW);
}

/// The rows of \p image that no window above \p row reaches, and \p row's do;
/// all that are left for the last one.
void PoolGradientEmitter::clearRows(const Channels &channels, Value *image,
                                    Value *row) {
  int64_t reach = (shape.kernelH - 1) * shape.dilationH + 1 - shape.padTop;
  auto getEnd = [&](Value *of) {
    Value *end = b.addScaled(b.index(reach), of, shape.strideH);
    return b.minIndex(b.maxIndex(end, b.index(0)), b.index(shape.height));
  };
  Value *isFirst = b.CreateICmpEQ(row, b.index(0));
  Value *isLast = b.CreateICmpEQ(row, b.index(shape.outHeight - 1));
  Value *low = b.CreateSelect(isFirst, b.index(0),
                              getEnd(b.CreateNSWSub(row, b.index(1))));
  Value *high = b.CreateSelect(isLast, b.index(shape.height), getEnd(row));
  bool isWhole = channels.count == shape.channels;
  int64_t pixels = isWhole ? 1 : shape.width;
  int64_t elements = isWhole ? shape.width * shape.channels : channels.count;
  b.forLoop(low, high, 1, [&](Value *y) {
    b.forLoop(pixels, [&](Value *x) {
      Value *first = result.getAddress(b, {image, y, x, channels.first});
      b.forVectors(elements, b.getRegisterLanes(kind),
                   [&](Value *i, unsigned lanes) {
                     b.store(kind, b.literal(kind, 0, lanes),
                             b.getElement(first, kind, i));
                   });
    });
  });
}

void PoolGradientEmitter::emitWindow(const WindowPlace &place) {
  TapValue getValue = prepare(place);
  bool isApart = areWindowsApart();
  forRows(place, {}, [&](Value *kh, llvm::ArrayRef<Value *>) {
    for (int64_t kw : place.taps) {
      Value *address = getPixel(result, place, kh, kw);
      Value *value = getValue(kh, kw);
      if (!isApart)
        value = b.CreateFAdd(b.load(kind, address, place.lanes), value);
      b.store(kind, value, address);
    }
    return Values();
  });
}

void PoolGradientEmitter::emitRow(const Channels &channels, Value *image,
                                  Value *row) {
  KernelRows rows = getKernelRows(b, shape, row);
  for (const TileRun &run : splitRow(shape, 1)) {
    llvm::SmallVector<int64_t, 8> taps;
    for (auto [kw, range] : llvm::enumerate(run.taps))
      if (!range.empty())
        taps.push_back(int64_t(kw));
    if (taps.empty())
      continue;
    auto emitColumn = [&](Value *column) {
      Value *firstColumn =
          b.addScaled(b.index(-shape.padLeft), column, shape.strideW);
      b.forVectors(channels.count, b.getRegisterLanes(kind),
                   [&](Value *channel, unsigned lanes) {
                     channel = b.CreateNSWAdd(channels.first, channel);
                     emitWindow({image, row, column, channel, rows, taps,
                                 firstColumn, lanes});
                   });
    };
    b.forLoop(b.index(run.column), b.index(run.column + run.count), 1,
              emitColumn);
  }
}

void PoolGradientEmitter::emitTask(const Channels &channels, Value *image) {
  bool needsClearing = !areWindowsApart() || !doWindowsCover();
  b.forLoop(shape.outHeight, [&](Value *row) {
    if (needsClearing)
      clearRows(channels, image, row);
    emitRow(channels, image, row);
  });
}

void PoolGradientEmitter::emit() {
  // Images are the tasks where there are enough of them.
  bool sharesImages = shape.batch < 2 * b.getTarget().numThreads &&
                      b.getTarget().numThreads > 1;
  int64_t block = sharesImages ? b.getRegisterLanes(kind) : shape.channels;
  int64_t blocks = (shape.channels + block - 1) / block;
  int64_t left = shape.channels - (blocks - 1) * block;
  CheckedInt work = CheckedInt(shape.batch) * shape.channels *
                    (CheckedInt(shape.height) * shape.width +
                     CheckedInt(shape.outHeight) * shape.outWidth *
                         shape.kernelH * shape.kernelW);
  b.forTasks(shape.batch * blocks, work.get().value_or(INT64_MAX),
             [&](Value *task) {
               Values index = b.splitIndex(task, {shape.batch, blocks});
               Value *channel = b.scaleIndex(index[1], block);
               if (left == block)
                 return emitTask({channel, block}, index[0]);
               Value *isWhole = b.CreateICmpULT(index[1], b.index(blocks - 1));
               b.ifThen(isWhole, [&] { emitTask({channel, block}, index[0]); });
               b.ifThen(b.CreateNot(isWhole),
                        [&] { emitTask({channel, left}, index[0]); });
             });
}

/// Of a tap, in all lanes.
Value *MaxPoolGradientEmitter::getNumber(Value *kh, int64_t kw,
                                         unsigned lanes) {
  Value *number = b.addScaled(b.index(kw), kh, shape.kernelW);
  return b.splat(b.CreateZExtOrTrunc(number, b.getInt32Ty()), lanes);
}

PoolGradientEmitter::TapValue
MaxPoolGradientEmitter::prepare(const WindowPlace &place) {
  unsigned lanes = place.lanes;
  Value *lowest =
      b.literal(kind, -std::numeric_limits<double>::infinity(), lanes);
  Value *first = getNumber(place.rows.low, place.taps[0], lanes);
  Values found = forRows(
      place, {lowest, first}, [&](Value *kh, llvm::ArrayRef<Value *> carried) {
        Value *best = carried[0], *number = carried[1];
        for (int64_t kw : place.taps) {
          Value *x = b.load(kind, getPixel(input, place, kh, kw), lanes);
          // Larger, or the first that is not a number.
          Value *isBetter = b.CreateAnd(b.CreateFCmpUGT(x, best),
                                        b.CreateFCmpORD(best, best));
          best = b.CreateSelect(isBetter, x, best);
          number = b.CreateSelect(isBetter, getNumber(kh, kw, lanes), number);
        }
        return Values{best, number};
      });
  Value *share = loadGradient(place), *number = found[1];
  return [=, this](Value *kh, int64_t kw) {
    return b.CreateSelect(b.CreateICmpEQ(number, getNumber(kh, kw, lanes)),
                          share, b.literal(kind, 0, lanes));
  };
}

PoolGradientEmitter::TapValue
AvgPoolGradientEmitter::prepare(const WindowPlace &place) {
  Value *count = b.index(shape.kernelH * shape.kernelW);
  if (!countIncludePads)
    count = b.CreateNSWMul(b.CreateNSWSub(place.rows.high, place.rows.low),
                           b.index(int64_t(place.taps.size())));
  Value *divisor = b.CreateSIToFP(count, b.getComputeTy(kind));
  Value *share =
      b.CreateFDiv(loadGradient(place), b.splat(divisor, place.lanes));
  return [=](Value *, int64_t) { return share; };
}

void glowish::emitMaxPoolGradient(KernelBuilder &b,
                                  const MaxPoolGradientInstr &instr,
                                  const KernelOperands &operands) {
  StridedOperand result = operands.getStrided(MaxPoolGradientInstr::resultIdx);
  StridedOperand input = operands.getStrided(MaxPoolGradientInstr::inputIdx);
  StridedOperand gradient =
      operands.getStrided(MaxPoolGradientInstr::gradientIdx);
  ConvolutionShape shape = getWindowShape(instr, instr.getResult()->getShape(),
                                          instr.getGradient()->getShape());
  MaxPoolGradientEmitter(b, shape, std::move(result), std::move(input),
                         std::move(gradient))
      .emit();
}

void glowish::emitAvgPoolGradient(KernelBuilder &b,
                                  const AvgPoolGradientInstr &instr,
                                  const KernelOperands &operands) {
  StridedOperand result = operands.getStrided(AvgPoolGradientInstr::resultIdx);
  StridedOperand gradient =
      operands.getStrided(AvgPoolGradientInstr::gradientIdx);
  ConvolutionShape shape = getWindowShape(instr, instr.getResult()->getShape(),
                                          instr.getGradient()->getShape());
  AvgPoolGradientEmitter(b, shape, instr.getCountIncludePads(),
                         std::move(result), std::move(gradient))
      .emit();
}
