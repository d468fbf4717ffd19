//===- Sorting.cpp - Sorted indices ---------------------------------------===//

#include "Kernels/KernelOperands.h"
#include "Kernels/Math/EmittedScalar.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;
using llvm::Value;

namespace {

/// The order of the elements of one row.
struct RowOrder {
  KernelBuilder &b;
  ElemKind kind;
  Value *row;
  bool largestFirst;

  /// Element \p index; of -1, which is no element, the first.
  EmittedScalar get(Value *index) const {
    Value *inside = b.maxIndex(index, b.index(0));
    return {&b, b.loadElement(kind, row, inside, 1), kind};
  }
  /// x > y, where a NaN is above all else.
  Value *isAbove(EmittedScalar x, EmittedScalar y) const {
    Value *above = (x > y).value;
    if (!x.isFloat())
      return above;
    Value *onlyX = b.CreateAnd(b.CreateFCmpUNO(x.value, x.value),
                               b.CreateFCmpORD(y.value, y.value));
    return b.CreateOr(above, onlyX);
  }
  /// Whether element \p i comes before element \p k. -1 comes last.
  Value *isBefore(Value *i, Value *k) const {
    EmittedScalar x = get(i), y = get(k);
    if (!largestFirst)
      std::swap(x, y);
    Value *isTie = b.CreateNot(b.CreateOr(isAbove(x, y), isAbove(y, x)));
    Value *before =
        b.CreateOr(isAbove(x, y), b.CreateAnd(isTie, b.CreateICmpSLT(i, k)));
    return b.CreateOr(b.CreateICmpSLT(k, b.index(0)), before);
  }
};

/// The indices that a row's result holds: a list of `count` places.
struct IndexList {
  KernelBuilder &b;
  RowOrder order;
  Value *first;
  int64_t count;

  Value *get(Value *place) const {
    return b.CreateSExtOrTrunc(b.loadElement(ElemKind::Int64, first, place, 1),
                               b.getIndexTy());
  }
  void set(Value *place, Value *value) const {
    b.storeElement(ElemKind::Int64, b.CreateSExtOrTrunc(value, b.getInt64Ty()),
                   first, place);
  }
  void insert(Value *i) const;
  void siftDown(Value *top, Value *size, Value *value) const;
  void sortByHeap(int64_t length) const;
};

} // namespace

/// Keeps the list sorted: what element \p i displaces moves on.
void IndexList::insert(Value *i) const {
  b.ifThen(order.isBefore(i, get(b.index(count - 1))), [&] {
    b.forLoop(count, {i},
              [&](Value *k, llvm::ArrayRef<Value *> carried) -> Values {
                Value *there = get(k);
                Value *takes = order.isBefore(carried[0], there);
                set(k, b.CreateSelect(takes, carried[0], there));
                return {b.CreateSelect(takes, there, carried[0])};
              });
  });
}

/// Puts \p value at place \p top of a heap of \p size places with the last of
/// the order at its root, or below, where what it passes moves up. A heap has
/// few levels, so all are walked.
void IndexList::siftDown(Value *top, Value *size, Value *value) const {
  Value *end = b.CreateSub(size, b.index(1));
  auto goDown = [&](Value *, llvm::ArrayRef<Value *> carried) -> Values {
    Value *left = b.addScaled(b.index(1), carried[0], 2);
    Value *right = b.minIndex(b.CreateAdd(left, b.index(1)), end);
    Value *isInside = b.CreateICmpSLE(left, end);
    left = b.minIndex(left, end);
    Value *child =
        b.CreateSelect(order.isBefore(get(left), get(right)), right, left);
    Value *other = get(child);
    Value *moves = b.CreateAnd(isInside, order.isBefore(value, other));
    b.ifThen(moves, [&] { set(carried[0], other); });
    return {b.CreateSelect(moves, child, carried[0])};
  };
  Values place = b.forLoop(llvm::Log2_64_Ceil(count) + 1, {top}, goDown);
  set(place[0], value);
}

/// The first `count` of \p length elements in their order, without memory of
/// its own.
void IndexList::sortByHeap(int64_t length) const {
  b.forLoop(count, [&](Value *k) { set(k, k); });
  b.forLoop(count / 2, [&](Value *i) {
    Value *top = b.CreateSub(b.index(count / 2 - 1), i);
    siftDown(top, b.index(count), get(top));
  });
  b.forLoop(b.index(count), b.index(length), 1, [&](Value *i) {
    b.ifThen(order.isBefore(i, get(b.index(0))),
             [&] { siftDown(b.index(0), b.index(count), i); });
  });
  b.forLoop(count - 1, [&](Value *i) {
    Value *last = b.CreateSub(b.index(count - 1), i);
    Value *value = get(last);
    set(last, get(b.index(0)));
    siftDown(b.index(0), last, value);
  });
}

void glowish::emitTopK(KernelBuilder &b, const TopKInstr &instr,
                       const KernelOperands &operands) {
  Value *result = operands.getPointer(TopKInstr::resultIdx);
  Value *input = operands.getPointer(TopKInstr::inputIdx);
  // From here on walking a heap is less than moving half of the list.
  constexpr int64_t minHeap = 16;
  const Type &type = instr.getInput()->getType();
  int64_t length = type.getShape().back(), count = instr.getCount();
  if (instr.getResult()->getType().getNumElements() == 0)
    return;
  int64_t rows = type.getNumElements() / length;
  int64_t steps = count < minHeap ? 4 : 16 * llvm::Log2_64_Ceil(count);
  auto sortRow = [&](Value *row) {
    Value *first = b.getElement(input, type.getKind(), row, length);
    Value *out = b.getElement(result, ElemKind::Int64, row, count);
    IndexList list{
        b, {b, type.getKind(), first, instr.getLargest()}, out, count};
    if (count >= minHeap)
      return list.sortByHeap(length);
    b.forLoop(count, [&](Value *k) { list.set(k, b.index(-1)); });
    b.forLoop(length, [&](Value *i) { list.insert(i); });
  };
  operands.forRows(b, TopKInstr::resultIdx, rows * length * steps, sortRow);
}
