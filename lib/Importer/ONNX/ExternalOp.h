//===- ExternalOp.h - External operators in ONNX models ---------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_EXTERNALOP_H
#define GLOWISH_LIB_IMPORTER_ONNX_EXTERNALOP_H

#include "ONNX/OpContext.h"

namespace glowish::onnximport {

/// Imports an operator that the options declare as an external one.
llvm::Error importExternalOp(OpContext &op);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_EXTERNALOP_H
