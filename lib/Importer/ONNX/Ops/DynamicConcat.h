//===- DynamicConcat.h - Concatenation of dynamic values --------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_DYNAMICCONCAT_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_DYNAMICCONCAT_H

#include "ONNX/DynamicDims.h"

namespace glowish::onnximport {

/// Returns the actual elements of \p parts, one or more, one after the other
/// along dimension \p axis. The other dimensions become the same in all.
llvm::Expected<DynamicValue>
concatDynamic(OpContext &op, std::vector<DynamicValue> parts, int64_t axis);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_DYNAMICCONCAT_H
