//===- GradientSum.h - What flows back to a value from all sides -*- C++
//-*-===//

#ifndef GLOWISH_LIB_AUTODIFF_GRADIENTSUM_H
#define GLOWISH_LIB_AUTODIFF_GRADIENTSUM_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// The sum of \p parts, at least one, of one type. What was sliced along one
/// dimension is put together by a concatenation, and matrix products become one
/// with a longer inner dimension: a recurrent layer that is unrolled has one of
/// each for every step.
NodeValue sumGradients(NodeBuilder &b, llvm::ArrayRef<NodeValue> parts);

} // namespace glowish

#endif // GLOWISH_LIB_AUTODIFF_GRADIENTSUM_H
