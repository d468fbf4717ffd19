//===- TrainingOptions.h - How a model is trained ---------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_TRAININGOPTIONS_H
#define GLOWISH_TOOLS_COMMON_TRAININGOPTIONS_H

#include "llvm/Support/CommandLine.h"

namespace glowish {

extern llvm::cl::OptionCategory trainingCategory;

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_TRAININGOPTIONS_H
