//===- MatMul.cpp - Gradients of matmuls ----------------------------------===//

#include "../GradientContext.h"
#include "glowish/Support/Error.h"

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

void glowish::differentiateMatMul(MatMulNode &node, GradientContext &g) {
  NodeValue lhs = node.getLhs(), rhs = node.getRhs();
  NodeValue gradient = g.getGradient();
  // A matrix without batch dimensions needs one matmul over all rows of the
  // batch.
  if (rhs.getShape().size() == 2) {
    NodeValue rows = flattenRows(g, gradient);
    if (g.needsGradient(node.lhsIdx))
      g.accumulate(node.lhsIdx, g.reshape(g.matMul(rows, g.transposeLast(rhs)),
                                          lhs.getShape()));
    if (g.needsGradient(node.rhsIdx))
      g.accumulate(node.rhsIdx,
                   g.matMul(g.transposeLast(flattenRows(g, lhs)), rows));
    return;
  }
  if (g.needsGradient(node.lhsIdx))
    g.addBroadcast(node.lhsIdx, g.matMul(gradient, g.transposeLast(rhs)));
  if (g.needsGradient(node.rhsIdx))
    g.addBroadcast(node.rhsIdx, g.matMul(g.transposeLast(lhs), gradient));
}

void glowish::differentiateGemm(GemmNode &node, GradientContext &g) {
  NodeValue gradient = g.getGradient();
  auto scale = [&](NodeValue value, double factor) {
    return factor == 1 ? value : g.mul(value, factor);
  };
  NodeValue scaled = scale(gradient, node.getAlpha());
  NodeValue a = node.getA(), b = node.getB();
  // gradient * b^T, or the transpose of it: b * gradient^T.
  if (g.needsGradient(node.aIdx)) {
    NodeValue other = node.getTransposeB() ? b : g.transposeLast(b);
    g.accumulate(node.aIdx,
                 node.getTransposeA()
                     ? g.matMul(g.transposeLast(other), g.transposeLast(scaled))
                     : g.matMul(scaled, other));
  }
  if (g.needsGradient(node.bIdx)) {
    NodeValue other = node.getTransposeA() ? a : g.transposeLast(a);
    g.accumulate(node.bIdx,
                 node.getTransposeB()
                     ? g.matMul(g.transposeLast(scaled), g.transposeLast(other))
                     : g.matMul(other, scaled));
  }
  if (node.getC())
    g.addBroadcast(node.cIdx, scale(gradient, node.getBeta()));
}

void glowish::differentiateFullyConnected(FullyConnectedNode &node,
                                          GradientContext &g) {
  NodeValue gradient = g.getGradient();
  if (g.needsGradient(node.inputIdx))
    g.accumulate(node.inputIdx,
                 g.matMul(gradient, g.transposeLast(node.getWeights())));
  if (g.needsGradient(node.weightsIdx))
    g.accumulate(node.weightsIdx,
                 g.matMul(g.transposeLast(node.getInput()), gradient));
  g.addBroadcast(node.biasIdx, gradient);
}
