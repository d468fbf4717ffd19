//===- TrainingOptions.cpp - How a model is trained -----------------------===//

#include "common/TrainingOptions.h"
#include "common/SettingOptions.h"

using namespace glowish;
namespace cl = llvm::cl;

cl::OptionCategory glowish::trainingCategory("Training options");

static TrainingSettings settings;
static SettingOptions options(settings, trainingCategory);
static cl::alias recompute("recompute", cl::desc("Old name of -rematerialize"),
                           cl::aliasopt(options.find("rematerialize")),
                           cl::Hidden);
static cl::alias recomputeSegments(
    "recompute-segments", cl::desc("Old name of -rematerialize-segments"),
    cl::aliasopt(options.find("rematerialize-segments")), cl::Hidden);

const TrainingSettings &glowish::getTrainingSettings() { return settings; }
