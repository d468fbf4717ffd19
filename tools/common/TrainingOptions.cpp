//===- TrainingOptions.cpp - How a model is trained -----------------------===//

#include "common/TrainingOptions.h"
#include "common/SettingOptions.h"

using namespace glowish;
namespace cl = llvm::cl;

cl::OptionCategory glowish::trainingCategory("Training options");

static TrainingSettings settings;
static SettingOptions options(settings, trainingCategory);

const TrainingSettings &glowish::getTrainingSettings() { return settings; }
