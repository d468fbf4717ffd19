//===- Reduction.cpp - Gradients of reductions ----------------------------===//

#include "Reduction.h"

using namespace glowish;

NodeValue glowish::spreadMean(GradientContext &g, NodeValue gradient,
                              DimsRef shape) {
  if (!gradient)
    return gradient;
  double count = 1;
  for (auto [extent, kept] : llvm::zip_equal(shape, gradient.getShape()))
    if (extent != kept)
      count *= double(extent);
  return g.broadcast(g.mul(gradient, 1 / count), shape);
}

NodeValue glowish::spreadToEqual(GradientContext &g, NodeValue input,
                                 NodeValue result, NodeValue gradient,
                                 llvm::ArrayRef<int64_t> axes) {
  NodeValue equal = g.equal(input, result);
  if (!equal || !gradient)
    return {};
  NodeValue count = g.reduce(g.cast(equal, gradient.getElemKind()), "sum", axes,
                             /*keepDims=*/true);
  NodeValue share = g.div(gradient, count);
  return share ? g.select(equal, share, g.number(share, 0)) : share;
}

/// The gradient of an element is the product of all others: that of all divided
/// by the element. If exactly one element is zero, only its gradient is
/// nonzero.
static NodeValue spreadProd(GradientContext &g, NodeValue input,
                            NodeValue gradient, llvm::ArrayRef<int64_t> axes) {
  NodeValue isZero = g.equal(input, 0);
  if (!isZero || !gradient)
    return {};
  ElemKind kind = input.getElemKind();
  NodeValue one = g.scalar(kind, 1), zero = g.scalar(kind, 0);
  NodeValue nonZero = g.select(isZero, one, input);
  NodeValue prod = g.reduce(nonZero, "prod", axes, /*keepDims=*/true);
  NodeValue zeros = g.reduce(g.cast(isZero, kind), "sum", axes,
                             /*keepDims=*/true);
  NodeValue gradientOfZero = g.select(g.equal(zeros, 1), prod, zero);
  NodeValue gradientOfOther =
      g.select(g.equal(zeros, 0), g.div(prod, nonZero), zero);
  return g.mul(gradient, g.select(isZero, gradientOfZero, gradientOfOther));
}

/// An element counts in the sums from it on.
void glowish::differentiateCumSum(CumSumNode &node, GradientContext &g) {
  g.accumulate(node.inputIdx,
               g.make<CumSumNode>(g.getGradient(), node.getAxis(),
                                  node.getExclusive(), !node.getReverse()));
}

void glowish::differentiateReduce(ReduceNode &node, GradientContext &g) {
  NodeValue input = node.getInput(), result = node.getResult();
  NodeValue gradient = g.getGradient();
  DimsRef shape = input.getShape();
  Dims kept(shape);
  for (int64_t axis : node.getAxes())
    kept[axis] = 1;
  gradient = g.reshape(gradient, kept);
  result = g.reshape(result, kept);
  llvm::StringRef mode = node.getMode();
  // An input without elements has no gradient that a formula could divide by.
  if (mode == "sum" || input.getType().getNumElements() == 0)
    gradient = g.broadcast(gradient, shape);
  else if (mode == "mean")
    gradient = spreadMean(g, gradient, shape);
  else if (mode == "prod")
    gradient = spreadProd(g, input, gradient, node.getAxes());
  else
    gradient = spreadToEqual(g, input, result, gradient, node.getAxes());
  g.accumulate(node.inputIdx, gradient);
}
