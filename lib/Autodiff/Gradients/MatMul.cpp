//===- MatMul.cpp - Gradients of matmuls ----------------------------------===//

#include "../GradientContext.h"

using namespace glowish;

/// Collapses all dimensions but the last.
static NodeValue flattenRows(GradientContext &g, NodeValue value) {
  if (!value)
    return value;
  int64_t rows = 1;
  for (int64_t extent : value.getShape().drop_back())
    rows *= extent;
  return g.reshape(value, {rows, value.getShape().back()});
}

/// Returns \p x * \p y, the gradient of \p operand. Where that is a transposed
/// matrix, so is what is computed: the gradient of the transpose takes it back.
static NodeValue multiplyFor(NodeValue operand, NodeValue x, NodeValue y,
                             GradientContext &g) {
  bool isTransposed =
      llvm::isa<TransposeNode>(operand.node) && operand.getShape().size() == 2;
  return isTransposed
             ? g.transposeLast(g.matMul(g.transposeLast(y), g.transposeLast(x)))
             : g.matMul(x, y);
}

/// Accumulates the gradients of the first two operands of \p node, which it
/// multiplies.
static void differentiateFactors(Node &node, GradientContext &g) {
  constexpr unsigned lhsIdx = MatMulNode::lhsIdx, rhsIdx = MatMulNode::rhsIdx;
  NodeValue lhs = node.getOperand(lhsIdx), rhs = node.getOperand(rhsIdx);
  NodeValue gradient = g.getGradient();
  // A matrix without batch dimensions needs one matmul over all rows of the
  // batch.
  if (rhs.getShape().size() == 2) {
    NodeValue rows = flattenRows(g, gradient);
    if (g.needsGradient(lhsIdx))
      g.accumulate(lhsIdx,
                   g.reshape(multiplyFor(lhs, rows, g.transposeLast(rhs), g),
                             lhs.getShape()));
    if (g.needsGradient(rhsIdx))
      g.accumulate(
          rhsIdx,
          multiplyFor(rhs, g.transposeLast(flattenRows(g, lhs)), rows, g));
    return;
  }
  if (g.needsGradient(lhsIdx))
    g.addBroadcast(lhsIdx, g.matMul(gradient, g.transposeLast(rhs)));
  if (g.needsGradient(rhsIdx))
    g.addBroadcast(rhsIdx, g.matMul(g.transposeLast(lhs), gradient));
}

void glowish::differentiateMatMul(MatMulNode &node, GradientContext &g) {
  differentiateFactors(node, g);
}

void glowish::differentiateFullyConnected(FullyConnectedNode &node,
                                          GradientContext &g) {
  static_assert(FullyConnectedNode::inputIdx == MatMulNode::lhsIdx &&
                FullyConnectedNode::weightsIdx == MatMulNode::rhsIdx);
  differentiateFactors(node, g);
  g.addBroadcast(node.biasIdx, g.getGradient());
}
