//===- DynamicReshape.h - Shapes of dynamic values --------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_DYNAMICRESHAPE_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_DYNAMICRESHAPE_H

#include "ONNX/DynamicDims.h"

namespace glowish::onnximport {

/// Reshapes \p x, in row-major order of its actual extents, to the upper bounds
/// \p shape and the actual extents \p extents. The elements are gathered if the
/// memory layout differs.
DynamicValue reshapeDynamic(OpContext &op, const DynamicValue &x, DimsRef shape,
                            const Extents &extents);

/// Collapses dimensions \p begin ... \p end - 1: returns the upper bound and
/// the actual extent, null if it is static.
std::pair<int64_t, NodeValue> joinDims(OpContext &op, const DynamicValue &x,
                                       unsigned begin, unsigned end);

/// Collapses all dimensions of \p x.
llvm::Expected<DynamicValue> flatten(OpContext &op, const DynamicValue &x);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_DYNAMICRESHAPE_H
