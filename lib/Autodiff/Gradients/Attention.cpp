//===- Attention.cpp - Gradient of attention ------------------------------===//

#include "../GradientContext.h"

using namespace glowish;

/// -infinity where query m may not see key n, else 0.
static NodeValue makeCausalMask(GradientContext &g, ElemKind kind,
                                int64_t queries, int64_t keys) {
  return g.table(kind, {queries, keys}, [&](DimsRef index) {
    bool isSeen = index[1] <= index[0] + keys - queries;
    return isSeen ? 0.0 : -std::numeric_limits<double>::infinity();
  });
}

/// softmax(query * key^T * scale + mask). A query that sees no key has NaN
/// there, as it has in the result.
static NodeValue makeShares(AttentionNode &node, GradientContext &g) {
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
  return scores ? g.make<SoftmaxNode>(scores, rank - 1) : scores;
}

/// The shares are needed again on the way back, so that the forward pass is
/// written out as well.
llvm::Error glowish::differentiateAttention(AttentionNode &node,
                                            GradientContext &g) {
  NodeValue shares;
  {
    InsertionGuard guard(g.getFunction(), &node);
    shares = makeShares(node, g);
    if (NodeValue result = g.matMul(shares, node.getValue()))
      g.replaceForward(result);
  }
  NodeValue gradient = g.getGradient();
  if (g.wants(node.valueIdx))
    g.accumulate(node.valueIdx, g.matMul(g.transposeLast(shares), gradient));
  NodeValue shareGradient =
      g.matMul(gradient, g.transposeLast(node.getValue()));
  if (!shareGradient)
    return llvm::Error::success();
  int64_t last = int64_t(shareGradient.getShape().size()) - 1;
  NodeValue mean = g.reduce(g.mul(shareGradient, shares), "sum", {last},
                            /*keepDims=*/true);
  NodeValue scores = g.mul(shares, g.sub(shareGradient, mean));
  if (node.getMask())
    g.addBroadcast(node.maskIdx, scores);
  scores = g.mul(scores, node.getScale());
  if (g.wants(node.queryIdx))
    g.accumulate(node.queryIdx, g.matMul(scores, node.getKey()));
  if (g.wants(node.keyIdx))
    g.accumulate(node.keyIdx,
                 g.matMul(g.transposeLast(scores), node.getQuery()));
  return llvm::Error::success();
}
