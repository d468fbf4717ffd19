//===- StatedSums.h - Which values are stated extents -----------*- C++ -*-===//

#ifndef GLOWISH_GRAPH_STATEDSUMS_H
#define GLOWISH_GRAPH_STATEDSUMS_H

#include "glowish/Base/Extent.h"
#include "glowish/Graph/Nodes.h"

namespace glowish {

/// Follows the integers of a graph back to the extents that its inputs state.
class StatedSums {
public:
  explicit StatedSums(const Module &module);

  /// Whether an input states an extent.
  bool hasSymbols() const { return !symbols.empty(); }
  /// \p value, an integer of one element, as an expression of stated extents;
  /// null where it is something else.
  std::optional<Extent> find(NodeValue value) const;

  /// The one of \p a and \p b that is at least as large as the other in all
  /// runs; null where that depends on the run.
  std::optional<Extent> findLarger(const Extent &a, const Extent &b) const;

  /// `index < extent` along a dimension that has `fromEnd - 1` more behind it.
  struct Limit {
    unsigned fromEnd;
    Extent extent;
  };
  /// What is true of the indices of all elements of which \p condition, a bool
  /// tensor, is true.
  llvm::SmallVector<Limit, 2> findLimits(NodeValue condition) const;
  /// Whether \p condition is true of all elements of a tensor that it
  /// broadcasts to of which the indices are below \p extents, null for any.
  bool isTrueWithin(NodeValue condition,
                    llvm::ArrayRef<std::optional<Extent>> extents) const;
  /// Whether \p sum is from \p low to \p high in all runs.
  bool isWithin(const Extent &sum, double low, double high) const;
  /// Whether \p condition is `index < extent` along the last dimension, and
  /// true of index 0 in all runs.
  bool isTrueOfFirst(NodeValue condition) const;

private:
  std::optional<Extent> findOrigin(NodeValue value) const;
  std::optional<Extent> findSum(const Node &node) const;
  std::optional<Extent> findMultiple(const Node &node) const;
  std::optional<Extent> findClipped(const ClipNode &node) const;

  SymbolRanges symbols;
};

} // namespace glowish

#endif // GLOWISH_GRAPH_STATEDSUMS_H
