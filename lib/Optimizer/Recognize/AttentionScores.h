//===- AttentionScores.h - The scores of an attention -----------*- C++ -*-===//
//
// query * key^T * scale + mask, where intermediate results have no other
// readers. Scale and mask may be absent; exporters scale the matmul, or the
// query, or query and key with a root each.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_OPTIMIZER_RECOGNIZE_ATTENTIONSCORES_H
#define GLOWISH_LIB_OPTIMIZER_RECOGNIZE_ATTENTIONSCORES_H

#include "Util/Rewriter.h"

namespace glowish {

struct AttentionScores {
  MatMulNode *matMul = nullptr;
  double scale = 1;
  /// Added to the matmul; null for none.
  NodeValue mask;
  /// Where this is not null, the sums become `fill` where it is `fillsWhere`.
  NodeValue condition;
  bool fillsWhere = false;
  double fill = 0;

  /// What is added to the matmul, either way; null for nothing.
  NodeValue makeMask(RewriteContext &context) const;
};

/// The weights of keys: the softmax of scores over the last dimension.
struct AttentionWeights {
  AttentionScores scores;
  /// Whether queries with nothing but -infinity have the weights 0, not NaN.
  bool clearsMasked = false;
};

/// The weights that \p value, which has one reader, is.
std::optional<AttentionWeights> matchWeights(NodeValue value);

/// Whether the matmuls \p scores and \p result have the same leading
/// dimensions, and there are keys.
bool fitsAttention(MatMulNode &scores, MatMulNode &result);

/// Attention of 8-bit integers for the matmul of quantized weights with values;
/// null where it does not apply.
NodeValue recognizeAttentionInteger(MatMulNode &root, RewriteContext &context);

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_RECOGNIZE_ATTENTIONSCORES_H
