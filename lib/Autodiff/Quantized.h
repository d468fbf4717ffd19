//===- Quantized.h - Gradients through quantized numbers --------*- C++ -*-===//
//
// Quantized tensors are integers in the graph. Rounding counts as the identity
// on the way back (the straight-through estimator: Bengio et al., arXiv
// 1308.3432), so that integers carry gradients here, which are floats.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_AUTODIFF_QUANTIZED_H
#define GLOWISH_LIB_AUTODIFF_QUANTIZED_H

#include "GradientContext.h"

namespace glowish {

/// Where numbers are quantized: conversions of rounded floats, perhaps shifted
/// and limited, to integers of 8 or 16 bits.
class Quantizers {
public:
  explicit Quantizers(llvm::ArrayRef<Node *> nodes);

  /// Whether \p node is such a conversion.
  bool isQuantizer(const Node &node) const { return quantizers.count(&node); }
  /// Whether \p node is the Round of one.
  bool isRounding(const Node &node) const { return roundings.count(&node); }
  /// Whether \p value is the scale or the zero point of a dynamic quantizer,
  /// which count as constants.
  bool isRange(NodeValue value) const { return ranges.contains(value); }
  /// Whether result \p index of \p node, an integer, carries a gradient where
  /// \p active values do.
  bool isActive(Node &node, unsigned index,
                const llvm::DenseSet<NodeValue> &active) const;

private:
  void addRange(const CastNode &quantizer);
  llvm::DenseSet<const Node *> quantizers, roundings;
  llvm::DenseSet<NodeValue> ranges;
};

/// Whether something flows back to an integer that \p node makes, or it takes
/// \p active ones as values, so that differentiateQuantized is for it.
bool isQuantized(Node &node, const GradientMap &gradients,
                 const llvm::DenseSet<NodeValue> &active);

/// Adds what flows back to the operands of \p node. What is computed of
/// integers is differentiated by \p differentiate as if they were floats.
llvm::Error differentiateQuantized(
    Node &node, GradientMap &gradients, const llvm::DenseSet<NodeValue> &active,
    llvm::function_ref<llvm::Error(Node &, GradientContext &)> differentiate);

} // namespace glowish

#endif // GLOWISH_LIB_AUTODIFF_QUANTIZED_H
