//===- model-trainer.cpp - Trains a model ---------------------------------===//

#include "common/CommonOptions.h"
#include "common/Tool.h"
#include "glowish/Importer/OnnxWeights.h"
#include "glowish/Support/Progress.h"
#include "model-trainer/Options.h"
#include <cmath>

using namespace glowish;

/// The data to learn from and those to validate with.
struct SplitData {
  DataSet training;
  std::optional<DataSet> validation;
};

/// Takes the share that -validation asks for out of \p data: drawn with the
/// seed, or the last samples where the order is kept.
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
  GLOWISH_TRY(OnnxModel model, OnnxModel::read(getModelPath()));
  DataRequest request;
  GLOWISH_TRY(request.inputs, model.getStatedInputs(importOptions));
  request.label = options.config.label;
  request.pictures = options.pictures;
  GLOWISH_TRY(DataSet data, readNpyFolder(options.data, request));
  if (options.validationShare > 0)
    return split(std::move(data), options);
  SplitData result = {std::move(data), std::nullopt};
  if (!options.validation.empty()) {
    GLOWISH_TRY(result.validation, readNpyFolder(options.validation, request));
    if (result.validation->classes != result.training.classes)
      return makeError("'{0}' and '{1}' have different classes",
                       options.validation, options.data);
  }
  return result;
}

/// Tells the compiler the shapes of batches of \p data.
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

static void printEpoch(const EpochResult &result, uint64_t numSteps) {
  auto print = [](llvm::StringRef name, std::optional<double> loss,
                  std::optional<double> accuracy) {
    if (loss)
      llvm::outs() << llvm::formatv("  {0}loss {1:F5}", name, *loss);
    if (accuracy)
      llvm::outs() << llvm::formatv("  {0}accuracy {1:F2} %", name,
                                    100 * *accuracy);
  };
  llvm::outs() << llvm::formatv("epoch {0,3}", result.epoch);
  print("", result.loss, result.accuracy);
  print("validation ", result.validationLoss, result.validationAccuracy);
  llvm::outs() << llvm::formatv("  {0:F1} s, {1:F2} ms a step\n",
                                result.seconds,
                                1e3 * result.seconds / double(numSteps));
  llvm::outs().flush();
}

/// The model with the trained weights. Initializers that nothing reads have no
/// variable.
static llvm::Error saveModel(const Trainer &trainer, llvm::StringRef path) {
  GLOWISH_TRY(OnnxWeights weights, OnnxWeights::read(getModelPath()));
  for (const Buffer *variable : trainer.getVariables())
    if (weights.has(variable->getModelName()))
      GLOWISH_CHECK(
          weights.set(variable->getModelName(), trainer.getVariable(variable)));
  return weights.write(path);
}

static llvm::Error train(Trainer &trainer, SplitData data,
                         const TrainerOptions &options) {
  int64_t numLeftOver = data.training.getNumSamples() % options.loop.batchSize;
  GLOWISH_TRY(std::unique_ptr<TrainingLoop> loop,
              TrainingLoop::create(trainer, std::move(data.training),
                                   std::move(data.validation), options.loop));
  if (numLeftOver)
    llvm::errs() << llvm::formatv(
        "note: each epoch leaves out {0} samples, less than a batch\n",
        numLeftOver);
  LossLog log;
  GLOWISH_CHECK(log.open(options.lossLogPath));
  while (!loop->isDone()) {
    uint64_t begin = loop->getStep();
    GLOWISH_TRY(EpochResult result, loop->runEpoch(log));
    printEpoch(result, loop->getStep() - begin);
  }
  GLOWISH_CHECK(log.commit());
  if (!options.savePath.empty())
    return saveModel(trainer, options.savePath);
  return llvm::Error::success();
}

static llvm::Expected<int> runTrainer() {
  if (getModelPath().empty())
    return makeError("no model; state one with -model=FILE");
  PhaseTimer timer;
  std::vector<SymbolValues> several;
  GLOWISH_TRY(TrainerOptions options, getTrainerOptions());
  GLOWISH_TRY(ImportOptions importOptions, getImportOptions(several));
  if (!several.empty())
    return makeError("-onnx-define-symbol: '{0}' has several values; accepted: "
                     "one",
                     several.front().name);
  GLOWISH_TRY(CompilationOptions compilationOptions,
              getCompilationOptions(timer));
  if (compilationOptions.stopAfter)
    return makeError("-stop-after is not for training");
  GLOWISH_TRY(std::unique_ptr<Backend> backend, createBackend());
  GLOWISH_TRY(SplitData data, readData(options, importOptions));
  stateTypes(data.training, options.loop.batchSize, importOptions,
             options.config);
  std::unique_ptr<Trainer> trainer;
  {
    Progress progress;
    progress.show("compiling");
    GLOWISH_TRY(trainer,
                Trainer::create(*backend, getModelPath(), importOptions,
                                options.config, compilationOptions));
  }
  GLOWISH_CHECK(train(*trainer, std::move(data), options));
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
