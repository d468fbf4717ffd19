//===- Losses.h - What training makes smaller -------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_AUTODIFF_LOSSES_H
#define GLOWISH_LIB_AUTODIFF_LOSSES_H

#include "glowish/Autodiff/Training.h"
#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// The type of the labels for predictions of \p type.
llvm::Expected<Type> getLabelType(const Type &type,
                                  const TrainingConfig &config);

/// The loss, a scalar of the prediction's kind; \p label has the type that
/// getLabelType() gives.
NodeValue makeLoss(NodeBuilder &b, NodeValue prediction, NodeValue label,
                   const TrainingConfig &config);

/// The loss of each index of the label's first dimension, a vector: makeLoss()
/// is its mean.
NodeValue makeSampleLosses(NodeBuilder &b, NodeValue prediction,
                           NodeValue label, const TrainingConfig &config);

} // namespace glowish

#endif // GLOWISH_LIB_AUTODIFF_LOSSES_H
