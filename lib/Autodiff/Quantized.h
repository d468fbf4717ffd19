//===- Quantized.h - Gradients through quantized values ---------*- C++ -*-===//
//
// Quantized tensors are integers in the graph. The backward pass treats
// rounding as the identity (the straight-through estimator: Bengio et al.,
// arXiv 1308.3432), so that integer values have adjoints here, which are
// floats.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_AUTODIFF_QUANTIZED_H
#define GLOWISH_LIB_AUTODIFF_QUANTIZED_H

#include "GradientContext.h"

namespace glowish {

/// Finds the quantizing conversions of a graph: Casts of rounded floats,
/// possibly with a zero point and clamping in between, to integers of 8 or 16
/// bits.
class Quantizers {
public:
  explicit Quantizers(llvm::ArrayRef<Node *> nodes);

  /// Whether \p node is such a Cast.
  bool isQuantizer(const Node &node) const { return quantizers.count(&node); }
  /// Whether \p node is the Round before one.
  bool isRounding(const Node &node) const { return roundings.count(&node); }
  /// Whether \p value is the scale or zero point of a dynamic quantizer. Both
  /// count as constants of the backward pass.
  bool isRange(NodeValue value) const { return ranges.contains(value); }
  /// Whether integer result \p index of \p node has an adjoint, given the
  /// \p active values.
  bool isActive(Node &node, unsigned index,
                const llvm::DenseSet<NodeValue> &active) const;

private:
  void addRange(const CastNode &quantizer);
  llvm::DenseSet<const Node *> quantizers, roundings;
  llvm::DenseSet<NodeValue> ranges;
};

/// Whether \p node has an integer result with an adjoint, or an \p active
/// integer operand (other than indices), and must be given to
/// differentiateQuantized.
bool isQuantized(Node &node, const GradientMap &gradients,
                 const llvm::DenseSet<NodeValue> &active);

/// Adds to the adjoints of the operands of \p node. Integer arithmetic is
/// differentiated by \p differentiate like float arithmetic.
llvm::Error differentiateQuantized(
    Node &node, GradientMap &gradients, const llvm::DenseSet<NodeValue> &active,
    llvm::function_ref<void(Node &, GradientContext &)> differentiate);

} // namespace glowish

#endif // GLOWISH_LIB_AUTODIFF_QUANTIZED_H
