//===- TrainingCompilation.h - Bundles that learn ---------------*- C++ -*-===//

#ifndef GLOWISH_DRIVER_TRAININGCOMPILATION_H
#define GLOWISH_DRIVER_TRAININGCOMPILATION_H

#include "glowish/Autodiff/Training.h"
#include "glowish/Backends/CPU/Bundle.h"
#include "glowish/Driver/Compilation.h"

namespace glowish {

/// Imports the model at \p path with its weights as variables, whose initial
/// values go to \p variables.
llvm::Expected<std::unique_ptr<Compilation>>
importForTraining(Backend &backend, llvm::StringRef path,
                  ImportOptions importOptions, CompilationOptions options,
                  VariableValues &variables);

/// Renames the loss and the learning rate of \p config where \p module has an
/// input, output or variable of that name: "loss" becomes "training_loss".
void avoidNames(TrainingConfig &config, const Module &module);

/// Makes the function of \p compilation, as importForTraining() leaves it, one
/// that makes a step: makeTrainingStep() in its place.
llvm::Expected<TrainingStep> makeStep(Compilation &compilation,
                                      VariableValues &variables,
                                      const TrainingConfig &config);

/// A model compiled to infer and to learn: two programs on the same variables,
/// which have their constants in common.
class TrainingCompilation {
public:
  /// \p inference and \p step: what binds the dimensions of the inputs in each
  /// program. \p backend outlives this.
  static llvm::Expected<std::unique_ptr<TrainingCompilation>>
  compile(Backend &backend, llvm::StringRef path,
          const ImportOptions &inference, const ImportOptions &step,
          TrainingConfig config, const CompilationOptions &options);

  /// Whether both programs were compiled to the end.
  bool isComplete() const {
    return inference->isComplete() && step->isComplete();
  }
  /// This outlives what it returns.
  TrainingPrograms getPrograms() const;

private:
  TrainingCompilation() : constants(MemoryPlan::defaultAlignment) {}
  ConstantPool constants;
  VariableValues variables;
  std::unique_ptr<Compilation> inference, step;
};

} // namespace glowish

#endif // GLOWISH_DRIVER_TRAININGCOMPILATION_H
