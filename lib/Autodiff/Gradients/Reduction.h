//===- Reduction.h - Gradients of means and largest elements ----*- C++ -*-===//

#ifndef GLOWISH_LIB_AUTODIFF_GRADIENTS_REDUCTION_H
#define GLOWISH_LIB_AUTODIFF_GRADIENTS_REDUCTION_H

#include "../GradientContext.h"

namespace glowish {

/// What flows back through a mean of \p shape to elements, the reduced
/// dimensions of \p gradient being there with extent 1.
NodeValue spreadMean(GradientContext &g, NodeValue gradient, DimsRef shape);

/// What flows back through a largest or smallest element along \p axes, kept
/// with extent 1 in \p result and \p gradient: equal ones share it.
NodeValue spreadToEqual(GradientContext &g, NodeValue input, NodeValue result,
                        NodeValue gradient, llvm::ArrayRef<int64_t> axes);

} // namespace glowish

#endif // GLOWISH_LIB_AUTODIFF_GRADIENTS_REDUCTION_H
