//===- DynamicReshape.h - Shapes that runs decide ---------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_DYNAMICRESHAPE_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_DYNAMICRESHAPE_H

#include "ONNX/DynamicDims.h"

namespace glowish::onnximport {

/// A dimension: its bound, and its length in a run, an int64 scalar, or null if
/// it is static.
struct OpenDim {
  int64_t bound;
  NodeValue length;
  bool operator==(const OpenDim &other) const = default;
};
Dims getBounds(llvm::ArrayRef<OpenDim> dims);
std::vector<OpenDim> getOpenDims(OpContext &op, NodeValue x);

/// Reshapes \p x, which may be null, to \p to, of which the lengths have as
/// many elements in each run. They are moved unless they stay where they are
/// for all lengths.
NodeValue reshapeOpen(OpContext &op, NodeValue x, llvm::ArrayRef<OpenDim> to);
/// Returns the product of dimensions \p begin to \p end, exclusive, of \p x.
OpenDim joinDims(OpContext &op, NodeValue x, unsigned begin, unsigned end);
/// Reshapes \p x, which may be null, to a single dimension.
NodeValue flatten(OpContext &op, NodeValue x);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_DYNAMICRESHAPE_H
