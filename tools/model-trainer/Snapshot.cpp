//===- Snapshot.cpp - Variables before an earlier step --------------------===//

#include "model-trainer/Snapshot.h"
#include "glowish/Support/Error.h"
#include <cmath>

using namespace glowish;

/// How many steps are made again, at most, when a loss is not finite.
static constexpr uint64_t interval = 32;

/// Variables that are not finite any more would not tell where that began.
void Snapshot::take(uint64_t newStep) {
  bool isFirst = variables.empty();
  if (!isFirst && (newStep % interval || !trainer.hasFiniteVariables()))
    return;
  if (isFirst)
    for (const Buffer *variable : trainer.getVariables())
      variables.push_back(Tensor(variable->getType()));
  step = newStep;
  for (auto [variable, kept] :
       llvm::zip_equal(trainer.getVariables(), variables))
    llvm::copy(trainer.getVariable(variable).getByteRange(),
               static_cast<uint8_t *>(kept.getBytes()));
}

/// What is not finite first, and in which process: the others get it by an
/// average.
llvm::Expected<std::string> Snapshot::findCause() {
  GLOWISH_ASSIGN_OR_RETURN(std::string cause, trainer.findNonFinite());
  if (!group)
    return cause;
  std::string first;
  for (auto [rank, each] : llvm::enumerate(group->gather(cause)))
    if (first.empty() && !each.empty())
      first = llvm::formatv("{0} on rank {1}", each, rank);
  group->broadcast(first);
  return first;
}

/// The step has overwritten the variables that it began with, and the step
/// before may have left some that are not finite. So both are made again, on
/// from the snapshot.
llvm::Error
Snapshot::explainNonFinite(double loss, uint64_t last,
                           llvm::function_ref<void(uint64_t)> fillStep,
                           llvm::function_ref<double(uint64_t)> getRate) {
  for (auto [variable, value] :
       llvm::zip_equal(trainer.getVariables(), variables))
    GLOWISH_RETURN_IF_ERROR(
        trainer.setVariable(variable->getModelName(), value));
  std::string cause;
  for (uint64_t number = step; number <= last; ++number) {
    fillStep(number);
    if (number + 1 >= last) {
      GLOWISH_ASSIGN_OR_RETURN(cause, findCause());
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
  llvm::Error error = makeError("the loss of step {0} is {1}: {2}", last + 1,
                                std::isnan(loss) ? "NaN" : "infinite", cause);
  return group ? group->agree(std::move(error)) : std::move(error);
}
