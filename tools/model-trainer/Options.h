//===- Options.h - The command line of model-trainer ------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_MODEL_TRAINER_OPTIONS_H
#define GLOWISH_TOOLS_MODEL_TRAINER_OPTIONS_H

#include "common/TrainingOptions.h"
#include "model-trainer/TrainingLoop.h"
#include "llvm/Support/CommandLine.h"

namespace glowish {

extern llvm::cl::OptionCategory dataCategory;
extern llvm::cl::OptionCategory resultCategory;

/// The options that are specific to model-trainer.
struct TrainerOptions {
  /// Label kind and shape come from the data.
  TrainingConfig config;
  InitializerKind initializer = InitializerKind::Keep;
  LoopOptions loop;
  ImageOptions images;
  std::string data;
  /// A folder, or the share of the data that is not learned from.
  std::string validation;
  double validationShare = 0;
  std::string savePath, lossLogPath, lossCurvePath;
  bool saveEveryEpoch = false;
  bool reportsCommunication = false;
  /// Where checkpoints go, and the one to begin with.
  std::string checkpointPath, resumePath;
};

/// \p config: what settings state. The error names the option, what it was
/// given and what it takes.
llvm::Expected<TrainerOptions> getTrainerOptions(TrainingConfig config);

} // namespace glowish

#endif // GLOWISH_TOOLS_MODEL_TRAINER_OPTIONS_H
