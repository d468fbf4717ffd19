//===- TrainingCompilation.cpp - A model that learns in its program -------===//

#include "glowish/Driver/TrainingCompilation.h"

using namespace glowish;

llvm::Expected<ModelGraph>
glowish::importForTraining(Compilation &compilation, llvm::StringRef path,
                           ImportOptions importOptions,
                           VariableValues &variables) {
  importOptions.variables = &variables;
  GLOWISH_ASSIGN_OR_RETURN(ModelGraph graph,
                           compilation.import(path, std::move(importOptions)));
  return compilation.prepareTraining(std::move(graph));
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

llvm::Expected<TrainingStep> glowish::makeStep(ModelGraph &graph,
                                               VariableValues &variables,
                                               const TrainingConfig &config) {
  Function &function = graph.getFunction();
  GLOWISH_ASSIGN_OR_RETURN(TrainingStep step,
                           makeTrainingStep(function, variables, config));
  graph.getModule().eraseFunction(&function);
  graph.setLossName(config.lossName);
  return step;
}

llvm::Expected<std::optional<TrainingCompilation>> TrainingCompilation::compile(
    Backend &backend, llvm::StringRef path,
    const ImportOptions &inferenceOptions, const ImportOptions &stepOptions,
    TrainingConfig config, const CompilationOptions &options) {
  VariableValues variables;
  ConstantPool constants(MemoryPlan::defaultAlignment);
  Compilation inference(backend, options), step(backend, options);
  // Both imports give the model's variables the same values.
  GLOWISH_ASSIGN_OR_RETURN(
      ModelGraph inferenceGraph,
      importForTraining(inference, path, inferenceOptions, variables));
  GLOWISH_ASSIGN_OR_RETURN(
      ModelGraph stepGraph,
      importForTraining(step, path, stepOptions, variables));
  avoidNames(config, stepGraph.getModule());
  GLOWISH_RETURN_IF_ERROR(makeStep(stepGraph, variables, config).takeError());
  GLOWISH_ASSIGN_OR_RETURN(std::optional<IRProgram> inferenceIR,
                           inference.runToIR(std::move(inferenceGraph)));
  GLOWISH_ASSIGN_OR_RETURN(std::optional<IRProgram> stepIR,
                           step.runToIR(std::move(stepGraph)));
  if (!inferenceIR || !stepIR)
    return std::nullopt;
  GLOWISH_ASSIGN_OR_RETURN(std::optional<PlannedProgram> inferenceProgram,
                           inference.runToPlan(std::move(*inferenceIR),
                                               /*choices=*/nullptr,
                                               &constants));
  GLOWISH_ASSIGN_OR_RETURN(
      std::optional<PlannedProgram> stepProgram,
      step.runToPlan(std::move(*stepIR), /*choices=*/nullptr, &constants));
  if (!inferenceProgram || !stepProgram)
    return std::nullopt;
  return TrainingCompilation(std::move(*inferenceProgram),
                             std::move(*stepProgram), std::move(variables));
}

TrainingPrograms TrainingCompilation::getPrograms() const {
  return {{{}, &inference.getIR(), &inference.getPlan()},
          {{}, &step.getIR(), &step.getPlan()},
          variables};
}
