//===- TrainingCompilation.cpp - A model that learns in a product ---------===//

#include "glowish/Driver/TrainingCompilation.h"

using namespace glowish;

llvm::Expected<std::unique_ptr<Compilation>> glowish::importForTraining(
    Backend &backend, llvm::StringRef path, ImportOptions importOptions,
    CompilationOptions options, VariableValues &variables) {
  auto compilation = std::make_unique<Compilation>(backend, std::move(options));
  importOptions.variables = &variables;
  GLOWISH_RETURN_IF_ERROR(compilation->import(path, std::move(importOptions)));
  GLOWISH_RETURN_IF_ERROR(compilation->prepareTraining());
  return compilation;
}

void glowish::avoidNames(TrainingConfig &config, const Module &module) {
  auto isTaken = [&](const std::string &name) {
    return name == config.label || module.findPlaceholder(name);
  };
  for (std::string *name : {&config.lossName, &config.rateName}) {
    std::string free = *name;
    for (unsigned i = 1; isTaken(free); ++i)
      free = "training_" + *name + (i > 1 ? std::to_string(i) : "");
    *name = free;
  }
}

llvm::Expected<TrainingStep> glowish::makeStep(Compilation &compilation,
                                               VariableValues &variables,
                                               const TrainingConfig &config) {
  Function &function = compilation.getFunction();
  GLOWISH_ASSIGN_OR_RETURN(TrainingStep step,
                           makeTrainingStep(function, variables, config));
  compilation.getModule().eraseFunction(&function);
  compilation.setRematerialization(config.rematerialization, config.lossName);
  return step;
}

llvm::Expected<std::unique_ptr<TrainingCompilation>>
TrainingCompilation::compile(Backend &backend, llvm::StringRef path,
                             const ImportOptions &inferenceOptions,
                             const ImportOptions &stepOptions,
                             TrainingConfig config,
                             const CompilationOptions &options) {
  std::unique_ptr<TrainingCompilation> result(new TrainingCompilation);
  // Both imports give the model's variables the same values.
  GLOWISH_ASSIGN_OR_RETURN(result->inference,
                           importForTraining(backend, path, inferenceOptions,
                                             options, result->variables));
  GLOWISH_ASSIGN_OR_RETURN(result->step,
                           importForTraining(backend, path, stepOptions,
                                             options, result->variables));
  avoidNames(config, result->step->getModule());
  GLOWISH_RETURN_IF_ERROR(
      makeStep(*result->step, result->variables, config).takeError());
  Compilation *both[] = {result->inference.get(), result->step.get()};
  for (Compilation *compilation : both)
    GLOWISH_RETURN_IF_ERROR(compilation->runCommon());
  for (Compilation *compilation : both)
    GLOWISH_RETURN_IF_ERROR(
        compilation->finish(/*choices=*/nullptr, &result->constants));
  return result;
}

TrainingPrograms TrainingCompilation::getPrograms() const {
  return {{{}, &inference->getIR(), &inference->getPlan()},
          {{}, &step->getIR(), &step->getPlan()},
          variables};
}
