//===- Trainer.cpp - Training a model in this process ---------------------===//

#include "glowish/Driver/Trainer.h"

using namespace glowish;

/// Imports the model, with its weights as variables.
static llvm::Expected<std::unique_ptr<Compilation>>
importForTraining(Backend &backend, llvm::StringRef path,
                  ImportOptions importOptions, CompilationOptions options,
                  VariableValues &values) {
  auto compilation = std::make_unique<Compilation>(backend, std::move(options));
  importOptions.variables = &values;
  GLOWISH_CHECK(compilation->import(path, std::move(importOptions)));
  return compilation;
}

llvm::Error Trainer::compileStep() {
  GLOWISH_TRY(compilation,
              importForTraining(backend, path, importOptions, options, values));
  Function &function = compilation->getFunction();
  GLOWISH_TRY(step, makeTrainingStep(function, values, config));
  compilation->getModule().eraseFunction(&function);
  // The placeholders go with the module.
  std::string names[] = {step.label->getModelName().str(),
                         step.loss->getModelName().str(),
                         step.learningRate->getModelName().str()};
  step.label = step.loss = step.learningRate = nullptr;
  step.function = nullptr;
  GLOWISH_CHECK(compilation->run());
  GLOWISH_TRY(session, Session::create(*compilation));
  const Buffer **buffers[] = {&label, &loss, &learningRate};
  for (auto [name, buffer] : llvm::zip_equal(names, buffers)) {
    GLOWISH_TRY(*buffer, session->findPlaceholder(name));
  }
  findPlaceholders();
  for (const auto &[name, value] : values)
    GLOWISH_CHECK(setVariable(name, *value));
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
                const CompilationOptions &options) {
  std::unique_ptr<Trainer> trainer(new Trainer(
      backend, path.str(), std::move(importOptions), config, options));
  GLOWISH_CHECK(trainer->compileStep());
  return trainer;
}

llvm::Expected<double> Trainer::run(double rate) {
  session->getTensor(learningRate).setFromDouble(0, rate);
  GLOWISH_CHECK(session->run());
  return session->getTensor(loss).getAsDouble(0);
}

llvm::Error Trainer::setVariable(llvm::StringRef name, const Tensor &value) {
  GLOWISH_TRY(const Buffer *variable, session->findPlaceholder(name));
  return session->setInput(variable, value);
}

llvm::Error Trainer::compileInference() {
  VariableValues ownValues;
  ImportOptions silent = importOptions;
  silent.warn = nullptr;
  GLOWISH_TRY(inferenceCompilation,
              importForTraining(backend, path, silent, options, ownValues));
  GLOWISH_CHECK(addSampleLosses(inferenceCompilation->getFunction(), config));
  GLOWISH_CHECK(inferenceCompilation->run());
  GLOWISH_TRY(inference, Session::create(*inferenceCompilation));
  return llvm::Error::success();
}

llvm::Expected<Session *> Trainer::getInference() {
  if (!inference)
    GLOWISH_CHECK(compileInference());
  for (const Buffer *buffer : inference->getPlaceholders()) {
    if (!values.count(buffer->getModelName().str()))
      continue;
    GLOWISH_TRY(const Buffer *variable,
                session->findPlaceholder(buffer->getModelName()));
    GLOWISH_CHECK(inference->setInput(buffer, getVariable(variable)));
  }
  return inference.get();
}
