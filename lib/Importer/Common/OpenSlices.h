//===- OpenSlices.h - Slices of lengths that runs decide --------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_OPENSLICES_H
#define GLOWISH_LIB_IMPORTER_COMMON_OPENSLICES_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// Returns the place that \p index means in a dimension of the extent
/// \p length, from 0 to \p length: a negative number counts from the end, and
/// places behind it are the end. None where the run decides which it is.
std::optional<Extent> findPlace(const SymbolRanges &symbols,
                                std::optional<Extent> index,
                                const Extent &length);

/// The places start, start + step, ... before `end` of dimension `axis`.
struct OpenRange {
  int64_t axis;
  int64_t start;
  Extent end;
  /// At least 1.
  int64_t step;
};
/// Returns the elements of \p x, which may be null, at \p range, whose end is
/// within the extent in each run. Null, without an error, where the end may be
/// before the start, or the number of elements is no expression.
NodeValue takeOpen(NodeBuilder &b, NodeValue x, const OpenRange &range);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_OPENSLICES_H
