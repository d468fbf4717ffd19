//===- Pooling.cpp - Gradients of poolings --------------------------------===//

#include "../GradientContext.h"
#include "Reduction.h"
#include "glowish/Support/Error.h"

using namespace glowish;

llvm::Error glowish::differentiateMaxPool(MaxPoolNode &node,
                                          GradientContext &g) {
  g.accumulate(node.inputIdx,
               g.make<MaxPoolGradientNode>(
                   node.getInput(), g.getGradient(), node.getKernels(),
                   node.getStrides(), node.getPads(), node.getDilations()));
  return llvm::Error::success();
}

llvm::Error glowish::differentiateAvgPool(AvgPoolNode &node,
                                          GradientContext &g) {
  g.accumulate(node.inputIdx,
               g.make<AvgPoolGradientNode>(
                   g.getGradient(), node.getInput().getShape().slice(1, 2),
                   node.getKernels(), node.getStrides(), node.getPads(),
                   node.getDilations(), node.getCountIncludePads()));
  return llvm::Error::success();
}

/// The node is linear in the gradient; its adjoint is an AvgPool.
llvm::Error glowish::differentiateAvgPoolGradient(AvgPoolGradientNode &node,
                                                  GradientContext &g) {
  g.accumulate(node.gradientIdx,
               g.make<AvgPoolNode>(g.getGradient(), node.getKernels(),
                                   node.getStrides(), node.getPads(),
                                   node.getDilations(),
                                   node.getCountIncludePads()));
  return llvm::Error::success();
}

llvm::Error glowish::differentiateGlobalAvgPool(GlobalAvgPoolNode &node,
                                                GradientContext &g) {
  g.accumulate(node.inputIdx,
               spreadMean(g, g.getGradient(), node.getInput().getShape()));
  return llvm::Error::success();
}

llvm::Error glowish::differentiateGlobalMaxPool(GlobalMaxPoolNode &node,
                                                GradientContext &g) {
  g.accumulate(node.inputIdx,
               spreadToEqual(g, node.getInput(), node.getResult(),
                             g.getGradient(), {1, 2}));
  return llvm::Error::success();
}
