//===- RowPredicate.h - Rows that need not be computed ----------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_ROWPREDICATE_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_ROWPREDICATE_H

#include "Kernels/StridedOperand.h"

namespace glowish {

/// The predicate of an instruction: one bool for each of `count` rows of its
/// result, which are the leading dimensions.
struct RowPredicate {
  StridedOperand flags;
  int64_t count = 0;

  /// Whether there is one.
  explicit operator bool() const { return count != 0; }
  /// Returns whether row \p row is needed, an i1.
  llvm::Value *isNeeded(KernelBuilder &b, llvm::Value *row) const {
    return b.load(ElemKind::Bool, flags.getAddress(b, row), 1);
  }
};

/// The columns of a matrix product's image, those first that are needed. The
/// others follow, as a tile may take more columns than there are.
class ColumnOrder {
public:
  /// Emits the code that finds the order of \p numColumns columns, a multiple
  /// of \p predicate.count.
  ColumnOrder(KernelBuilder &b, const RowPredicate &predicate,
              int64_t numColumns);

  /// How many columns are needed, an index.
  llvm::Value *getNumNeeded() const { return numNeeded; }
  /// Returns the column at \p place of the order, an index.
  llvm::Value *getColumn(KernelBuilder &b, llvm::Value *place) const;

private:
  llvm::Value *columns; // int32 each
  llvm::Value *numNeeded;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_ROWPREDICATE_H
