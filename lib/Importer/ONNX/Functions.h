//===- Functions.h - Functions of a model written out -----------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_FUNCTIONS_H
#define GLOWISH_LIB_IMPORTER_ONNX_FUNCTIONS_H

#include "ONNX/Opsets.h"

namespace glowish {

/// Replaces the nodes of \p model that call its own functions (ModelProto's
/// `functions`, IR version 8) by what these compute, and says which operator
/// sets each node is of. An error names a function that calls itself, one that
/// is called with too many inputs or outputs, and an operator set that does not
/// exist.
llvm::Expected<NodeOpsets> inlineFunctions(onnx::ModelProto &model);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_FUNCTIONS_H
