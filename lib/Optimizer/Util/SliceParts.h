//===- SliceParts.h - Slices that make up a value ---------------*- C++ -*-===//

#ifndef GLOWISH_LIB_OPTIMIZER_UTIL_SLICEPARTS_H
#define GLOWISH_LIB_OPTIMIZER_UTIL_SLICEPARTS_H

#include "glowish/Graph/Nodes.h"

namespace glowish {

/// The value of which \p parts are consecutive slices along \p axis that make
/// up all of it; null where they are not.
NodeValue findWhole(llvm::ArrayRef<NodeValue> parts, int64_t axis);

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_UTIL_SLICEPARTS_H
