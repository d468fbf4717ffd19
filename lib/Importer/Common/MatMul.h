//===- MatMul.h - Matrix multiplication -------------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_MATMUL_H
#define GLOWISH_LIB_IMPORTER_COMMON_MATMUL_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// Builds NumPy's matmul: leading dimensions broadcast, and vectors are a row
/// or a column.
NodeValue makeMatMul(NodeBuilder &b, NodeValue lhs, NodeValue rhs);

/// Builds input * weights + bias: a FullyConnected where \p input is [M, K] and
/// \p bias [N]; else the sum of makeMatMul and \p bias, which may be null.
NodeValue makeFullyConnected(NodeBuilder &b, NodeValue input, NodeValue weights,
                             NodeValue bias);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_MATMUL_H
