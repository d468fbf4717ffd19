//===- Attention.cpp - Lowering of attention ------------------------------===//

#include "Lowering/Lowering.h"
#include "glowish/Graph/NodeBuilder.h"
#include <limits>

using namespace glowish;

/// 0 where query m attends to key n, n <= m + keys - queries, and -infinity
/// elsewhere.
static Tensor makeCausalMask(ElemKind kind, int64_t queries, int64_t keys) {
  Tensor mask(Type(kind, {queries, keys}));
  double none = -std::numeric_limits<double>::infinity();
  for (int64_t m = 0; m < queries; ++m)
    for (int64_t n = 0; n < keys; ++n)
      mask.setFromDouble(m * keys + n, n > m + keys - queries ? none : 0);
  return mask;
}

/// \p sums, the matmul [..., M, N] of queries and keys, times the scale, and
/// plus the mask, of attention \p root.
template <typename NodeT>
static NodeValue makeScores(NodeT &root, NodeValue sums,
                            RewriteContext &context) {
  ElemKind kind = sums.getElemKind();
  NodeValue scores = context.create<MulNode>(
      sums, context.createScalar(kind, root.getScale()));
  if (root.getMask())
    scores = context.create<AddNode>(scores, root.getMask());
  DimsRef shape = scores.getShape();
  int64_t rank = shape.size();
  if (root.getCausal()) {
    Tensor mask = makeCausalMask(kind, shape[rank - 2], shape[rank - 1]);
    scores = context.create<AddNode>(scores,
                                     context.createConstant(std::move(mask)));
  }
  return scores;
}

/// The softmax of \p scores over the keys. Queries with nothing but -infinity
/// have no weights unless \p nanIfMasked.
static NodeValue weighKeys(NodeValue scores, bool nanIfMasked,
                           RewriteContext &context) {
  int64_t last = int64_t(scores.getShape().size()) - 1;
  NodeValue weights = context.create<SoftmaxNode>(scores, last);
  if (nanIfMasked)
    return weights;
  ElemKind kind = scores.getElemKind();
  double none = -std::numeric_limits<double>::infinity();
  NodeBuilder b(context.getFunction(), scores.node->getName());
  NodeValue filled =
      llvm::cantFail(b.finish(b.fillOutside(scores, {last}, none)));
  NodeValue largest = context.create<ReduceNode>(
      filled, "max", std::vector<int64_t>{last}, /*keepDims=*/true);
  NodeValue isMasked =
      context.create<EqualNode>(largest, context.createScalar(kind, none));
  return context.create<SelectNode>(isMasked, context.createScalar(kind, 0),
                                    weights);
}

/// Returns whether inputs state how many keys there are, and a query of a
/// causal attention sees the same keys in all runs.
static bool canExpand(const AttentionNode &root) {
  const Type &query = root.getQuery().getType(), &key = root.getKey().getType();
  unsigned dim = query.getRank() - 2;
  const Extent *extent = key.getExtent(dim);
  if (extent && !root.getParent()->canBound(*extent))
    return false;
  return !root.getCausal() ||
         subtract(key.getLength(dim), query.getLength(dim)) ==
             Extent(key.getDim(dim) - query.getDim(dim));
}

/// Two matmuls with a softmax between.
NodeValue glowish::lowerAttention(AttentionNode &root,
                                  RewriteContext &context) {
  if (!canExpand(root))
    return {};
  NodeValue sums = context.create<MatMulNode>(
      root.getQuery(), context.transposeMatrices(root.getKey()));
  // `causal` alone leaves each query a key.
  bool nanIfMasked = root.getNanIfMasked() || !root.getMask();
  NodeValue weights =
      weighKeys(makeScores(root, sums, context), nanIfMasked, context);
  return context.create<MatMulNode>(weights, root.getValue());
}

/// The same of integers. The query, whose zero point matters, is on the right.
NodeValue glowish::lowerAttentionInteger(AttentionIntegerNode &root,
                                         RewriteContext &context) {
  auto getZero = [&](NodeValue value, int64_t zeroPoint) {
    return zeroPoint
               ? context.createScalar(value.getElemKind(), double(zeroPoint))
               : NodeValue();
  };
  NodeValue sums = context.create<MatMulIntegerNode>(
      root.getKey(), context.transposeMatrices(root.getQuery()),
      getZero(root.getQuery(), root.getQueryZeroPoint()));
  sums = context.create<CastNode>(context.transposeMatrices(sums),
                                  ElemKind::Float);
  // What is NaN becomes 0.
  NodeValue weights = weighKeys(makeScores(root, sums, context),
                                /*nanIfMasked=*/true, context);
  weights = context.create<DivNode>(
      weights, context.createScalar(ElemKind::Float, root.getWeightScale()));
  weights = context.create<MinNode>(
      context.create<RoundNode>(weights),
      context.createScalar(ElemKind::Float, double(root.getMaxWeight())));
  return context.create<MatMulIntegerNode>(
      context.create<CastNode>(weights, ElemKind::UInt8), root.getValue(),
      getZero(root.getValue(), root.getValueZeroPoint()));
}

llvm::Expected<bool>
glowish::expandAttentions(Function &function, const GraphPassContext &context) {
  return applyRewrites(function, context, [](RewriteSet &rewrites) {
    rewrites.add<lowerAttention>(NodeKind::Attention);
  });
}
