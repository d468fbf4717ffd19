//===- WidenedRows.cpp - Rows of an image as int16 ------------------------===//

#include "Kernels/Dual/WidenedRows.h"
#include "Kernels/Math/DotInstrs.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;
using llvm::Value;

static constexpr ElemKind wideKind = ElemKind::Int16;

RowsLayout glowish::getWidenedLayout(const ConvolutionShape &shape,
                                     ChannelOrder order, int64_t outColumns) {
  int64_t channels = shape.getGroupChannels();
  if (order == ChannelOrder::Quads)
    channels = int64_t(llvm::alignTo(channels, 4));
  return RowsLayout(shape, wideKind, channels, outColumns, /*reach=*/1);
}

ZeroShift::ZeroShift(KernelBuilder &b, ElemKind kind, Value *zeroPoint)
    : isSigned(isSignedIntegerKind(kind)) {
  if (!zeroPoint)
    return;
  added = b.CreateNeg(
      b.CreateIntCast(b.load(kind, zeroPoint, 1), b.getInt32Ty(), isSigned));
  Value *low = b.CreateAnd(added, b.getInt32(0xffff));
  pair = b.CreateOr(low, b.CreateShl(low, 16));
}

Value *ZeroShift::widen(KernelBuilder &b, Value *word) const {
  return emitWidenedPair(b, word, isSigned, pair);
}

Value *ZeroShift::widenOne(KernelBuilder &b, Value *element) const {
  Value *wide = b.CreateIntCast(element, b.getInt32Ty(), isSigned);
  if (added)
    wide = b.CreateAdd(wide, added);
  return b.CreateTrunc(wide, b.getInt16Ty());
}

void WidenedRows::fillColumn(Value *address) {
  bool isPaired = layout.columnStride % 2 == 0;
  ElemKind kind = isPaired ? ElemKind::Int32 : wideKind;
  b.forLoop(layout.columnStride / (isPaired ? 2 : 1), [&](Value *i) {
    b.storeElement(kind, b.literal(kind, 0, 1), address, i);
  });
}

void WidenedRows::copyRun(Value *from, Value *to, Value *count) {
  auto widenAt = [&](Value *i) {
    widenWord(b.getElement(from, input.kind, i), b.getElement(to, wideKind, i));
  };
  if (auto *known = llvm::dyn_cast<llvm::ConstantInt>(count)) {
    int64_t number = known->getSExtValue(), whole = number / 4 * 4;
    b.forUnrolled(number / 4, 4, {}, [&](Value *word, llvm::ArrayRef<Value *>) {
      widenAt(b.scaleIndex(word, 4));
      return Values();
    });
    for (int64_t i = whole; i < number; ++i)
      widenByte(b.getElement(from, input.kind, i),
                b.getElement(to, wideKind,
                             whole + glowish::getPlace(order, i - whole)));
    return;
  }
  // Whole pixels, whose channels are as many words as a multiple of this.
  int64_t channels = layout.columnStride;
  int64_t words = channels % 16 == 0 ? 4 : channels % 8 == 0 ? 2 : 1;
  Value *whole = b.CreateAnd(count, b.index(-4));
  b.forLoop(b.index(0), whole, 4 * words, [&](Value *i) {
    for (int64_t word = 0; word < words; ++word)
      widenAt(b.CreateNSWAdd(i, b.index(4 * word)));
  });
  // Whole quads have no rest.
  if (order == ChannelOrder::Plain)
    b.forLoop(whole, count, 1, [&](Value *i) {
      widenByte(b.getElement(from, input.kind, i),
                b.getElement(to, wideKind, i));
    });
}

/// Four elements.
void WidenedRows::widenWord(Value *from, Value *to) {
  Value *word = b.CreateAlignedLoad(b.getInt32Ty(), from, llvm::Align(1));
  // Elements 0 and 2, 1 and 3.
  Value *even = shift.widen(b, word);
  Value *odd = shift.widen(b, emitRotated(b, word, 8));
  Value *first = even, *second = odd;
  if (order == ChannelOrder::Plain) {
    Value *lowMask = b.getInt32(0xffff), *highMask = b.getInt32(0xffff0000);
    first = b.CreateOr(b.CreateAnd(even, lowMask), b.CreateShl(odd, 16));
    second = b.CreateOr(b.CreateAnd(odd, highMask), b.CreateLShr(even, 16));
  }
  // A run of the plain order may begin anywhere.
  llvm::Align align(order == ChannelOrder::Quads ? 4 : 2);
  b.CreateAlignedStore(first, to, align);
  b.CreateAlignedStore(second, b.getElement(to, wideKind, int64_t(2)), align);
}

void WidenedRows::widenByte(Value *from, Value *to) {
  b.store(wideKind, shift.widenOne(b, b.load(input.kind, from, 1)), to);
}
