//===- ExternalOp.h - External operators in ONNX models ---------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_EXTERNALOP_H
#define GLOWISH_LIB_IMPORTER_ONNX_EXTERNALOP_H

#include "ONNX/OpContext.h"
#include "glowish/Plugin/ExternalOperator.h"

namespace glowish {

/// Imports \p op as a use of \p external.
llvm::Error importExternalOp(OpContext &op, const ExternalOperator &external);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_EXTERNALOP_H
