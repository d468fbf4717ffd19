//===- TrainingSettings.cpp - How a model is trained ----------------------===//

#include "glowish/Compiler/TrainingSettings.h"
#include "llvm/Support/Regex.h"

using namespace glowish;

RematerializationConfig TrainingSettings::getRematerialization() const {
  return {rematerialize || rematerializeSegments, rematerializeSegments};
}

llvm::Expected<TrainingConfig> TrainingSettings::getConfig() const {
  TrainingConfig config;
  std::optional<LossKind> loss = parseLoss(lossName.getValue());
  if (!loss)
    return makeError("«loss={0}»: the losses are {1}", lossName.getValue(),
                     llvm::join(getLossNames(), ", "));
  std::optional<SolverKind> solver = parseSolver(solverName.getValue());
  if (!solver)
    return makeError("«solver={0}»: the solvers are {1}", solverName.getValue(),
                     llvm::join(getSolverNames(), ", "));
  config.loss = *loss;
  config.output = outputName;
  config.label = labelName;
  config.solver = {*solver, momentum, nesterov,  l1,          l2,
                   beta1,   beta2,    decayRate, std::nullopt};
  if (epsilon.isGiven())
    config.solver.epsilon = epsilon;
  config.clipNorm = clipNorm;
  config.seed = seed;
  if (frozen.empty())
    return config;
  auto regex = std::make_shared<llvm::Regex>(frozen.getValue());
  std::string problem;
  if (!regex->isValid(problem))
    return makeError("«frozen={0}»: {1}", frozen.getValue(), problem);
  config.isTrained = [regex](llvm::StringRef name) {
    return !regex->match(name);
  };
  return config;
}
