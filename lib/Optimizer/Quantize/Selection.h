//===- Selection.h - Which nodes are quantized ------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_OPTIMIZER_QUANTIZE_SELECTION_H
#define GLOWISH_LIB_OPTIMIZER_QUANTIZE_SELECTION_H

#include "glowish/Optimizer/Quantize.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace glowish {

/// The numbers of the operands of a convolution or matmul, and how its weights
/// are read.
struct Anchor {
  unsigned input = 0, filter = 1;
  std::optional<unsigned> bias = {};
  /// Of the filter: the dimension of the output channels.
  size_t axis = 0;
  bool isPerChannel = true;
  /// Why it stays float in any case; else empty.
  llvm::StringRef obstacle = {};
};

/// Describes \p node; nullopt if it is no convolution or matmul.
std::optional<Anchor> describeAnchor(const Node &node,
                                     const QuantizationConfig &config);

/// Whether the integers of quantized operands are what \p node's result is made
/// of, without arithmetic.
bool movesQuantized(const Node &node);

/// \p value before its reshapes and transposes.
NodeValue stripMoves(NodeValue value);

/// The histogram of \p value before its reshapes and transposes; null where
/// the profile has none, and for constants and other kinds than float.
const Histogram *findHistogram(NodeValue value, const RangeProfile &profile);

/// Why the weights of \p node, a convolution or matmul, stay float; empty if
/// they can become integers.
std::string explainFloatWeights(const Node &node, const Anchor &anchor);

/// Logs why \p node, which could be quantized, stays float.
void logFloat(const Node &node, llvm::StringRef reason);

/// Which nodes of a function compute with quantized values.
struct NodeSelection {
  llvm::DenseSet<const Node *> chosen;
  /// Of the chosen attentions the matmul of queries and keys, by that of its
  /// softmax and values. Both are chosen.
  llvm::DenseMap<const Node *, MatMulNode *> scores;
  /// Why others of a quantizable kind do not. Those that only select or move
  /// values are here until a chosen node turns out to read them.
  llvm::MapVector<const Node *, std::string> reasons;
  /// Those of a quantizable kind that are to stay float, and why.
  llvm::MapVector<const Node *, llvm::StringRef> kept;
};

NodeSelection selectNodes(Function &function, const RangeProfile &profile,
                          const QuantizationConfig &config);

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_QUANTIZE_SELECTION_H
