//===- OpenReshape.h - Shapes of extents that runs decide -------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_OPENRESHAPE_H
#define GLOWISH_LIB_IMPORTER_COMMON_OPENRESHAPE_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// Returns \p x, which may be null, in dimensions of the extents \p dims. One
/// of these may be -1, for what the others leave. An error unless both have as
/// many elements, where no requirement of each run says so.
llvm::Expected<NodeValue> reshapeOpen(NodeBuilder &b, NodeValue x,
                                      llvm::ArrayRef<Extent> dims);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_OPENRESHAPE_H
