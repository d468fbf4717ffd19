//===- TrainingOptions.cpp - How a model is trained -----------------------===//

#include "common/TrainingOptions.h"
#include "common/SettingOptions.h"

using namespace glowish;

llvm::cl::OptionCategory glowish::trainingCategory("Training options");

static SettingOptions options(getSettings().training, trainingCategory);
