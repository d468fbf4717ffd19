//===- MatMul.h - Matrix multiplication -------------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_MATMUL_H
#define GLOWISH_LIB_IMPORTER_COMMON_MATMUL_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// Builds NumPy's matmul: leading dimensions broadcast, and vectors are a row
/// or a column.
NodeValue makeMatMul(NodeBuilder &b, NodeValue lhs, NodeValue rhs);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_MATMUL_H
