//===- Losses.h - Loss functions --------------------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_AUTODIFF_LOSSES_H
#define GLOWISH_LIB_AUTODIFF_LOSSES_H

#include "glowish/Autodiff/Training.h"
#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// Returns the type of the labels for predictions of \p type.
llvm::Expected<Type> getLabelType(const Type &type,
                                  const TrainingConfig &config);

/// Builds the loss of \p node, a scalar of its input's kind.
NodeValue makeLoss(NodeBuilder &b, const LossNode &node);

/// Builds the loss of each sample, a vector along the first dimension of what
/// is expected. makeLoss() is its mean.
NodeValue makeSampleLosses(NodeBuilder &b, const LossNode &node);

} // namespace glowish

#endif // GLOWISH_LIB_AUTODIFF_LOSSES_H
