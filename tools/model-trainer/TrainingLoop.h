//===- TrainingLoop.h - Epochs of steps -------------------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_MODEL_TRAINER_TRAININGLOOP_H
#define GLOWISH_TOOLS_MODEL_TRAINER_TRAININGLOOP_H

#include "glowish/Distributed/ProcessGroup.h"
#include "glowish/Driver/Trainer.h"
#include "model-trainer/Checkpoint.h"
#include "model-trainer/DataSet.h"
#include "model-trainer/LossLog.h"
#include "model-trainer/Snapshot.h"
#include <optional>

namespace glowish {

struct LoopOptions {
  /// Of a step, of all processes together.
  int64_t batchSize = 32;
  /// Both count from the beginning of the training; no limit to steps where
  /// they are 0.
  uint64_t numEpochs = 1, numSteps = 0;
  uint64_t seed = 0;
  bool shuffles = true;
  double learningRate = 0.01;
  /// A factor of the learning rate after each epoch.
  double learningRateDecay = 1;
  /// The processes that make each step together, for which the trainer is
  /// compiled (TrainingProcesses); null for this one alone.
  ProcessGroup *group = nullptr;

  /// The samples of a step that this process learns from.
  int64_t getPartSize() const {
    return group ? batchSize / group->getSize() : batchSize;
  }
};

/// Iterates over the batches and epochs of data. A step is a function of the
/// options, the number of the step and the variables. Samples at the end of an
/// epoch that do not fill a batch are dropped. In a group all processes have
/// the same data and draw the same order, and each learns from its part of each
/// batch; results are those of all.
class TrainingLoop {
public:
  /// \p trainer outlives the loop. The error names data that do not fit the
  /// model: shapes, kinds, labels that are no classes, too few samples.
  static llvm::Expected<std::unique_ptr<TrainingLoop>>
  create(Trainer &trainer, DataSet training, std::optional<DataSet> validation,
         const LoopOptions &options);

  bool isDone() const { return step >= getLastStep(); }
  /// Makes the steps to the end of the epoch, or to the last one. \p log gets
  /// each loss.
  llvm::Expected<EpochResult> runEpoch(LossLog &log);

  /// The epochs that are over, the last one perhaps in part.
  llvm::ArrayRef<EpochResult> getHistory() const { return history; }

  /// All that the steps to come depend on, how many processes there are left
  /// out. Variables are borrowed.
  Checkpoint getCheckpoint() const;
  /// Goes on where \p checkpoint was taken, to the same bits. The error names
  /// what differs: options, data or variables.
  llvm::Error restore(const Checkpoint &checkpoint);

  /// Adds to \p result how well the model does on the data that are not learned
  /// from, if there are any.
  llvm::Error validate(EpochResult &result);

  /// What the steps of all processes of a group must have in common: options,
  /// and a checksum of the data.
  std::string describe() const;

  uint64_t getStep() const { return step; }
  uint64_t getStepsPerEpoch() const {
    return uint64_t(training.getNumSamples() / options.batchSize);
  }
  const Trainer &getTrainer() const { return trainer; }

private:
  /// The arrays of a data set, and where their batches go in a program.
  struct Binding {
    const SampleArray *array;
    const Buffer *buffer;
  };
  using Bindings = std::vector<Binding>;

  TrainingLoop(Trainer &trainer, DataSet training,
               std::optional<DataSet> validation, const LoopOptions &options)
      : trainer(trainer), training(std::move(training)),
        validation(std::move(validation)), options(options),
        snapshot(trainer, options.group) {}
  llvm::Error prepare();
  llvm::Expected<Bindings> bind(const Session &session,
                                const DataSet &data) const;
  llvm::Error checkClasses(const DataSet &data) const;
  uint64_t getLastStep() const;
  /// The samples of this process.
  llvm::ArrayRef<int64_t> getRows(uint64_t step);
  double getRate(uint64_t step) const;
  void fillStep(uint64_t step);
  llvm::Expected<double> runStep();
  llvm::Expected<EpochResult> runSteps(LossLog &log);
  llvm::Error validateBatch(int64_t first, std::vector<double> &losses,
                            Metrics &sums);
  std::vector<double> gatherLosses(const std::vector<double> &losses) const;
  /// Adds what the other processes have counted.
  void sumOverGroup(Metrics &metrics);

  Trainer &trainer;
  DataSet training;
  std::optional<DataSet> validation;
  LoopOptions options;
  Bindings bindings, validationBindings;
  /// Whether the labels are classes of the prediction.
  bool hasClasses = false;
  /// The order of the samples, and the epoch that it is of.
  std::vector<int64_t> order;
  std::optional<uint64_t> orderEpoch;
  /// Steps that have been made.
  uint64_t step = 0;
  /// Of the epoch so far: of all processes, and what this one has counted since
  /// it was last added.
  Metrics metrics, own;
  std::vector<EpochResult> history;
  Snapshot snapshot;
};

} // namespace glowish

#endif // GLOWISH_TOOLS_MODEL_TRAINER_TRAININGLOOP_H
