//===- model-trainer.cpp - Trains a model ---------------------------------===//

#include "common/CommonOptions.h"
#include "common/Tool.h"
#include "glowish/Importer/ModelFormat.h"
#include "glowish/Importer/OnnxWeights.h"
#include "glowish/Support/File.h"
#include "glowish/Support/Progress.h"
#include "model-trainer/DataFolder.h"
#include "model-trainer/LossCurve.h"
#include "model-trainer/Options.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
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
  GLOWISH_ASSIGN_OR_RETURN(OnnxModel model, OnnxModel::read(getModelPath()));
  DataRequest request;
  GLOWISH_ASSIGN_OR_RETURN(request.inputs,
                           model.getStatedInputs(importOptions));
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

/// The model with the trained weights. Initializers that nothing reads have no
/// variable.
static llvm::Error saveModel(const Trainer &trainer, llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(OnnxWeights weights,
                           OnnxWeights::read(getModelPath()));
  for (const Buffer *variable : trainer.getVariables())
    if (weights.has(variable->getModelName()))
      GLOWISH_RETURN_IF_ERROR(
          weights.set(variable->getModelName(), trainer.getVariable(variable)));
  return weights.write(path);
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
    if (!options.checkpointPath.empty())
      GLOWISH_RETURN_IF_ERROR(
          writeCheckpoint(loop.getCheckpoint(), options.checkpointPath));
    if (!options.lossCurvePath.empty())
      GLOWISH_RETURN_IF_ERROR(
          writeFile(options.lossCurvePath,
                    drawLossCurve(loop.getHistory(),
                                  llvm::sys::path::filename(getModelPath()))));
    if (options.saveEveryEpoch)
      GLOWISH_RETURN_IF_ERROR(saveModel(loop.getTrainer(), options.savePath));
  }
  return llvm::Error::success();
}

static llvm::Error train(Trainer &trainer, SplitData data,
                         const TrainerOptions &options) {
  int64_t numLeftOver = data.training.getNumSamples() % options.loop.batchSize;
  GLOWISH_ASSIGN_OR_RETURN(
      std::unique_ptr<TrainingLoop> loop,
      TrainingLoop::create(trainer, std::move(data.training),
                           std::move(data.validation), options.loop));
  if (numLeftOver)
    llvm::errs() << llvm::formatv(
        "note: each epoch leaves out {0} samples, less than a batch\n",
        numLeftOver);
  if (!options.resumePath.empty()) {
    GLOWISH_ASSIGN_OR_RETURN(Checkpoint checkpoint,
                             readCheckpoint(options.resumePath));
    if (llvm::Error error = loop->restore(checkpoint))
      return addContext(std::move(error), "'" + options.resumePath + "': ");
  }
  LossLog log;
  GLOWISH_RETURN_IF_ERROR(log.open(options.lossLogPath));
  llvm::Error error = runEpochs(*loop, log, options);
  // Keep the log of the steps before an error.
  error = llvm::joinErrors(std::move(error), log.commit());
  if (error)
    return error;
  if (!options.savePath.empty())
    return saveModel(trainer, options.savePath);
  return llvm::Error::success();
}

static llvm::Expected<int> runTrainer() {
  GLOWISH_RETURN_IF_ERROR(checkModelPath());
  if (const ModelFormat &format = getModelFormat(getModelPath()); format.isPath)
    return makeError("'{0}' is a {1} model, and trained weights go to an ONNX "
                     "file; `model-compiler -emit-onnx=FILE` makes one of it",
                     getModelPath(), format.name);
  PhaseTimer timer;
  GLOWISH_ASSIGN_OR_RETURN(TrainerOptions options, getTrainerOptions());
  GLOWISH_ASSIGN_OR_RETURN(ImportOptions importOptions, getImportOptions());
  GLOWISH_ASSIGN_OR_RETURN(CompilationOptions compilationOptions,
                           getCompilationOptions(timer));
  if (compilationOptions.stopAfter)
    return makeError("-stop-after is not for training");
  compilationOptions.rematerialization = getRematerialization();
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend,
                           createLocalBackend(/*stopAfter=*/std::nullopt));
  GLOWISH_RETURN_IF_ERROR(checkResultPaths(options));
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<KernelTuner> tuner,
                           createTuner(*backend));
  compilationOptions.tuner = tuner.get();
  GLOWISH_ASSIGN_OR_RETURN(SplitData data, readData(options, importOptions));
  stateTypes(data.training, options.loop.batchSize, importOptions,
             options.config);
  std::unique_ptr<Trainer> trainer;
  {
    Progress progress;
    progress.show("compiling");
    GLOWISH_ASSIGN_OR_RETURN(
        trainer,
        Trainer::create(*backend, getModelPath(), importOptions, options.config,
                        compilationOptions, options.initializer));
  }
  GLOWISH_RETURN_IF_ERROR(train(*trainer, std::move(data), options));
  reportTime(timer);
  return ExitCode::success;
}

int main(int argc, char **argv) {
  return runTool(argc, argv,
                 "Trains an ONNX model in this process and saves it.\n",
                 {&modelCategory, &trainingCategory, &dataCategory,
                  &resultCategory, &targetCategory, &debugCategory},
                 runTrainer);
}
