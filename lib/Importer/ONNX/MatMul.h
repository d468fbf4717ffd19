//===- MatMul.h - Matrix products -----------------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_MATMUL_H
#define GLOWISH_LIB_IMPORTER_ONNX_MATMUL_H

#include "ONNX/OpContext.h"

namespace glowish {

/// The product as ONNX's MatMul has it: leading dimensions broadcast, vectors
/// are a row or a column.
llvm::Expected<NodeValue> makeMatMul(OpContext &op, NodeValue lhs,
                                     NodeValue rhs);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_MATMUL_H
