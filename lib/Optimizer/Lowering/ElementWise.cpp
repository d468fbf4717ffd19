//===- ElementWise.cpp - Lowering of activations --------------------------===//
//
// For back ends that have only the simpler functions.
//
//===----------------------------------------------------------------------===//

#include "Lowering/Lowering.h"

using namespace glowish;

NodeValue glowish::lowerSilu(SiluNode &root, RewriteContext &context) {
  NodeValue x = root.getX();
  return context.create<MulNode>(x, context.create<SigmoidNode>(x));
}

NodeValue glowish::lowerSwish(SwishNode &root, RewriteContext &context) {
  NodeValue x = root.getX();
  NodeValue alpha = context.createScalar(x.getElemKind(), root.getAlpha());
  NodeValue scaled = context.create<MulNode>(x, alpha);
  return context.create<MulNode>(x, context.create<SigmoidNode>(scaled));
}

/// x / 2 * (1 + \p function).
static NodeValue makeGelu(NodeValue x, NodeValue function,
                          RewriteContext &context) {
  ElemKind kind = x.getElemKind();
  NodeValue gate =
      context.create<AddNode>(function, context.createScalar(kind, 1));
  NodeValue half = context.create<MulNode>(x, context.createScalar(kind, 0.5));
  return context.create<MulNode>(half, gate);
}

NodeValue glowish::lowerGelu(GeluNode &root, RewriteContext &context) {
  NodeValue x = root.getX();
  NodeValue factor = context.createScalar(x.getElemKind(), 0.70710678118654752);
  NodeValue scaled = context.create<MulNode>(x, factor);
  return makeGelu(x, context.create<ErfNode>(scaled), context);
}

/// tanh takes x * (sqrt(2 / pi) + sqrt(2 / pi) * 0.044715 * x * x).
NodeValue glowish::lowerGeluTanh(GeluTanhNode &root, RewriteContext &context) {
  NodeValue x = root.getX();
  ElemKind kind = x.getElemKind();
  NodeValue slope =
      context.create<MulNode>(context.create<MulNode>(x, x),
                              context.createScalar(kind, 0.035677408136300124));
  slope = context.create<AddNode>(
      slope, context.createScalar(kind, 0.79788456080286536));
  NodeValue argument = context.create<MulNode>(x, slope);
  return makeGelu(x, context.create<TanhNode>(argument), context);
}

NodeValue glowish::lowerHardSwish(HardSwishNode &root,
                                  RewriteContext &context) {
  NodeValue x = root.getX();
  return context.create<MulNode>(
      x, context.create<HardSigmoidNode>(x, 1.0 / 6, 0.5));
}

NodeValue glowish::lowerPRelu(PReluNode &root, RewriteContext &context) {
  NodeValue x = root.getX();
  NodeValue zero = context.createScalar(x.getElemKind(), 0);
  return context.create<SelectNode>(context.create<LessNode>(x, zero),
                                    context.create<MulNode>(x, root.getY()), x);
}
