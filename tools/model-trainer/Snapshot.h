//===- Snapshot.h - Variables before an earlier step ------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_MODEL_TRAINER_SNAPSHOT_H
#define GLOWISH_TOOLS_MODEL_TRAINER_SNAPSHOT_H

#include "glowish/Distributed/ProcessGroup.h"
#include "glowish/Driver/Trainer.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace glowish {

/// The variables of a training before an earlier step, all of them finite, from
/// where steps can be made again that lead to a loss that is not.
class Snapshot {
public:
  /// \p trainer outlives the snapshot. \p group: the processes that make the
  /// steps together; null for this one alone.
  explicit Snapshot(Trainer &trainer, ProcessGroup *group = nullptr)
      : trainer(trainer), group(group) {}

  /// Keeps the variables before \p step, from time to time.
  void take(uint64_t step);
  /// After the loss of step \p last, which is not finite: an error that names
  /// the node where that began, and the rank; an AgreedError in a group, whose
  /// processes all call this. \p fillStep fills in the data of a step,
  /// \p getRate says how fast it learns.
  llvm::Error explainNonFinite(double loss, uint64_t last,
                               llvm::function_ref<void(uint64_t)> fillStep,
                               llvm::function_ref<double(uint64_t)> getRate);

private:
  llvm::Expected<std::string> findCause();

  Trainer &trainer;
  ProcessGroup *group;
  uint64_t step = 0;
  /// Empty before the first one is taken.
  std::vector<Tensor> variables;
};

} // namespace glowish

#endif // GLOWISH_TOOLS_MODEL_TRAINER_SNAPSHOT_H
