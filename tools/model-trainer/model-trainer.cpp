//===- model-trainer.cpp - Trains a model ---------------------------------===//

#include "common/CommonOptions.h"
#include "common/Processes.h"
#include "common/StatedInputs.h"
#include "common/Tool.h"
#include "glowish/Support/File.h"
#include "glowish/Support/Progress.h"
#include "model-trainer/DataFolder.h"
#include "model-trainer/LossCurve.h"
#include "model-trainer/Options.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include <chrono>
#include <cmath>

using namespace glowish;

/// The data to learn from and those to validate with.
struct SplitData {
  DataSet training;
  std::optional<DataSet> validation;
};

/// Separates the share of -validation from \p data: drawn with the seed, or the
/// last samples where the order is kept.
static llvm::Expected<SplitData> split(DataSet data,
                                       const TrainerOptions &options) {
  int64_t count = data.getNumSamples();
  int64_t numLeft =
      count - int64_t(std::llround(double(count) * options.validationShare));
  if (numLeft == count || numLeft == 0)
    return makeError("-validation={0}: of {1} samples, that leaves {2} to "
                     "learn from and {3} to validate with",
                     options.validationShare, count, numLeft, count - numLeft);
  constexpr uint64_t noEpoch = ~uint64_t(0);
  std::vector<int64_t> order =
      shuffleSamples(count, options.loop.seed, noEpoch);
  if (!options.loop.shuffles)
    llvm::sort(order);
  llvm::ArrayRef<int64_t> rows(order);
  SplitData result;
  result.training = selectSamples(data, rows.take_front(size_t(numLeft)));
  result.validation = selectSamples(data, rows.drop_front(size_t(numLeft)));
  return result;
}

static llvm::Expected<SplitData> readData(const TrainerOptions &options,
                                          const ImportOptions &importOptions) {
  DataRequest request;
  GLOWISH_ASSIGN_OR_RETURN(request.inputs,
                           readStatedInputs(getModelPath(), importOptions));
  request.label = options.config.label;
  request.images = options.images;
  GLOWISH_ASSIGN_OR_RETURN(DataSet data, readDataSet(options.data, request));
  if (options.validationShare > 0)
    return split(std::move(data), options);
  SplitData result = {std::move(data), std::nullopt};
  if (!options.validation.empty()) {
    GLOWISH_ASSIGN_OR_RETURN(result.validation,
                             readDataSet(options.validation, request));
    if (result.validation->classes != result.training.classes)
      return makeError("'{0}' and '{1}' have different classes",
                       options.validation, options.data);
  }
  return result;
}

/// Adds the shapes of batches of \p data to the import options.
static void stateTypes(const DataSet &data, int64_t batchSize,
                       ImportOptions &importOptions, TrainingConfig &config) {
  auto getBatchShape = [&](const SampleArray &array) {
    Dims shape = {batchSize};
    llvm::append_range(shape, array.getSampleShape());
    return shape;
  };
  for (const SampleArray &input : data.inputs)
    importOptions.givenTypes.try_emplace(
        input.name,
        Type(input.values.getType().getKind(), getBatchShape(input)));
  bool isFloat = isFloatKind(data.label.values.getType().getKind());
  config.labelKind = isFloat ? ElemKind::Float : ElemKind::Int64;
  // Classes of pixels, whose dimension may be the second or the last one.
  if (!isFloat && data.label.getSampleShape().size() > 1 &&
      config.loss == LossKind::SoftmaxCrossEntropy)
    config.labelShape = getBatchShape(data.label);
}

static void printEpoch(const EpochResult &result) {
  auto print = [](llvm::StringRef name, std::optional<double> loss,
                  std::optional<double> accuracy) {
    if (loss)
      llvm::outs() << "  " << name << "loss " << llvm::format("%.5g", *loss);
    if (accuracy)
      llvm::outs() << llvm::formatv("  {0}accuracy {1:F2} %", name,
                                    100 * *accuracy);
  };
  llvm::outs() << llvm::formatv("epoch {0,3}", result.epoch);
  if (result.epoch)
    print("", result.loss, result.accuracy);
  print("validation ", result.validationLoss, result.validationAccuracy);
  llvm::outs() << llvm::formatv("  {0:F1} s", result.seconds);
  if (result.secondsPerStep)
    llvm::outs() << llvm::formatv(", {0:F2} ms a step",
                                  1e3 * result.secondsPerStep);
  llvm::outs() << "\n";
  llvm::outs().flush();
}

/// Whether the files can be written that the training ends with, or each
/// epoch: what can't be should not be found out after hours. Leaves nothing
/// behind. Devices and pipes are left alone: opening one can have an effect.
static llvm::Error checkResultPaths(const TrainerOptions &options) {
  for (const std::string &path :
       {options.savePath, options.checkpointPath, options.lossCurvePath}) {
    bool isOther = llvm::sys::fs::exists(path) &&
                   !llvm::sys::fs::is_directory(path) &&
                   !llvm::sys::fs::is_regular_file(path);
    if (path.empty() || isOther)
      continue;
    OutputFiles files;
    GLOWISH_RETURN_IF_ERROR(files.add(path).takeError());
  }
  return llvm::Error::success();
}

/// What is written after an epoch.
static llvm::Error writeResults(TrainingLoop &loop,
                                const TrainerOptions &options) {
  if (!options.checkpointPath.empty())
    GLOWISH_RETURN_IF_ERROR(
        writeCheckpoint(loop.getCheckpoint(), options.checkpointPath));
  if (!options.lossCurvePath.empty())
    GLOWISH_RETURN_IF_ERROR(
        writeFile(options.lossCurvePath,
                  drawLossCurve(loop.getHistory(),
                                llvm::sys::path::filename(getModelPath()))));
  if (options.saveEveryEpoch && !options.savePath.empty())
    return loop.getTrainer().writeWeights(options.savePath);
  return llvm::Error::success();
}

static llvm::Error runEpochs(TrainingLoop &loop, LossLog &log,
                             const TrainerOptions &options) {
  if (loop.isDone()) {
    EpochResult present;
    GLOWISH_RETURN_IF_ERROR(loop.validate(present));
    if (present.validationLoss)
      printEpoch(present);
  }
  while (!loop.isDone()) {
    GLOWISH_ASSIGN_OR_RETURN(EpochResult result, loop.runEpoch(log));
    printEpoch(result);
    GLOWISH_RETURN_IF_ERROR(
        agree(options.loop.group, writeResults(loop, options)));
  }
  return llvm::Error::success();
}

/// How much of a step is communication.
static void printReport(const ProcessGroup &group, uint64_t numSteps,
                        double seconds) {
  ReductionStatistics statistics = group.getStatistics();
  double steps = double(std::max<uint64_t>(numSteps, 1));
  llvm::outs() << llvm::formatv(
      "communication of {0} processes: {1:F0} bytes in {2:F0} reductions a "
      "step; {3:F3} ms of a step of {4:F3} ms, of which it waited for {5:F3} "
      "ms ({6:F1} %)\n",
      group.getSize(), double(statistics.bytes) / steps,
      double(statistics.count) / steps, 1e3 * statistics.busySeconds / steps,
      1e3 * seconds / steps, 1e3 * statistics.waitSeconds / steps,
      100 * statistics.waitSeconds / std::max(seconds, 1e-9));
}

namespace {

/// All that is there before the first step.
struct Training {
  TrainerOptions options;
  PhaseTimer timer;
  PreparedTraining prepared;
  std::unique_ptr<Trainer> trainer;
  std::unique_ptr<TrainingLoop> loop;
};

} // namespace

/// Divides the batch among the processes of \p group, of which the first writes
/// files.
static llvm::Error divideBatch(TrainerOptions &options,
                               ImportOptions &importOptions,
                               ProcessGroup *group) {
  options.loop.group = group;
  if (!group)
    return llvm::Error::success();
  int64_t size = group->getSize(), batch = options.loop.batchSize;
  if (batch % size)
    return makeError("-batch-size={0}: accepted: a multiple of {1}, the number "
                     "of processes",
                     batch, size);
  options.config.processes.size = group->getSize();
  options.config.processes.rank = group->getRank();
  for (auto &[name, type] : importOptions.inputTypes) {
    Dims shape(type.getShape());
    if (shape.empty() || shape.front() != batch)
      continue;
    shape.front() = batch / size;
    type = type.withShape(shape);
  }
  if (group->isFirst())
    return llvm::Error::success();
  importOptions.isRepeated = true;
  for (std::string *path : {&options.savePath, &options.lossLogPath,
                            &options.lossCurvePath, &options.checkpointPath})
    path->clear();
  return llvm::Error::success();
}

/// Reads -resume; all processes get what the first one has read.
static llvm::Error resume(Training &training) {
  const std::string &path = training.options.resumePath;
  ProcessGroup *group = training.options.loop.group;
  if (path.empty())
    return llvm::Error::success();
  std::string bytes;
  llvm::Error error = llvm::Error::success();
  if (isFirst(group)) {
    if (auto file = readFile(path))
      bytes = (*file)->getBuffer().str();
    else
      error = file.takeError();
  }
  GLOWISH_RETURN_IF_ERROR(agree(group, std::move(error)));
  if (group)
    group->broadcast(bytes);
  GLOWISH_ASSIGN_OR_RETURN(Checkpoint checkpoint, parseCheckpoint(bytes, path));
  return addContext(training.loop->restore(checkpoint), "'" + path + "': ");
}

/// Makes sure that the processes begin with the same variables, samples and
/// steps.
static llvm::Error synchronize(Training &training) {
  ProcessGroup *group = training.options.loop.group;
  if (!group)
    return llvm::Error::success();
  GLOWISH_RETURN_IF_ERROR(
      group->checkEqual(training.trainer->describeReductions(), "a program"));
  GLOWISH_RETURN_IF_ERROR(
      group->checkEqual(training.loop->describe(), "data or options"));
  for (const Buffer *variable : training.trainer->getVariables()) {
    Tensor value = training.trainer->getVariable(variable);
    group->broadcast({static_cast<uint8_t *>(value.getBytes()),
                      size_t(value.getType().getSizeInBytes())});
  }
  return llvm::Error::success();
}

static llvm::Error prepare(Training &training, ProcessGroup *group) {
  GLOWISH_ASSIGN_OR_RETURN(ModelCompiler compiler,
                           createModelCompiler(training.timer));
  if (compiler.getDeveloperOptions().options.stopAfter)
    return makeError("-stop-after is not for training");
  PreparedTraining &prepared = training.prepared;
  GLOWISH_ASSIGN_OR_RETURN(prepared, compiler.prepareTraining());
  ImportOptions &importOptions = prepared.importOptions;
  TrainerOptions &options = training.options;
  GLOWISH_ASSIGN_OR_RETURN(options,
                           getTrainerOptions(std::move(prepared.config)));
  GLOWISH_RETURN_IF_ERROR(divideBatch(options, importOptions, group));
  GLOWISH_RETURN_IF_ERROR(checkResultPaths(options));
  GLOWISH_ASSIGN_OR_RETURN(SplitData data, readData(options, importOptions));
  stateTypes(data.training, options.loop.getPartSize(), importOptions,
             options.config);
  {
    Progress progress;
    progress.show("compiling");
    GLOWISH_ASSIGN_OR_RETURN(
        training.trainer,
        Trainer::create(*prepared.backend, prepared.path, importOptions,
                        options.config, prepared.options, options.initializer));
  }
  int64_t numLeftOver = data.training.getNumSamples() % options.loop.batchSize;
  GLOWISH_ASSIGN_OR_RETURN(
      training.loop,
      TrainingLoop::create(*training.trainer, std::move(data.training),
                           std::move(data.validation), options.loop));
  if (numLeftOver && isFirst(group))
    llvm::errs() << llvm::formatv(
        "note: each epoch leaves out {0} samples, less than a batch\n",
        numLeftOver);
  return llvm::Error::success();
}

static llvm::Error train(Training &training) {
  const TrainerOptions &options = training.options;
  ProcessGroup *group = options.loop.group;
  auto start = std::chrono::steady_clock::now();
  uint64_t firstStep = training.loop->getStep();
  LossLog log;
  GLOWISH_RETURN_IF_ERROR(agree(group, log.open(options.lossLogPath)));
  llvm::Error error = runEpochs(*training.loop, log, options);
  // Keep the log of the steps before an error.
  error = llvm::joinErrors(std::move(error), log.commit());
  if (error)
    return error;
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  if (options.reportsCommunication && group)
    printReport(*group, training.loop->getStep() - firstStep, time.count());
  if (options.savePath.empty())
    return agree(group, llvm::Error::success());
  return agree(group, training.trainer->writeWeights(options.savePath));
}

static llvm::Expected<int> runTrainer(ProcessGroup *group) {
  Training training;
  GLOWISH_RETURN_IF_ERROR(agree(group, prepare(training, group)));
  GLOWISH_RETURN_IF_ERROR(agree(group, resume(training)));
  GLOWISH_RETURN_IF_ERROR(synchronize(training));
  GLOWISH_RETURN_IF_ERROR(train(training));
  if (isFirst(group))
    reportTime(training.timer);
  return ExitCode::success;
}

int main(int argc, char **argv) {
  return runGroupTool(argc, argv,
                      "Trains a model in this process and saves it.\n",
                      {&modelCategory, &trainingCategory, &dataCategory,
                       &resultCategory, &targetCategory, &debugCategory},
                      runTrainer);
}
