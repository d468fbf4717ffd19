//===- GradientSum.h - Sums of adjoints -------------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_AUTODIFF_GRADIENTSUM_H
#define GLOWISH_LIB_AUTODIFF_GRADIENTSUM_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// Returns the sum of the contributions \p parts to an adjoint, at least one,
/// all of one type. Gradients of slices along one dimension become a
/// concatenation, and several matmuls become one with a longer K: an unrolled
/// recurrent layer has one of each per time step.
NodeValue sumGradients(NodeBuilder &b, llvm::ArrayRef<NodeValue> parts);

} // namespace glowish

#endif // GLOWISH_LIB_AUTODIFF_GRADIENTSUM_H
