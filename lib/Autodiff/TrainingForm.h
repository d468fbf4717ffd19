//===- TrainingForm.h - Training form of a function -------------*- C++ -*-===//

#ifndef GLOWISH_LIB_AUTODIFF_TRAININGFORM_H
#define GLOWISH_LIB_AUTODIFF_TRAININGFORM_H

#include "glowish/Autodiff/Training.h"

namespace glowish {

/// Makes each BatchNormalization of \p function whose statistics are variables
/// use the statistics of the batch and update moving averages, and replaces
/// each Dropout by a random mask. \p count is the number of the step, an int64
/// scalar. Variables that config.isTrained excludes are not changed.
llvm::Error makeTrainingForm(Function &function, NodeValue count,
                             const TrainingConfig &config);

} // namespace glowish

#endif // GLOWISH_LIB_AUTODIFF_TRAININGFORM_H
