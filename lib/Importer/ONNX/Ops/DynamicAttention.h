//===- DynamicAttention.h - Attention of dynamic lengths --------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_DYNAMICATTENTION_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_DYNAMICATTENTION_H

#include "Common/AttentionHeads.h"
#include "ONNX/DynamicDims.h"

namespace glowish::onnximport {

/// Whether input 0 has heads side by side: [batch, length, heads * size].
bool isFlat(const OpContext &op);

/// Returns an error unless only the dimensions 0, the batch, and \p lengthDim
/// of
/// \p tokens, input \p index, are dynamic.
llvm::Error checkTokenExtents(const DynamicValue &tokens, unsigned index,
                              unsigned lengthDim);

/// The operands of attention as [batch, heads, length, size]; keys and values
/// with the past.
struct DynamicHeads {
  DynamicValue query, key, value;
  /// Null without a past.
  NodeValue pastLength;
};

/// Puts input \p index, [batch, heads, length, size], in front of \p heads;
/// returns its length.
llvm::Expected<NodeValue> prependPast(OpContext &op, unsigned index,
                                      DynamicValue &heads);

/// How many keys before and behind its own a query may attend to; negative
/// where that is not limited. A causal mask has none behind.
struct KeyWindow {
  int64_t left = -1, right = -1;

  bool isLimited() const { return left >= 0 || right >= 0; }
};

/// Reads the window of Attention-25 and the attribute `is_causal`.
llvm::Expected<KeyWindow> readKeyWindow(OpContext &op);

/// A bool that broadcasts to \p keys and \p queries, numbers of both: which
/// keys are in \p window, which is limited, around each query.
NodeValue findNearKeys(OpContext &op, NodeValue keys, NodeValue queries,
                       const KeyWindow &window);

/// A bool that broadcasts to the scores: which keys each query may attend to,
/// those that there are in \p window. Null if that are all.
NodeValue findSeenKeys(OpContext &op, const DynamicHeads &heads,
                       KeyWindow window);

/// The attention of \p heads, whose keys and values groups of queries may
/// share, as [batch, query heads, length, size], with the mask of \p scoring
/// for keys that are seen.
llvm::Expected<DynamicValue> attendDynamic(OpContext &op,
                                           const DynamicHeads &heads,
                                           Scoring scoring, NodeValue seen);

/// Imports ONNX's Attention (opset 23) of inputs with dynamic dimensions.
llvm::Error importDynamicAttention(OpContext &op);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_DYNAMICATTENTION_H
