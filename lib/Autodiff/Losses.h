//===- Losses.h - Loss functions --------------------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_AUTODIFF_LOSSES_H
#define GLOWISH_LIB_AUTODIFF_LOSSES_H

#include "glowish/Autodiff/Training.h"
#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// Returns the type of the labels for predictions of \p type.
llvm::Expected<Type> getLabelType(const Type &type,
                                  const TrainingConfig &config);

/// Builds the loss, a scalar of the prediction's kind. \p label has the type
/// given by getLabelType().
NodeValue makeLoss(NodeBuilder &b, NodeValue prediction, NodeValue label,
                   const TrainingConfig &config);

/// Builds the loss of each sample, a vector along the first dimension of the
/// label. makeLoss() is its mean.
NodeValue makeSampleLosses(NodeBuilder &b, NodeValue prediction,
                           NodeValue label, const TrainingConfig &config);

} // namespace glowish

#endif // GLOWISH_LIB_AUTODIFF_LOSSES_H
