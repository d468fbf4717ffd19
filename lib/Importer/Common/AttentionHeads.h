//===- AttentionHeads.h - Parts of attention operators ----------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_ATTENTIONHEADS_H
#define GLOWISH_LIB_IMPORTER_COMMON_ATTENTIONHEADS_H

#include "glowish/Graph/NodeBuilder.h"
#include "glowish/Support/Error.h"
#include <array>

namespace glowish {

/// The operands of attention as [batch, heads, length, size].
struct Heads {
  NodeValue query, key, value;
  Extent past = 0; // the length of the past keys
};

/// Scaling and masking of the scores.
struct Scoring {
  double scale = 1, softcap = 0;
  /// Query m attends to keys 0 ... m + the length of the past.
  bool isCausal = false;
  NodeValue mask; // additive; may be null
  /// The score of a further key, which has no value; it broadcasts to [batch,
  /// heads, queries, 1]. May be null.
  NodeValue sink;
};

/// How many keys before and behind its own a query may attend to; negative
/// where that is not limited. A causal mask has none behind.
struct KeyWindow {
  int64_t left = -1, right = -1;

  bool isLimited() const { return left >= 0 || right >= 0; }
};

/// Returns a bool that broadcasts to \p keys and \p queries, numbers of both:
/// which keys are in \p window, which is limited, around each query.
NodeValue findNearKeys(NodeBuilder &b, NodeValue keys, NodeValue queries,
                       const KeyWindow &window);

/// Returns an error if a run decides an extent of \p tokens, input \p index,
/// other than those of dimension 0, the batch, and dimension \p lengthDim.
llvm::Error checkTokenExtents(NodeValue tokens, unsigned index,
                              unsigned lengthDim);

/// Reshapes \p value [batch, length, heads * size] to [batch, heads, length,
/// size]. \p name is the attribute that states \p heads.
llvm::Expected<NodeValue> splitHeads(NodeBuilder &b, NodeValue value,
                                     int64_t heads, llvm::StringRef name);

/// The inverse of splitHeads().
NodeValue joinHeads(NodeBuilder &b, NodeValue value);

/// Repeats each head of \p value for the query heads that share it
/// (grouped-query attention).
llvm::Expected<NodeValue> repeatHeads(NodeBuilder &b, NodeValue value,
                                      int64_t numQuery);

/// Returns \p mask as one that is added to scores of \p kind: of bools, 0 where
/// they are true, and -infinity elsewhere.
NodeValue makeAdditive(NodeBuilder &b, NodeValue mask, ElemKind kind);

/// Returns the softmax of \p x along \p axis, 0 where there is nothing but
/// -infinity (aten::_safe_softmax).
NodeValue safeSoftmax(NodeBuilder &b, NodeValue x, int64_t axis);

/// Returns the scores of \p heads: scaled, after the softcap, after the masks,
/// and after the softmax, which is 0 for a query that is left no key.
llvm::Expected<std::array<NodeValue, 4>>
composeScores(NodeBuilder &b, const Heads &heads, const Scoring &scoring);

/// Returns the attention of \p heads, an Attention node unless the scores have
/// a sink, a softcap or, of known lengths, a causal mask that the node has not.
llvm::Expected<NodeValue> attend(NodeBuilder &b, const Heads &heads,
                                 Scoring scoring);

/// Rotates pairs of the first elements of each head (rotary embedding): as many
/// pairs as \p cosines and \p sines, which broadcast to [batch, heads, length,
/// pairs], have columns. A pair is (i, i + pairs), or adjacent elements.
NodeValue rotateHeads(NodeBuilder &b, NodeValue heads, NodeValue cosines,
                      NodeValue sines, bool isInterleaved);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_ATTENTIONHEADS_H
