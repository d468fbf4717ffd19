//===- MatMul.cpp - Lowering of matrix products ---------------------------===//

#include "Lowering/Lowering.h"

using namespace glowish;

static NodeValue scale(NodeValue value, double factor,
                       RewriteContext &context) {
  if (factor == 1)
    return value;
  return context.create<MulNode>(
      value, context.createScalar(value.getElemKind(), factor));
}

NodeValue glowish::lowerGemm(GemmNode &root, RewriteContext &context) {
  NodeValue a = root.getA(), b = root.getB();
  if (root.getTransposeA())
    a = context.transpose(a, {1, 0});
  if (root.getTransposeB())
    b = context.transpose(b, {1, 0});
  NodeValue matMul =
      scale(context.create<MatMulNode>(a, b), root.getAlpha(), context);
  if (!root.getC() || root.getBeta() == 0)
    return matMul;
  return context.create<AddNode>(matMul,
                                 scale(root.getC(), root.getBeta(), context));
}

NodeValue glowish::lowerFullyConnected(FullyConnectedNode &root,
                                       RewriteContext &context) {
  NodeValue matMul =
      context.create<MatMulNode>(root.getInput(), root.getWeights());
  return context.create<AddNode>(matMul, root.getBias());
}
