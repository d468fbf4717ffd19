//===- Attention.cpp - Gradient of attention ------------------------------===//

#include "../GradientContext.h"
#include <limits>

using namespace glowish;

/// -infinity where query m must not attend to key n, else 0.
static NodeValue makeCausalMask(GradientContext &g, ElemKind kind,
                                int64_t queries, int64_t keys) {
  return g.table(kind, {queries, keys}, [&](DimsRef index) {
    bool isVisible = index[1] <= index[0] + keys - queries;
    return isVisible ? 0.0 : -std::numeric_limits<double>::infinity();
  });
}

/// Builds the attention weights softmax(query * key^T * scale + mask). A query
/// that attends to no key has weights of 0 or NaN, as in the forward pass.
static NodeValue makeWeights(AttentionNode &node, GradientContext &g) {
  NodeValue scores =
      g.mul(g.matMul(node.getQuery(), g.transposeLast(node.getKey())),
            node.getScale());
  if (node.getMask())
    scores = g.add(scores, node.getMask());
  if (!scores)
    return {};
  DimsRef shape = scores.getShape();
  int64_t rank = int64_t(shape.size());
  if (node.getCausal())
    scores = g.add(scores, makeCausalMask(g, scores.getElemKind(),
                                          shape[rank - 2], shape[rank - 1]));
  if (!scores)
    return scores;
  if (!node.getMask() || node.getNanIfMasked())
    return g.make<SoftmaxNode>(scores, rank - 1);
  // Without NaN in between, which no factor 0 would remove from a gradient.
  NodeValue largest = g.reduce(scores, "max", {rank - 1}, /*keepDims=*/true);
  NodeValue isMasked =
      g.equal(largest, -std::numeric_limits<double>::infinity());
  NodeValue zero = g.number(scores, 0);
  scores = g.select(isMasked, zero, scores);
  return scores
             ? g.select(isMasked, zero, g.make<SoftmaxNode>(scores, rank - 1))
             : scores;
}

/// The backward pass needs the attention weights, so the forward node is
/// decomposed to share them.
void glowish::differentiateAttention(AttentionNode &node, GradientContext &g) {
  NodeValue weights;
  {
    InsertionGuard guard(g.getFunction(), &node);
    weights = makeWeights(node, g);
    if (NodeValue result = g.matMul(weights, node.getValue()))
      g.replaceForward(result);
  }
  NodeValue gradient = g.getGradient();
  if (g.needsGradient(node.valueIdx))
    g.accumulate(node.valueIdx, g.matMul(g.transposeLast(weights), gradient));
  NodeValue weightGradient =
      g.matMul(gradient, g.transposeLast(node.getValue()));
  if (!weightGradient)
    return;
  int64_t last = int64_t(weightGradient.getShape().size()) - 1;
  NodeValue mean = g.reduce(g.mul(weightGradient, weights), "sum", {last},
                            /*keepDims=*/true);
  NodeValue scores = g.mul(weights, g.sub(weightGradient, mean));
  if (node.getMask())
    g.addBroadcast(node.maskIdx, scores);
  scores = g.mul(scores, node.getScale());
  if (g.needsGradient(node.queryIdx))
    g.accumulate(node.queryIdx, g.matMul(scores, node.getKey()));
  if (g.needsGradient(node.keyIdx))
    g.accumulate(node.keyIdx,
                 g.matMul(g.transposeLast(scores), node.getQuery()));
}
