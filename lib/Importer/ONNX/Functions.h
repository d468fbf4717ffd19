//===- Functions.h - Inlining of model-local functions ----------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_FUNCTIONS_H
#define GLOWISH_LIB_IMPORTER_ONNX_FUNCTIONS_H

#include "ONNX/Opsets.h"

namespace glowish::onnximport {

/// Inlines all calls of the model's own functions (ModelProto's `functions`, IR
/// version 8) in \p model, and returns the opsets of each node. An error names
/// a recursive function, a call with too many inputs or outputs, or an opset
/// that does not exist.
llvm::Expected<NodeOpsets> inlineFunctions(onnx::ModelProto &model);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_FUNCTIONS_H
