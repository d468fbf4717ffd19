//===- Trainer.cpp - Training a model in this process ---------------------===//

#include "glowish/Driver/Trainer.h"
#include "NonFinite.h"
#include "glowish/Base/Comparison.h"
#include "glowish/Driver/TrainingCompilation.h"
#include "glowish/Importer/ModelFormat.h"

using namespace glowish;

Trainer::Trainer(Backend &backend, std::string path,
                 ImportOptions importOptions, const TrainingConfig &config,
                 const CompilationOptions &options)
    : backend(backend), path(std::move(path)),
      importOptions(std::move(importOptions)), config(config),
      options(options) {}
Trainer::~Trainer() = default;

llvm::Error Trainer::compileStep(InitializerKind initializer) {
  Compilation compilation(backend, options);
  GLOWISH_ASSIGN_OR_RETURN(
      ModelGraph graph,
      importForTraining(compilation, path, importOptions, values));
  avoidNames(config, graph.getModule());
  initializeVariables(graph.getModule(), initializer, config, values);
  GLOWISH_ASSIGN_OR_RETURN(step, makeStep(graph, values, config));
  GLOWISH_ASSIGN_OR_RETURN(stepProgram, compilation.compile(std::move(graph)));
  GLOWISH_ASSIGN_OR_RETURN(session, compilation.createSession(*stepProgram));
  GLOWISH_ASSIGN_OR_RETURN(label, session->findPlaceholder(config.label));
  GLOWISH_ASSIGN_OR_RETURN(loss, session->findPlaceholder(config.lossName));
  GLOWISH_ASSIGN_OR_RETURN(learningRate,
                           session->findPlaceholder(config.rateName));
  findPlaceholders();
  for (auto &[name, value] : values) {
    GLOWISH_RETURN_IF_ERROR(setVariable(name, *value));
    // The session has it now.
    value.reset();
  }
  return llvm::Error::success();
}

void Trainer::findPlaceholders() {
  for (const Buffer *buffer : session->getPlaceholders()) {
    if (!buffer->isInput() || buffer == label || buffer == learningRate)
      continue;
    bool isVariable = values.count(buffer->getModelName().str());
    (isVariable ? variables : inputs).push_back(buffer);
  }
}

llvm::Expected<std::unique_ptr<Trainer>>
Trainer::create(Backend &backend, llvm::StringRef path,
                ImportOptions importOptions, const TrainingConfig &config,
                const CompilationOptions &options,
                InitializerKind initializer) {
  std::unique_ptr<Trainer> trainer(new Trainer(
      backend, path.str(), std::move(importOptions), config, options));
  GLOWISH_RETURN_IF_ERROR(trainer->compileStep(initializer));
  return trainer;
}

llvm::Expected<double> Trainer::run(double rate) {
  session->getTensor(learningRate).setFromDouble(0, rate);
  GLOWISH_RETURN_IF_ERROR(session->run());
  return session->getTensor(loss).getAsDouble(0);
}

llvm::Error Trainer::setVariable(llvm::StringRef name, const Tensor &value) {
  GLOWISH_ASSIGN_OR_RETURN(const Buffer *variable,
                           session->findPlaceholder(name));
  return session->setInput(variable, value);
}

llvm::Error Trainer::writeWeights(llvm::StringRef file) const {
  GLOWISH_ASSIGN_OR_RETURN(const ModelFormat *format, getModelFormat(path));
  GLOWISH_ASSIGN_OR_RETURN(auto weights, format->openWeights(path));
  for (const Buffer *variable : variables)
    if (weights->has(variable->getModelName()))
      GLOWISH_RETURN_IF_ERROR(
          weights->set(variable->getModelName(), getVariable(variable)));
  return weights->write(file);
}

std::string Trainer::describeReductions() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const Instruction &instr : stepProgram->getIR().getInstrs())
    if (instr.getInfo().has(OpTrait::Collective))
      os << instr.getKindName() << ' ' << instr.getOperand(0)->getType().str()
         << '\n';
  return text;
}

bool Trainer::hasFiniteVariables() const {
  return llvm::all_of(variables, [&](const Buffer *variable) {
    return isFinite(getVariable(variable));
  });
}

llvm::Expected<std::string> Trainer::findNonFinite() {
  if (!finder) {
    GLOWISH_ASSIGN_OR_RETURN(
        finder, NonFiniteFinder::create(path, importOptions, config));
  }
  return finder->find(*session);
}

llvm::Error Trainer::compileInference() {
  VariableValues ownValues;
  ImportOptions silent = importOptions;
  silent.isRepeated = true;
  Compilation compilation(backend, options);
  GLOWISH_ASSIGN_OR_RETURN(
      ModelGraph graph,
      importForTraining(compilation, path, silent, ownValues));
  GLOWISH_RETURN_IF_ERROR(addSampleLosses(graph.getFunction(), config));
  GLOWISH_ASSIGN_OR_RETURN(inferenceProgram,
                           compilation.compile(std::move(graph)));
  GLOWISH_ASSIGN_OR_RETURN(inference,
                           compilation.createSession(*inferenceProgram));
  return llvm::Error::success();
}

llvm::Expected<Session *> Trainer::getInference() {
  if (!inference)
    GLOWISH_RETURN_IF_ERROR(compileInference());
  GLOWISH_RETURN_IF_ERROR(
      inference->copyInputs(*session, [&](const Buffer *input) {
        return !values.count(input->getModelName().str());
      }));
  return inference.get();
}
