//===- MatMul.h - Matrix multiplication -------------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_MATMUL_H
#define GLOWISH_LIB_IMPORTER_ONNX_MATMUL_H

#include "ONNX/OpContext.h"

namespace glowish::onnximport {

/// Builds ONNX's MatMul: leading dimensions broadcast, and vectors are a row or
/// a column.
llvm::Expected<NodeValue> makeMatMul(OpContext &op, NodeValue lhs,
                                     NodeValue rhs);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_MATMUL_H
