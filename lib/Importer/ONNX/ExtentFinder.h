//===- ExtentFinder.h - Integers that are extents ---------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_EXTENTFINDER_H
#define GLOWISH_LIB_IMPORTER_ONNX_EXTENTFINDER_H

#include "glowish/Graph/ElementTrace.h"

namespace glowish::onnximport {

/// Follows the integers of a graph back to the extents that they are: through
/// data movement, arithmetic, and choices that are the same in all runs.
class ExtentFinder {
public:
  using Known = llvm::DenseMap<NodeValue, Extent>;

  /// \p known: scalars and what they are; \p symbols: the module's.
  ExtentFinder(const Known &known, const SymbolRanges &symbols)
      : known(known), symbols(symbols) {}

  /// Returns the extent that \p element, an integer, is in each run; none if no
  /// expression of symbols is known to be it.
  std::optional<Extent> find(Element element);

private:
  std::optional<Extent> combine(const Node &node, DimsRef index);
  std::optional<Extent> combine(const Node &node, const Extent &x,
                                const Extent &y);
  std::optional<Extent> choose(const Extent &x, const Extent &y, bool larger);
  bool isWithin(const Extent &extent, double low, double high) const;
  std::optional<bool> decide(Element condition);

  const Known &known;
  const SymbolRanges &symbols;
  /// What is left of the steps, which are sufficient for shape arithmetic.
  unsigned steps = 1000;
};

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_EXTENTFINDER_H
