//===- Concat.h - Parts that are concatenated -------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_CONCAT_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_CONCAT_H

#include "ONNX/OpContext.h"

namespace glowish::onnximport {

/// Aligns all dimensions of \p parts but \p axis.
llvm::Error alignParts(OpContext &op, llvm::MutableArrayRef<NodeValue> parts,
                       int64_t axis);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_CONCAT_H
