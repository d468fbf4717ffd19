//===- TrainingOptions.h - How a model is trained ---------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_TRAININGOPTIONS_H
#define GLOWISH_TOOLS_COMMON_TRAININGOPTIONS_H

#include "glowish/Autodiff/Training.h"
#include "glowish/IRGen/Rematerialization.h"
#include "llvm/Support/CommandLine.h"

namespace glowish {

extern llvm::cl::OptionCategory trainingCategory;

/// -loss, -solver, -label... ; kind and shape of the label are not stated. An
/// error names the option, what it was given and what it takes.
llvm::Expected<TrainingConfig> getTrainingConfig();

/// -rematerialize...: what a step computes again.
RematerializationConfig getRematerialization();

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_TRAININGOPTIONS_H
