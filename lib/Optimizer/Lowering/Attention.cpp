//===- Attention.cpp - Lowering of attention ------------------------------===//

#include "Lowering/Lowering.h"
#include <limits>
#include <numeric>

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

/// Two matmuls with a softmax between.
NodeValue glowish::lowerAttention(AttentionNode &root,
                                  RewriteContext &context) {
  ElemKind kind = root.getType().getKind();
  int64_t rank = root.getType().getRank();
  std::vector<int64_t> swapped(rank);
  std::iota(swapped.begin(), swapped.end(), 0);
  std::swap(swapped[rank - 2], swapped[rank - 1]);
  NodeValue key = context.transpose(root.getKey(), swapped);
  NodeValue scores = context.create<MatMulNode>(root.getQuery(), key);
  scores = context.create<MulNode>(scores,
                                   context.createScalar(kind, root.getScale()));
  if (root.getMask())
    scores = context.create<AddNode>(scores, root.getMask());
  if (root.getCausal()) {
    DimsRef shape = scores.getShape();
    Tensor mask = makeCausalMask(kind, shape[rank - 2], shape[rank - 1]);
    scores = context.create<AddNode>(scores,
                                     context.createConstant(std::move(mask)));
  }
  NodeValue weights = context.create<SoftmaxNode>(scores, rank - 1);
  return context.create<MatMulNode>(weights, root.getValue());
}
