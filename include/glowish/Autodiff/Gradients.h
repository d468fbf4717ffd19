//===- Gradients.h - Reverse-mode differentiation ---------------*- C++ -*-===//

#ifndef GLOWISH_AUTODIFF_GRADIENTS_H
#define GLOWISH_AUTODIFF_GRADIENTS_H

#include "glowish/Graph/Nodes.h"

namespace glowish {

/// A value and what flows back to it: the derivative of the scalar that is
/// differentiated with respect to each element, of the value's type.
struct GradientSeed {
  NodeValue value;
  NodeValue gradient;
};

/// Adds to the end of \p function nodes that compute, for each of \p variables,
/// the derivative of the sum over all seeds of value * gradient. A variable
/// that no seed depends on has zeros.
///
/// Seeds and variables are of float kinds; variables are values of the function
/// or storage. It is an error to go through a node that has no gradient, and
/// through one that has been optimised (an epilogue). Nodes of the forward pass
/// may be replaced by others that compute the same. Gradients can be
/// differentiated again.
llvm::Expected<std::vector<NodeValue>>
addGradients(Function &function, llvm::ArrayRef<GradientSeed> seeds,
             llvm::ArrayRef<NodeValue> variables);

/// Whether a gradient can flow back through nodes of \p kind.
enum class Differentiability { Differentiable, Zero, Refused };

struct DifferentiabilityInfo {
  Differentiability kind;
  /// Why nothing flows back, or why it is refused.
  llvm::StringRef reason;
};

/// What the record of \p kind says. Storage is differentiable.
DifferentiabilityInfo getDifferentiability(NodeKind kind);

} // namespace glowish

#endif // GLOWISH_AUTODIFF_GRADIENTS_H
