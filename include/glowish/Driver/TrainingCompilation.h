//===- TrainingCompilation.h - Compiles training bundles --------*- C++ -*-===//

#ifndef GLOWISH_DRIVER_TRAININGCOMPILATION_H
#define GLOWISH_DRIVER_TRAININGCOMPILATION_H

#include "glowish/Autodiff/Training.h"
#include "glowish/Backends/Bundle.h"
#include "glowish/Driver/Compilation.h"

namespace glowish {

/// Imports the model at \p path with its weights as variables, whose initial
/// values go to \p variables, and prepares it for differentiation.
llvm::Expected<ModelGraph> importForTraining(Compilation &compilation,
                                             llvm::StringRef path,
                                             ImportOptions importOptions,
                                             VariableValues &variables);

/// Renames the loss, the learning rate and the gradients of \p config where
/// \p module has an input, output or variable of that name: "loss" becomes
/// "training_loss".
void avoidNames(TrainingConfig &config, const Module &module);

/// Makes the function of \p graph, as importForTraining() leaves it, one that
/// makes a step: makeTrainingStep() in its place.
llvm::Expected<TrainingStep> makeStep(ModelGraph &graph,
                                      VariableValues &variables,
                                      const TrainingConfig &config);

/// A model compiled to infer and to learn: programs on the same variables,
/// which have their constants in common.
class TrainingCompilation {
public:
  /// \p inference and \p step: what binds the dimensions of the inputs in each
  /// program. \p backend outlives this. Null where options.stopAfter comes
  /// before the plan. \p hasExternalGradients: a step is two programs, one that
  /// computes gradients and one that updates; else one program.
  static llvm::Expected<std::optional<TrainingCompilation>>
  compile(Backend &backend, llvm::StringRef path,
          const ImportOptions &inference, const ImportOptions &step,
          TrainingConfig config, const CompilationOptions &options,
          bool hasExternalGradients = false);

  /// This outlives what it returns, and stays where it is.
  TrainingPrograms getPrograms() const;

private:
  TrainingCompilation() = default;

  /// That for inference, and those of a step.
  std::vector<PlannedProgram> programs;
  VariableValues variables;
  TrainingStep step;
};

} // namespace glowish

#endif // GLOWISH_DRIVER_TRAININGCOMPILATION_H
