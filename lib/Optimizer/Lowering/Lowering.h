//===- Lowering.h - Registration of lowerings -----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_OPTIMIZER_LOWERING_LOWERING_H
#define GLOWISH_LIB_OPTIMIZER_LOWERING_LOWERING_H

#include "../Rewriter.h"

namespace glowish {

/// Each family adds the lowerings of its kinds. A lowering is tried only where
/// the back end does not take the node as it is.
void addAttentionLowerings(RewriteSet &set);
void addConvTransposeLowerings(RewriteSet &set);
void addDataMovementLowerings(RewriteSet &set);
void addElementWiseLowerings(RewriteSet &set);
void addMatMulLowerings(RewriteSet &set);
void addNormalizationLowerings(RewriteSet &set);

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_LOWERING_LOWERING_H
