//===- Cumulative.h - Cumulative sums and products --------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_CUMULATIVE_H
#define GLOWISH_LIB_IMPORTER_COMMON_CUMULATIVE_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// Shifts \p value by \p count along \p axis, towards lower indices if
/// \p backward, filling with \p filler.
NodeValue shiftAlong(NodeBuilder &c, NodeValue value, int64_t axis,
                     int64_t count, bool backward, double filler);

/// Returns the inclusive cumulative sums, or products, along dimension \p axis,
/// from the first element or (\p backward) from the last.
NodeValue makeCumulative(NodeBuilder &c, NodeValue value, int64_t axis,
                         bool isProduct, bool backward);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_CUMULATIVE_H
