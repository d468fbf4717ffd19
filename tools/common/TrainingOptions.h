//===- TrainingOptions.h - How a model is trained ---------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_TRAININGOPTIONS_H
#define GLOWISH_TOOLS_COMMON_TRAININGOPTIONS_H

#include "glowish/Compiler/TrainingSettings.h"
#include "llvm/Support/CommandLine.h"

namespace glowish {

extern llvm::cl::OptionCategory trainingCategory;

/// Those of the command line.
const TrainingSettings &getTrainingSettings();

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_TRAININGOPTIONS_H
