//===- Trainer.h - Training a model in this process -------------*- C++ -*-===//

#ifndef GLOWISH_DRIVER_TRAINER_H
#define GLOWISH_DRIVER_TRAINER_H

#include "glowish/Autodiff/Initializers.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Driver/Session.h"

namespace glowish {

class NonFiniteFinder;

/// A model whose variables change step by step, compiled for batches of one
/// size. A second program infers with the variables as they are.
class Trainer {
public:
  ~Trainer();

  /// Imports the model at \p path and compiles a step of it. \p backend
  /// outlives the trainer. \p importOptions say which extents the inputs have;
  /// their `variables` is filled in. \p initializer: what the variables begin
  /// with.
  static llvm::Expected<std::unique_ptr<Trainer>>
  create(Backend &backend, llvm::StringRef path, ImportOptions importOptions,
         const TrainingConfig &config, const CompilationOptions &options,
         InitializerKind initializer = InitializerKind::Keep);

  /// The program of one step: its inputs are the model's, the label, the
  /// learning rate and the variables.
  Session &getSession() { return *session; }
  const TrainingStep &getStep() const { return step; }
  /// With the names that loss and learning rate have (avoidNames).
  const TrainingConfig &getConfig() const { return config; }
  /// Of the model, without variables, label and learning rate.
  llvm::ArrayRef<const Buffer *> getInputs() const { return inputs; }
  const Buffer *getLabel() const { return label; }

  /// One step with the inputs and the label that the session has been given.
  /// Returns the loss from before it.
  llvm::Expected<double> run(double learningRate);

  /// All that changes: the model's variables, what the solver keeps, and the
  /// number of steps, in the program's order.
  llvm::ArrayRef<const Buffer *> getVariables() const { return variables; }
  /// The present value, borrowed.
  Tensor getVariable(const Buffer *variable) const {
    return session->getTensor(variable);
  }
  /// The error names variable and both types.
  llvm::Error setVariable(llvm::StringRef name, const Tensor &value);
  /// Writes the model, which is of a format with ModelFormat::openWeights, with
  /// the present weights to \p file. Weights that nothing reads have no
  /// variable and stay as they are.
  llvm::Error writeWeights(llvm::StringRef file) const;

  /// The sizes and kinds of all that a step averages over the processes, in
  /// their order, as text: the same in all processes that can make a step
  /// together.
  std::string describeReductions() const;

  /// Whether no variable has an infinity or NaN.
  bool hasFiniteVariables() const;

  /// After a loss or variables that are not finite: describes the node that
  /// makes the first such value in the step that the session has been given,
  /// with the variables as they are, which it does not change. Empty where all
  /// are finite. Runs on the interpreter.
  llvm::Expected<std::string> findNonFinite();

  /// The program that infers, with the present values of the variables: its
  /// inputs are those of the model and the label, its outputs those of the
  /// model and the samples' losses (addSampleLosses). Compiled at the first
  /// call.
  llvm::Expected<Session *> getInference();

private:
  Trainer(Backend &backend, std::string path, ImportOptions importOptions,
          const TrainingConfig &config, const CompilationOptions &options);
  llvm::Error compileStep(InitializerKind initializer);
  llvm::Error compileInference();
  void findPlaceholders();

  Backend &backend;
  std::string path;
  ImportOptions importOptions;
  TrainingConfig config;
  CompilationOptions options;
  VariableValues values;
  TrainingStep step;
  std::optional<PlannedProgram> stepProgram, inferenceProgram;
  std::unique_ptr<Session> session, inference;
  std::unique_ptr<NonFiniteFinder> finder;
  std::vector<const Buffer *> inputs, variables;
  const Buffer *label = nullptr, *loss = nullptr, *learningRate = nullptr;
};

} // namespace glowish

#endif // GLOWISH_DRIVER_TRAINER_H
