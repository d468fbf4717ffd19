//===- RowPredicate.cpp - Rows that need not be computed ------------------===//

#include "Kernels/RowPredicate.h"

using namespace glowish;
using llvm::Value;

/// Emits the code that stores the columns whose rows are needed, or those of
/// the others, from place \p first on. Returns the place behind them.
static Value *listColumns(KernelBuilder &b, const RowPredicate &predicate,
                          int64_t perRow, bool needed, Value *columns,
                          Value *first) {
  auto store = [&](Value *column, Value *place) {
    b.storeElement(ElemKind::Int32,
                   b.CreateIntCast(column, b.getInt32Ty(), true), columns,
                   place);
  };
  // Each column is written behind the last one, and stays there if it is one
  // of those: without a branch.
  auto list = [&](Value *row, llvm::ArrayRef<Value *> begin) -> Values {
    Value *isNeeded = predicate.isNeeded(b, row);
    Value *step =
        b.CreateZExt(needed ? isNeeded : b.CreateNot(isNeeded), b.getIndexTy());
    Value *column = b.scaleIndex(row, perRow);
    return b.forLoop(perRow, begin,
                     [&](Value *i, llvm::ArrayRef<Value *> place) -> Values {
                       store(b.CreateNSWAdd(column, i), place[0]);
                       return {b.CreateNSWAdd(place[0], step)};
                     });
  };
  return b.forLoop(predicate.count, {first}, list)[0];
}

ColumnOrder::ColumnOrder(KernelBuilder &b, const RowPredicate &predicate,
                         int64_t numColumns)
    // The last write may be behind all columns.
    : columns(b.allocate(ElemKind::Int32, numColumns + 1)) {
  int64_t perRow = numColumns / predicate.count;
  numNeeded = listColumns(b, predicate, perRow, true, columns, b.index(0));
  listColumns(b, predicate, perRow, false, columns, numNeeded);
}

Value *ColumnOrder::getColumn(KernelBuilder &b, Value *place) const {
  return b.loadIndex(ElemKind::Int32,
                     b.getElement(columns, ElemKind::Int32, place));
}
