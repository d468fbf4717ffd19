//===- Cumulative.h - Sums of all elements before ---------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_CUMULATIVE_H
#define GLOWISH_LIB_IMPORTER_COMMON_CUMULATIVE_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// \p value moved by \p count along \p axis, with \p filler moved in.
NodeValue shiftAlong(NodeBuilder &c, NodeValue value, int64_t axis,
                     int64_t count, bool backward, double filler);

/// Sums, or products, of the elements along dimension \p axis up to each, from
/// the first or (\p backward) from the last.
NodeValue makeCumulative(NodeBuilder &c, NodeValue value, int64_t axis,
                         bool isProduct, bool backward);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_CUMULATIVE_H
