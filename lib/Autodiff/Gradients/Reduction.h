//===- Reduction.h - Gradients of mean and max reductions -------*- C++ -*-===//

#ifndef GLOWISH_LIB_AUTODIFF_GRADIENTS_REDUCTION_H
#define GLOWISH_LIB_AUTODIFF_GRADIENTS_REDUCTION_H

#include "../GradientContext.h"

namespace glowish {

/// Returns the adjoint of the operand of a mean of \p shape, given the adjoint
/// of the result with the reduced dimensions kept as extent 1.
NodeValue spreadMean(GradientContext &g, NodeValue gradient, DimsRef shape);

/// Returns the adjoint of the operand of a max or min reduction along \p axes,
/// kept with extent 1 in \p result and \p gradient. Equal extremes share it.
NodeValue spreadToEqual(GradientContext &g, NodeValue input, NodeValue result,
                        NodeValue gradient, llvm::ArrayRef<int64_t> axes);

} // namespace glowish

#endif // GLOWISH_LIB_AUTODIFF_GRADIENTS_REDUCTION_H
