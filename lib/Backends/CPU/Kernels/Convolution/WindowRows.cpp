//===- WindowRows.cpp - The rows under windows, on the stack --------------===//

#include "Kernels/Convolution/WindowRows.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;
using llvm::Value;

RowsLayout::RowsLayout(const ConvolutionShape &shape, ElemKind kind,
                       int64_t columnStride, int64_t outColumns, int64_t reach)
    : kind(kind), rows((shape.kernelH - 1) * shape.dilationH + 1),
      columns((outColumns - 1) * shape.strideW +
              (shape.kernelW - 1) * shape.dilationW + 1),
      columnStride(columnStride),
      rowStride(int64_t(llvm::alignTo(columns * columnStride + reach, 8))) {}

int64_t
glowish::chooseRowColumns(const ConvolutionShape &shape, int64_t pixels,
                          int64_t usualBytes, const TargetDescription &target,
                          llvm::function_ref<RowsLayout(int64_t)> getLayout) {
  auto getBytes = [&](int64_t columns) {
    return getLayout(columns).getBytes();
  };
  int64_t columns = shape.outWidth;
  if (columns > pixels && getBytes(columns) > usualBytes) {
    columns = pixels;
    while (columns + pixels < shape.outWidth &&
           getBytes(columns + pixels) <= usualBytes)
      columns += pixels;
  }
  return getBytes(columns) <= target.maxStackBytes / 2 ? columns : 0;
}

Value *glowish::allocateSpace(KernelBuilder &b, ElemKind kind, int64_t count) {
  auto *space = b.allocateSlot(
      llvm::ArrayType::get(b.getStorageTy(kind), uint64_t(count)));
  // A larger alignment than the stack's own would cost a register.
  space->setAlignment(llvm::Align(8));
  return space;
}

WindowRows::WindowRows(KernelBuilder &b, const ConvolutionShape &shape,
                       const StridedOperand &input, const RowsLayout &layout)
    : b(b), shape(shape), input(input), layout(layout),
      space(allocateSpace(b, layout.kind, layout.rows * layout.rowStride)) {
  if (layout.rows > 1)
    table = b.allocateSlot(
        llvm::ArrayType::get(b.getPtrTy(), uint64_t(shape.kernelH)));
}

//===- Places -------------------------------------------------------------===//

/// The address of row \p number, which counts from the first under any window.
Value *WindowRows::getPlace(Value *number) {
  if (layout.rows == 1)
    return space;
  return getElement(space, b.CreateURem(number, b.index(layout.rows)),
                    layout.rowStride);
}

Value *WindowRows::getRow(Value *kernelRow) {
  return table
             ? b.CreateLoad(b.getPtrTy(),
                            b.CreateInBoundsGEP(b.getPtrTy(), table, kernelRow))
             : firstRow;
}

void WindowRows::begin(Value *batch, Value *group, Value *outColumn) {
  image = b.getElement(input.base, input.kind,
                       b.addScaled(b.scaleIndex(batch, input.strides[0]), group,
                                   shape.getGroupChannels()));
  firstColumn = b.CreateNSWSub(b.scaleIndex(outColumn, shape.strideW),
                               b.index(shape.padLeft));
  auto clamp = [&](Value *column) {
    return b.maxIndex(b.minIndex(column, b.index(layout.columns)), b.index(0));
  };
  low = clamp(b.CreateNSWNeg(firstColumn));
  high = clamp(b.CreateNSWSub(b.index(shape.width), firstColumn));
  // Where nothing is written, so that it stays for all rows.
  int64_t lastColumn = (shape.outWidth - 1) * shape.strideW +
                       (shape.kernelW - 1) * shape.dilationW - shape.padLeft;
  if (shape.padLeft == 0 && lastColumn < shape.width)
    return;
  b.forLoop(layout.rows, [&](Value *slot) {
    Value *row = getElement(space, slot, layout.rowStride);
    fill(row, low);
    fill(getElement(row, high, layout.columnStride),
         b.CreateNSWSub(b.index(layout.columns), high));
  });
}

void WindowRows::fill(Value *address, Value *columns) {
  b.forLoop(b.index(0), columns, 1, [&](Value *column) {
    fillColumn(getElement(address, column, layout.columnStride));
  });
}

//===- Rows ---------------------------------------------------------------===//

void WindowRows::load(Value *outRow) {
  Value *first = b.scaleIndex(outRow, shape.strideH);
  Value *end = b.CreateNSWAdd(first, b.index(layout.rows));
  Value *next = first;
  if (layout.rows > shape.strideH && shape.outHeight > 1) {
    Value *others = b.CreateNSWAdd(first, b.index(layout.rows - shape.strideH));
    next = b.CreateSelect(b.CreateICmpEQ(outRow, b.index(0)), first, others);
  }
  b.forLoop(next, end, 1, [&](Value *number) { copyRow(number); });
  firstRow = getPlace(first);
  for (int64_t kh = 0; table && kh < shape.kernelH; ++kh)
    b.CreateStore(
        getPlace(b.CreateNSWAdd(first, b.index(kh * shape.dilationH))),
        b.CreateConstInBoundsGEP1_64(b.getPtrTy(), table, uint64_t(kh)));
}

/// Row \p number from the first under any window on.
void WindowRows::copyRow(Value *number) {
  Value *to = getPlace(number);
  Value *row = b.CreateNSWSub(number, b.index(shape.padTop));
  // Not inbounds: the row may lie outside of the image.
  Value *from = b.CreateGEP(b.getStorageTy(input.kind), image,
                            b.scaleIndex(row, input.strides[1]));
  int64_t lastRow =
      (shape.outHeight - 1) * shape.strideH + layout.rows - 1 - shape.padTop;
  if (shape.padTop == 0 && lastRow < shape.height)
    return copyColumns(from, to);
  // A negative number is large without its sign.
  Value *isInside = b.CreateICmpULT(row, b.index(shape.height));
  b.ifThen(isInside, [&] { copyColumns(from, to); });
  b.ifThen(b.CreateNot(isInside), [&] { fill(to, b.index(layout.columns)); });
}

/// The columns of a row that lie in the image.
void WindowRows::copyColumns(Value *from, Value *to) {
  int64_t channels = shape.getGroupChannels(), step = input.strides[2];
  Value *first =
      b.CreateGEP(b.getStorageTy(input.kind), from,
                  b.scaleIndex(b.CreateNSWAdd(firstColumn, low), step));
  to = getElement(to, low, layout.columnStride);
  Value *count = b.CreateNSWSub(high, low);
  if (step == channels && layout.columnStride == channels)
    return copyRun(first, to, b.scaleIndex(count, channels));
  b.forLoop(b.index(0), count, 1, [&](Value *column) {
    copyRun(b.getElement(first, input.kind, b.scaleIndex(column, step)),
            getElement(to, column, layout.columnStride), b.index(channels));
  });
}
