//===- DynamicAttention.h - Attention of dynamic lengths --------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_DYNAMICATTENTION_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_DYNAMICATTENTION_H

#include "ONNX/DynamicDims.h"

namespace glowish {

/// Returns an error unless only the dimensions 0, the batch, and \p lengthDim
/// of
/// \p tokens, input \p index, are dynamic.
llvm::Error checkTokenExtents(const DynamicValue &tokens, unsigned index,
                              unsigned lengthDim);

/// Imports ONNX's Attention (opset 23) of inputs with dynamic dimensions.
llvm::Error importDynamicAttention(OpContext &op);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_DYNAMICATTENTION_H
