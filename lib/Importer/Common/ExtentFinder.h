//===- ExtentFinder.h - Integers that are extents ---------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_EXTENTFINDER_H
#define GLOWISH_LIB_IMPORTER_COMMON_EXTENTFINDER_H

#include "Common/ScalarRange.h"
#include "glowish/Graph/ElementTrace.h"
#include "glowish/Graph/Nodes.h"

namespace glowish {

/// Follows the numbers of a graph back to what they are: through data movement,
/// by the formulas of element-wise nodes, through reductions of few numbers,
/// and by choices that are the same in all runs. Each element takes a step;
/// their number is limited, but sufficient for shape arithmetic.
class ExtentFinder {
public:
  /// Scalars and the extents that they are.
  using Known = llvm::DenseMap<NodeValue, Extent>;
  /// Scalars from 0 on and their upper bounds.
  using Bounds = llvm::DenseMap<NodeValue, int64_t>;

  /// \p symbols: the module's; \p bounds may be null.
  ExtentFinder(const Known &extents, const SymbolRanges &symbols,
               const Bounds *bounds = nullptr)
      : extents(extents), symbols(symbols), bounds(bounds) {}

  /// Returns the extent that \p element, an integer, is in each run; none if no
  /// expression of symbols is known to be it.
  std::optional<Extent> find(Element element) {
    return findRange(element).extent;
  }

  /// Returns the element that \p element is moved from, or the first on the way
  /// of which something is known.
  Element findSource(Element element);
  ScalarRange findRange(Element element, unsigned depth = 0);

private:
  ScalarRange combine(const Node &node, DimsRef index, unsigned depth);
  ScalarRange reduce(const ReduceNode &node, DimsRef index, unsigned depth);

  bool isKnown(NodeValue value) const {
    return extents.count(value) || (bounds && bounds->count(value));
  }

  const Known &extents;
  const SymbolRanges &symbols;
  const Bounds *bounds;
  unsigned steps = 1000;
};

/// Returns an entry for each element of \p list, which are integers of rank 0
/// or 1: a number, an expression of the symbols that inputs of \p module state
/// and nodes beside it count, or none where it is neither. Null for another
/// tensor.
std::optional<std::vector<std::optional<Extent>>>
findEachExtent(const Module &module, NodeValue list);
/// Returns the elements of \p list, which are integers of rank 0 or 1, as
/// numbers and expressions of the symbols that inputs of \p module state and
/// nodes beside it count. None if one is neither, or if there are no symbols.
std::optional<std::vector<Extent>> findExtents(const Module &module,
                                               NodeValue list);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_EXTENTFINDER_H
