//===- TrainingForm.h - Nodes that training computes otherwise --*- C++ -*-===//

#ifndef GLOWISH_LIB_AUTODIFF_TRAININGFORM_H
#define GLOWISH_LIB_AUTODIFF_TRAININGFORM_H

#include "glowish/Autodiff/Training.h"

namespace glowish {

/// Gives each BatchNormalization of \p function whose statistics are variables
/// the statistics of its batch, and saves running ones; replaces each Dropout
/// by a random mask. \p count: the number of the step, an int64 scalar.
/// Variables that config.isTrained leaves out keep what they are.
llvm::Error makeTrainingForm(Function &function, NodeValue count,
                             const TrainingConfig &config);

} // namespace glowish

#endif // GLOWISH_LIB_AUTODIFF_TRAININGFORM_H
