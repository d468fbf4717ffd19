//===- Indexing.cpp - Scatters and sorted indices -------------------------===//

#include "Indexing.h"
#include "EmittedScalar.h"

using namespace glowish;
using llvm::Value;

static Value *combine(llvm::StringRef mode, EmittedScalar element,
                      EmittedScalar value) {
  if (mode == "add")
    return (element + value).value;
  if (mode == "mul")
    return (element * value).value;
  if (mode == "max")
    return max(element, value).value;
  if (mode == "min")
    return min(element, value).value;
  return value.value;
}

void glowish::emitScatter(KernelBuilder &b, const ScatterInstr &instr,
                          llvm::ArrayRef<Value *> pointers) {
  const Type &type = instr.getInput()->getType();
  ElemKind kind = type.getKind();
  ElemKind indexKind = instr.getIndices()->getType().getKind();
  int64_t rows = type.getDim(0), columns = type.getDim(1);
  llvm::Align align(getElemSize(kind));
  Value *result = pointers[0], *updates = pointers[3];
  b.CreateMemCpy(result, align, pointers[1], align, type.getSizeInBytes());
  if (type.getNumElements() == 0)
    return;
  auto combineRow = [&](Value *row, Value *i) {
    b.forVectors(
        columns, b.getRegisterLanes(kind), [&](Value *column, unsigned lanes) {
          Value *target =
              b.getElement(result, kind, b.addScaled(column, row, columns));
          Value *source =
              b.getElement(updates, kind, b.addScaled(column, i, columns));
          EmittedScalar element{&b, b.load(kind, target, lanes), kind};
          EmittedScalar value{&b, b.load(kind, source, lanes), kind};
          b.store(kind, combine(instr.getMode(), element, value), target);
        });
  };
  b.forLoop(instr.getIndices()->getType().getDim(0), [&](Value *i) {
    Value *address = b.getElement(pointers[2], indexKind, i);
    Value *row =
        b.CreateSExtOrTrunc(b.load(indexKind, address, 1), b.getIndexTy());
    row = b.CreateSelect(b.CreateICmpSLT(row, b.index(0)),
                         b.CreateAdd(row, b.index(rows)), row);
    // As unsigned, negative numbers are out of range too.
    b.ifThen(b.CreateICmpULT(row, b.index(rows)), [&] { combineRow(row, i); });
  });
}

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
    return {&b, b.load(kind, b.getElement(row, kind, inside), 1), kind};
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

} // namespace

void glowish::emitTopK(KernelBuilder &b, const TopKInstr &instr, Value *result,
                       Value *input) {
  const Type &type = instr.getInput()->getType();
  int64_t length = type.getShape().back(), count = instr.getCount();
  if (instr.getResult()->getType().getNumElements() == 0)
    return;
  int64_t rows = type.getNumElements() / length;
  auto loadIndex = [&](Value *address) {
    return b.CreateSExtOrTrunc(b.load(ElemKind::Int64, address, 1),
                               b.getIndexTy());
  };
  auto storeIndex = [&](Value *index, Value *address) {
    b.store(ElemKind::Int64, b.CreateSExtOrTrunc(index, b.getInt64Ty()),
            address);
  };
  b.forTasks(rows, rows * length * 4, [&](Value *row) {
    Value *first = b.getElement(input, type.getKind(),
                                b.addScaled(b.index(0), row, length));
    Value *out = b.getElement(result, ElemKind::Int64,
                              b.addScaled(b.index(0), row, count));
    RowOrder order{b, type.getKind(), first, instr.getLargest()};
    auto getSlot = [&](Value *k) {
      return b.getElement(out, ElemKind::Int64, k);
    };
    b.forLoop(count, [&](Value *k) { storeIndex(b.index(-1), getSlot(k)); });
    b.forLoop(length, [&](Value *i) {
      Value *last = loadIndex(getSlot(b.index(count - 1)));
      b.ifThen(order.isBefore(i, last), [&] {
        // What an element displaces moves on.
        b.forLoop(b.index(0), b.index(count), 1, {i},
                  [&](Value *k, llvm::ArrayRef<Value *> carried) -> Values {
                    Value *there = loadIndex(getSlot(k));
                    Value *takes = order.isBefore(carried[0], there);
                    storeIndex(b.CreateSelect(takes, carried[0], there),
                               getSlot(k));
                    return {b.CreateSelect(takes, there, carried[0])};
                  });
      });
    });
  });
}
