//===- Attention.cpp - Attention of matmuls and a softmax -----------------===//
//
// softmax(query * key^T * scale + mask) * value.
//
//===----------------------------------------------------------------------===//

#include "Recognize/AttentionScores.h"
#include "Recognize/SharedHeads.h"
#include "Util/ConstantTensors.h"

using namespace glowish;

/// The largest value of an additive mask that excludes a score: e^x of the sum
/// is 0 beside any other score.
static constexpr double maskedScore = -1e9;
/// \p value without its constant factor, by which \p scale is multiplied. The
/// factor may be before transposes and reshapes.
static NodeValue takeFactor(NodeValue value, double &scale,
                            RewriteContext &context) {
  auto [inner, factor] = splitFactor(value);
  scale *= factor;
  if (inner != value)
    return inner;
  bool isMoved = llvm::isa<TransposeNode, ReshapeNode>(value.node);
  if (!isMoved || value.getType().isQuantized())
    return value;
  NodeValue before = value.node->getOperand(0);
  NodeValue taken = takeFactor(before, scale, context);
  if (taken == before)
    return value;
  if (auto *transpose = value.getNodeAs<TransposeNode>())
    return context.transpose(taken, transpose->getPermutation());
  return context.reshape(taken, value.getShape());
}

static NodeValue recognizeAttention(MatMulNode &root, RewriteContext &context) {
  std::optional<AttentionWeights> weights = matchWeights(root.getLhs());
  if (!weights || !fitsAttention(*weights->scores.matMul, root))
    return {};
  const AttentionScores &scores = weights->scores;
  double scale = scores.scale;
  NodeValue query = takeFactor(scores.matMul->getLhs(), scale, context);
  NodeValue key = context.transposeMatrices(
      takeFactor(scores.matMul->getRhs(), scale, context));
  NodeValue mask = scores.makeMask(context);
  // A Softmax of nothing but -infinity is NaN; only a mask can make it so.
  bool nanIfMasked = mask && !weights->clearsMasked;
  return context.create<AttentionNode>(query, key, root.getRhs(), mask, scale,
                                       /*causal=*/false, nanIfMasked);
}

/// Whether a constant mask lets query m attend to keys up to m + keys -
/// queries.
static bool isCausal(const Tensor &mask, int64_t queries, int64_t keys) {
  DimsRef shape = mask.getType().getShape();
  if (mask.getNumElements() != queries * keys || shape.size() < 2 ||
      shape.back() != keys || keys < queries)
    return false;
  for (int64_t m = 0; m < queries; ++m)
    for (int64_t n = 0; n < keys; ++n) {
      double value = mask.getAsDouble(m * keys + n);
      bool isSeen = n <= m + keys - queries;
      if (isSeen ? value != 0 : !(value <= maskedScore))
        return false;
    }
  return true;
}

/// Of an attention of any kinds.
template <typename NodeT>
static NodeValue recognizeCausal(NodeT &root, RewriteContext &context) {
  const Tensor *mask = getConstantTensor(root.getMask());
  const Type &query = root.getQuery().getType(), &key = root.getKey().getType();
  unsigned dim = query.getRank() - 2;
  int64_t queries = query.getDim(dim), keys = key.getDim(dim);
  // A run that decides about one of both would decide which keys a query sees.
  auto past = subtract(key.getLength(dim), query.getLength(dim));
  if (root.getCausal() || !mask || past != Extent(keys - queries) ||
      !isCausal(*mask, queries, keys))
    return {};
  NodeDraft draft = root.getDraft();
  draft.operands[NodeT::maskIdx] = NodeValue();
  Node *causal = context.getFunction().create(root.getName(), std::move(draft));
  llvm::cast<NodeT>(causal)->setCausal(true);
  // Each query has a key now.
  if (auto *attention = llvm::dyn_cast<AttentionNode>(causal))
    attention->setNanIfMasked(false);
  return causal->getResult();
}

llvm::Expected<bool>
glowish::recognizeAttentions(Function &function,
                             const GraphPassContext &context) {
  return applyRewrites(function, context, [](RewriteSet &rewrites) {
    rewrites.add<recognizeAttention>(NodeKind::MatMul);
    rewrites.add<recognizeAttentionInteger>(NodeKind::MatMul);
    rewrites.add<recognizeCausal<AttentionNode>>(NodeKind::Attention);
    rewrites.add<recognizeSharedHeads>(NodeKind::Attention);
    rewrites.add<recognizeCausal<AttentionIntegerNode>>(
        NodeKind::AttentionInteger);
  });
}
