//===- ElementWise.cpp - Lowering of activations --------------------------===//
//
// For back ends that have only the simpler functions.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace glowish;

static NodeValue lowerSilu(SiluNode &root, RewriteContext &context) {
  NodeValue x = root.getX();
  return context.create<MulNode>(x, context.create<SigmoidNode>(x));
}

static NodeValue lowerHardSwish(HardSwishNode &root, RewriteContext &context) {
  NodeValue x = root.getX();
  return context.create<MulNode>(
      x, context.create<HardSigmoidNode>(x, 1.0 / 6, 0.5));
}

static NodeValue lowerPRelu(PReluNode &root, RewriteContext &context) {
  NodeValue x = root.getX();
  NodeValue zero = context.createScalar(x.getElemKind(), 0);
  return context.create<SelectNode>(
      context.create<LessNode>(x, zero),
      context.create<MulNode>(x, root.getY()), x);
}

void glowish::addElementWiseLowerings(RewriteSet &set) {
  set.add<lowerSilu>(NodeKind::Silu);
  set.add<lowerHardSwish>(NodeKind::HardSwish);
  set.add<lowerPRelu>(NodeKind::PRelu);
}
