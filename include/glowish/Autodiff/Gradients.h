//===- Gradients.h - Reverse-mode differentiation ---------------*- C++ -*-===//

#ifndef GLOWISH_AUTODIFF_GRADIENTS_H
#define GLOWISH_AUTODIFF_GRADIENTS_H

#include "glowish/Graph/Nodes.h"

namespace glowish {

/// A value to differentiate and its adjoint: the derivative of the
/// differentiated scalar with respect to each element, of the value's type.
struct GradientSeed {
  NodeValue value;
  NodeValue gradient;
};

/// Appends to \p function nodes that compute, for each of \p variables, the
/// derivative of the sum over all seeds of value * gradient. The gradient of a
/// variable that no seed depends on is zeros.
///
/// Seeds and variables are of float kinds; variables are values of the function
/// or storage. It is an error if a seed depends on a variable through a node
/// without a gradient or with an epilogue (an optimized graph). Nodes of the
/// forward pass may be replaced by equivalent ones, and lose their predicates.
/// Gradients can be differentiated again.
llvm::Expected<std::vector<NodeValue>>
addGradients(Function &function, llvm::ArrayRef<GradientSeed> seeds,
             llvm::ArrayRef<NodeValue> variables);

/// Gradient of the nodes of a kind: defined, zero everywhere, or an error.
enum class Differentiability { Differentiable, Zero, Refused };

struct DifferentiabilityInfo {
  Differentiability kind;
  /// Why the gradient is zero or refused.
  llvm::StringRef reason;
};

/// Returns the entry of the record of \p kind. Storage is differentiable.
DifferentiabilityInfo getDifferentiability(NodeKind kind);

} // namespace glowish

#endif // GLOWISH_AUTODIFF_GRADIENTS_H
