//===- Indexing.h - Gather by element indices -------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_INDEXING_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_INDEXING_H

#include "Common/Positions.h"
#include "ONNX/Extents.h"

namespace glowish::onnximport {

/// Returns the slices of \p x at \p indices into dimension \p axis. An error if
/// constant indices are out of range.
llvm::Expected<NodeValue> gatherSlices(OpContext &op, NodeValue x,
                                       NodeValue indices, int64_t axis);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_INDEXING_H
