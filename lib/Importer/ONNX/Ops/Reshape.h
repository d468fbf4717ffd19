//===- Reshape.h - Shapes that runs decide ----------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_RESHAPE_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_RESHAPE_H

#include "ONNX/Extents.h"

namespace glowish::onnximport {

/// A dimension: its bound and, where it is no constant, its extent.
struct OpenDim {
  int64_t bound;
  std::optional<Extent> extent = {};
  bool operator==(const OpenDim &other) const = default;
};

/// Reshapes \p x, which may be null, to \p to, of which the lengths have as
/// many elements in each run. They are moved unless they stay where they are
/// for all lengths.
NodeValue reshapeOpen(OpContext &op, NodeValue x, llvm::ArrayRef<OpenDim> to);
/// Returns the product of dimensions \p begin to \p end, exclusive, of \p x.
llvm::Expected<OpenDim> joinDims(OpContext &op, NodeValue x, unsigned begin,
                                 unsigned end);
/// Reshapes \p x, which may be null, to a single dimension.
NodeValue flatten(OpContext &op, NodeValue x);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_RESHAPE_H
