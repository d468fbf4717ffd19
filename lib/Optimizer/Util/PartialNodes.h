//===- PartialNodes.h - Parts of results from parts of operands -*- C++ -*-===//

#ifndef GLOWISH_LIB_OPTIMIZER_UTIL_PARTIALNODES_H
#define GLOWISH_LIB_OPTIMIZER_UTIL_PARTIALNODES_H

#include "glowish/Graph/Nodes.h"

namespace glowish {

/// The indices from `begin` to `end` (excluded) of dimension `dim`.
struct AxisRange {
  unsigned dim = 0;
  int64_t begin = 0, end = 0;

  int64_t size() const { return end - begin; }
  bool operator==(const AxisRange &other) const = default;
};

/// For each operand of a node the range that a part of its result needs; null
/// if it needs all of the operand.
using OperandRanges = llvm::SmallVector<std::optional<AxisRange>, 4>;

/// The ranges that \p range of \p node's only result needs; null if the node
/// has no axis rule for that, or if \p range depends on padding alone.
std::optional<OperandRanges> getOperandRanges(const Node &node,
                                              AxisRange range);

/// \p node for \p range of its result. \p operands: those with a range of their
/// own are cut to it.
NodeDraft draftPart(const Node &node, AxisRange range,
                    llvm::ArrayRef<NodeValue> operands);

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_UTIL_PARTIALNODES_H
