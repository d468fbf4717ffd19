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
  for (std::string *name :
       {&config.lossName, &config.rateName, &config.gradientsName}) {
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
    TrainingConfig config, const CompilationOptions &options,
    bool hasExternalGradients) {
  TrainingCompilation result;
  ConstantPool constants(MemoryPlan::defaultAlignment);
  std::vector<Compilation> compilations;
  // They stay where they are.
  compilations.reserve(3);
  std::vector<ModelGraph> graphs;
  // All imports give the model's variables the same values.
  auto import = [&](const ImportOptions &importOptions,
                    const CompilationOptions &own) -> llvm::Error {
    compilations.emplace_back(backend, own);
    GLOWISH_ASSIGN_OR_RETURN(
        ModelGraph graph, importForTraining(compilations.back(), path,
                                            importOptions, result.variables));
    graphs.push_back(std::move(graph));
    return llvm::Error::success();
  };
  GLOWISH_RETURN_IF_ERROR(import(inferenceOptions, options));
  std::vector<StepPart> parts = {StepPart::Whole};
  if (hasExternalGradients)
    parts = {StepPart::Gradients, StepPart::Update};
  for (StepPart part : parts) {
    CompilationOptions own = options;
    own.keepsOutputs = part == StepPart::Update;
    GLOWISH_RETURN_IF_ERROR(import(stepOptions, own));
    if (part == parts.front())
      avoidNames(config, graphs.back().getModule());
    config.part = part;
    GLOWISH_ASSIGN_OR_RETURN(result.step,
                             makeStep(graphs.back(), result.variables, config));
  }
  std::vector<IRProgram> programs;
  for (auto [compilation, graph] : llvm::zip_equal(compilations, graphs)) {
    GLOWISH_ASSIGN_OR_RETURN(std::optional<IRProgram> program,
                             compilation.runToIR(std::move(graph)));
    if (program)
      programs.push_back(std::move(*program));
  }
  if (programs.size() < compilations.size())
    return std::nullopt;
  for (auto [compilation, program] : llvm::zip_equal(compilations, programs)) {
    GLOWISH_ASSIGN_OR_RETURN(std::optional<PlannedProgram> planned,
                             compilation.runToPlan(std::move(program),
                                                   /*choices=*/nullptr,
                                                   {&constants}));
    if (planned)
      result.programs.push_back(std::move(*planned));
  }
  if (result.programs.size() < compilations.size())
    return std::nullopt;
  return std::move(result);
}

TrainingPrograms TrainingCompilation::getPrograms() const {
  TrainingPrograms result{{}, {}, variables, step.trained, step.gradientStarts};
  for (const PlannedProgram &program : programs) {
    Variant variant = {{}, &program.getIR(), &program.getPlan()};
    if (&program == &programs.front())
      result.inference = variant;
    else
      result.steps.push_back(variant);
  }
  return result;
}
