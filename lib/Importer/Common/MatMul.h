//===- MatMul.h - Matrix multiplication -------------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_MATMUL_H
#define GLOWISH_LIB_IMPORTER_COMMON_MATMUL_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// Builds NumPy's matmul: leading dimensions broadcast, and vectors are a row
/// or a column.
NodeValue makeMatMul(NodeBuilder &b, NodeValue lhs, NodeValue rhs);

/// Builds input * weights + bias: a FullyConnected where \p input is [M, K] and
/// \p bias a row for [N]; else the sum of makeMatMul and \p bias, which may be
/// null.
NodeValue makeFullyConnected(NodeBuilder &b, NodeValue input, NodeValue weights,
                             NodeValue bias);

/// How two matrices are multiplied: alpha * x * y + beta * bias.
struct GemmForm {
  double alpha = 1, beta = 1;
  bool transposesX = false, transposesY = false;
};

/// Builds BLAS' gemm of the matrices \p x and \p y: makeFullyConnected where
/// there is no alpha or constant weights take it; else MatMul, Mul and Add.
/// \p bias, which may be null, broadcasts to the result; beta = 0 ignores it.
NodeValue makeGemm(NodeBuilder &b, NodeValue x, NodeValue y, NodeValue bias,
                   const GemmForm &form);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_MATMUL_H
