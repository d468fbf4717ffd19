//===- Functions.h - Functions of a model written out -----------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_FUNCTIONS_H
#define GLOWISH_LIB_IMPORTER_ONNX_FUNCTIONS_H

#include "llvm/Support/Error.h"
#include <onnx/onnx_pb.h>

namespace glowish {

/// Replaces the nodes of \p model that call its own functions (ModelProto's
/// `functions`, IR version 8) by what these compute. An error names a function
/// that calls itself, and one of another operator set than the model's.
llvm::Error inlineFunctions(onnx::ModelProto &model);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_FUNCTIONS_H
