//===- ExtentFinder.h - Integers that are extents ---------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_EXTENTFINDER_H
#define GLOWISH_LIB_IMPORTER_ONNX_EXTENTFINDER_H

#include "ONNX/NumberRange.h"
#include "glowish/Graph/ElementTrace.h"

namespace glowish::onnximport {

/// Scalars and the extents that they are.
using KnownExtents = llvm::DenseMap<NodeValue, Extent>;
/// Scalars from 0 on and their upper bounds.
using KnownBounds = llvm::DenseMap<NodeValue, int64_t>;

/// Follows the numbers of a graph back to what they are: through data movement,
/// by the formulas of element-wise nodes, and by choices that are the same in
/// all runs. Each element takes a step; their number is limited, but sufficient
/// for shape arithmetic.
class ExtentFinder {
public:
  /// \p symbols: the module's.
  ExtentFinder(const KnownExtents &extents, const KnownBounds &bounds,
               const SymbolRanges &symbols)
      : extents(extents), bounds(bounds), symbols(symbols) {}

  /// Returns the element that \p element is moved from, or the first on the way
  /// of which something is known.
  Element findSource(Element element);
  NumberRange findRange(Element element, unsigned depth = 0);

private:
  NumberRange combine(const Node &node, DimsRef index, unsigned depth);

  const KnownExtents &extents;
  const KnownBounds &bounds;
  const SymbolRanges &symbols;
  unsigned steps = 1000;
};

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_EXTENTFINDER_H
