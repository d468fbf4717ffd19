//===- RowRules.h - Rows of results from rows of operands -----*- C++ -*-===//

#ifndef GLOWISH_LIB_OPTIMIZER_ROWRULES_H
#define GLOWISH_LIB_OPTIMIZER_ROWRULES_H

#include "glowish/Graph/Nodes.h"

namespace glowish {

/// The indices from `begin` to `end` (excluded) of dimension `dim`.
struct Rows {
  unsigned dim = 0;
  int64_t begin = 0, end = 0;

  int64_t size() const { return end - begin; }
  bool operator==(const Rows &other) const = default;
};

/// What a node reads for some rows of its result: for each operand its rows, or
/// null for all of it.
using OperandRows = llvm::SmallVector<std::optional<Rows>, 4>;

/// Null where rows of \p node's result can't be computed from rows of its
/// operands, or where \p rows needs none of them.
std::optional<OperandRows> getOperandRows(const Node &node, Rows rows);

/// \p node for \p rows of its result: operands with rows of their own are
/// \p operands, cut to those.
NodeDraft draftRows(const Node &node, Rows rows,
                    llvm::ArrayRef<NodeValue> operands);

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_ROWRULES_H
