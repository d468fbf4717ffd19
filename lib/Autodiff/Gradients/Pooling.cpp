//===- Pooling.cpp - Gradients of poolings --------------------------------===//

#include "../GradientContext.h"
#include "Reduction.h"
#include "glowish/Support/Error.h"

using namespace glowish;

void glowish::differentiateMaxPool(MaxPoolNode &node, GradientContext &g) {
  g.accumulate(node.inputIdx,
               g.make<MaxPoolGradientNode>(
                   node.getInput(), g.getGradient(), node.getKernels(),
                   node.getStrides(), node.getPads(), node.getDilations()));
}

void glowish::differentiateAvgPool(AvgPoolNode &node, GradientContext &g) {
  g.accumulate(node.inputIdx,
               g.make<AvgPoolGradientNode>(
                   g.getGradient(), node.getInput().getShape().slice(1, 2),
                   node.getKernels(), node.getStrides(), node.getPads(),
                   node.getDilations(), node.getCountIncludePads()));
}

/// The node is linear in the gradient; its adjoint is an AvgPool.
void glowish::differentiateAvgPoolGradient(AvgPoolGradientNode &node,
                                           GradientContext &g) {
  g.accumulate(node.gradientIdx,
               g.make<AvgPoolNode>(g.getGradient(), node.getKernels(),
                                   node.getStrides(), node.getPads(),
                                   node.getDilations(),
                                   node.getCountIncludePads()));
}

void glowish::differentiateGlobalAvgPool(GlobalAvgPoolNode &node,
                                         GradientContext &g) {
  g.accumulate(node.inputIdx,
               spreadMean(g, g.getGradient(), node.getInput().getShape()));
}

void glowish::differentiateGlobalMaxPool(GlobalMaxPoolNode &node,
                                         GradientContext &g) {
  g.accumulate(node.inputIdx,
               spreadToEqual(g, node.getInput(), node.getResult(),
                             g.getGradient(), {1, 2}));
}
