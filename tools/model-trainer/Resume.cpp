//===- Resume.cpp - Going back to an earlier step -------------------------===//

#include "glowish/Support/Error.h"
#include "model-trainer/TrainingLoop.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>

using namespace glowish;

Checkpoint TrainingLoop::getCheckpoint() const {
  Checkpoint checkpoint;
  checkpoint.seed = options.seed;
  checkpoint.batchSize = options.batchSize;
  checkpoint.numSamples = training.getNumSamples();
  checkpoint.shuffles = options.shuffles;
  checkpoint.step = step;
  checkpoint.metrics = metrics;
  checkpoint.history = history;
  for (const Buffer *variable : trainer.getVariables())
    checkpoint.variables.push_back(
        {variable->getModelName().str(), trainer.getVariable(variable)});
  return checkpoint;
}

/// Whether the checkpoint goes through the same data in the same way.
static llvm::Error checkOptions(const Checkpoint &checkpoint,
                                const LoopOptions &options,
                                int64_t numSamples) {
  auto check = [](llvm::StringRef what, auto found,
                  auto expected) -> llvm::Error {
    if (found == expected)
      return llvm::Error::success();
    return makeError("the checkpoint is of a training with {0} {1}, not {2}",
                     what, found, expected);
  };
  auto getText = [](bool value) {
    return llvm::StringRef(value ? "true" : "false");
  };
  GLOWISH_RETURN_IF_ERROR(check("-seed", checkpoint.seed, options.seed));
  GLOWISH_RETURN_IF_ERROR(
      check("-batch-size", checkpoint.batchSize, options.batchSize));
  GLOWISH_RETURN_IF_ERROR(check("-shuffle", getText(checkpoint.shuffles),
                                getText(options.shuffles)));
  return check("a number of samples of", checkpoint.numSamples, numSamples);
}

llvm::Error TrainingLoop::restore(const Checkpoint &checkpoint) {
  GLOWISH_RETURN_IF_ERROR(
      checkOptions(checkpoint, options, training.getNumSamples()));
  llvm::StringMap<const Tensor *> values;
  for (const Checkpoint::Variable &variable : checkpoint.variables)
    values[variable.name] = &variable.value;
  if (values.size() != trainer.getVariables().size())
    return makeError("the checkpoint has {0} variables, the model and its "
                     "solver have {1}",
                     values.size(), trainer.getVariables().size());
  for (const Buffer *variable : trainer.getVariables()) {
    llvm::StringRef name = variable->getModelName();
    const Tensor *value = values.lookup(name);
    if (!value)
      return makeError("the checkpoint has no variable '{0}': it is of another "
                       "model or solver",
                       name);
    if (llvm::Error error = trainer.setVariable(name, *value))
      return addContext(std::move(error), "the checkpoint: ");
  }
  step = checkpoint.step;
  metrics = checkpoint.metrics;
  history = checkpoint.history;
  return llvm::Error::success();
}

/// How many steps are made again, at most, when a loss is not finite.
static constexpr uint64_t snapshotInterval = 32;

/// Variables that are not finite any more would not tell where that began.
void TrainingLoop::takeSnapshot() {
  if (snapshot && step % snapshotInterval)
    return;
  if (snapshot && !trainer.hasFiniteVariables())
    return;
  auto variables = trainer.getVariables();
  if (!snapshot) {
    snapshot = Snapshot{0, {}};
    for (const Buffer *variable : variables)
      snapshot->variables.push_back(Tensor(variable->getType()));
  }
  snapshot->step = step;
  for (auto [variable, kept] : llvm::zip_equal(variables, snapshot->variables))
    llvm::copy(trainer.getVariable(variable).getByteRange(),
               static_cast<uint8_t *>(kept.getBytes()));
}

/// The step has overwritten the variables that it began with, and the step
/// before may have left some that are not finite. So both are made again, on
/// from the snapshot.
llvm::Error TrainingLoop::explainNonFinite(double loss) {
  uint64_t last = step;
  for (auto [variable, value] :
       llvm::zip_equal(trainer.getVariables(), snapshot->variables))
    GLOWISH_RETURN_IF_ERROR(
        trainer.setVariable(variable->getModelName(), value));
  std::string cause;
  for (uint64_t number = snapshot->step; number <= last; ++number) {
    fillStep(number);
    if (number + 1 >= last) {
      GLOWISH_ASSIGN_OR_RETURN(cause, trainer.findNonFinite());
      if (!cause.empty()) {
        cause = llvm::formatv("the first value that is not finite is that of "
                              "{0}, in step {1}",
                              cause, number + 1);
        break;
      }
    }
    GLOWISH_RETURN_IF_ERROR(trainer.run(getRate(number)).takeError());
  }
  if (cause.empty())
    cause = "the interpreter computes no such value";
  return makeError("the loss of step {0} is {1}: {2}", last + 1,
                   std::isnan(loss) ? "NaN" : "infinite", cause);
}
