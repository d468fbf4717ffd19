//===- TrainingLoop.cpp - Epochs of steps ---------------------------------===//

#include "model-trainer/TrainingLoop.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/KeyHasher.h"
#include "glowish/Support/Progress.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>
#include <numeric>

using namespace glowish;
using Clock = std::chrono::steady_clock;

llvm::Expected<std::unique_ptr<TrainingLoop>>
TrainingLoop::create(Trainer &trainer, DataSet training,
                     std::optional<DataSet> validation,
                     const LoopOptions &options) {
  std::unique_ptr<TrainingLoop> loop(new TrainingLoop(
      trainer, std::move(training), std::move(validation), options));
  GLOWISH_RETURN_IF_ERROR(loop->prepare());
  return loop;
}

llvm::Error TrainingLoop::prepare() {
  const TrainingConfig &config = trainer.getConfig();
  hasClasses = config.loss == LossKind::SoftmaxCrossEntropy &&
               isIntegerKind(config.labelKind);
  if (training.getNumSamples() < options.batchSize)
    return makeError("'{0}' has {1} samples, fewer than a batch of {2}",
                     training.label.origin, training.getNumSamples(),
                     options.batchSize);
  GLOWISH_ASSIGN_OR_RETURN(bindings, bind(trainer.getSession(), training));
  GLOWISH_RETURN_IF_ERROR(checkClasses(training));
  if (!validation)
    return llvm::Error::success();
  if (!validation->getNumSamples())
    return makeError("'{0}' has no samples", validation->label.origin);
  GLOWISH_ASSIGN_OR_RETURN(Session *inference, trainer.getInference());
  GLOWISH_ASSIGN_OR_RETURN(validationBindings, bind(*inference, *validation));
  return checkClasses(*validation);
}

llvm::Expected<TrainingLoop::Bindings>
TrainingLoop::bind(const Session &session, const DataSet &data) const {
  Bindings result;
  for (const SampleArray &input : data.inputs) {
    GLOWISH_ASSIGN_OR_RETURN(const Buffer *buffer,
                             session.findPlaceholder(input.name));
    GLOWISH_RETURN_IF_ERROR(checkSamples(input, buffer->getType(),
                                         options.getPartSize(),
                                         /*sameShape=*/true));
    result.push_back({&input, buffer});
  }
  GLOWISH_ASSIGN_OR_RETURN(const Buffer *label,
                           session.findPlaceholder(data.label.name));
  GLOWISH_RETURN_IF_ERROR(checkSamples(data.label, label->getType(),
                                       options.getPartSize(),
                                       /*sameShape=*/false));
  result.push_back({&data.label, label});
  return result;
}

llvm::Error TrainingLoop::checkClasses(const DataSet &data) const {
  if (!hasClasses)
    return llvm::Error::success();
  GLOWISH_ASSIGN_OR_RETURN(
      const Buffer *prediction,
      trainer.getSession().findPlaceholder(trainer.getStep().output));
  DimsRef shape = prediction->getShape();
  int64_t numClasses =
      shape[getClassAxis(shape, trainer.getLabel()->getShape())];
  const Tensor &labels = data.label.values;
  for (int64_t i = 0; i < labels.getNumElements(); ++i) {
    int64_t label = labels.getAsInt(i);
    if (label < 0 || label >= numClasses)
      return makeError("'{0}': sample {1} is of class {2}; accepted: 0 ... "
                       "{3}, the classes of the output '{4}'",
                       data.label.origin, i / data.label.getSampleSize(), label,
                       numClasses - 1, prediction->getModelName());
  }
  return llvm::Error::success();
}

uint64_t TrainingLoop::getLastStep() const {
  uint64_t last = options.numEpochs * getStepsPerEpoch();
  return options.numSteps ? std::min(last, options.numSteps) : last;
}

llvm::ArrayRef<int64_t> TrainingLoop::getRows(uint64_t number) {
  uint64_t epoch = number / getStepsPerEpoch();
  if (orderEpoch != epoch) {
    int64_t count = training.getNumSamples();
    if (options.shuffles) {
      order = shuffleSamples(count, options.seed, epoch);
    } else {
      order.resize(size_t(count));
      std::iota(order.begin(), order.end(), 0);
    }
    orderEpoch = epoch;
  }
  size_t size = size_t(options.batchSize), part = size_t(options.getPartSize());
  size_t start = options.group ? options.group->getRank() * part : 0;
  return llvm::ArrayRef(order).slice(number % getStepsPerEpoch() * size + start,
                                     part);
}

double TrainingLoop::getRate(uint64_t number) const {
  return options.learningRate * std::pow(options.learningRateDecay,
                                         double(number / getStepsPerEpoch()));
}

/// Fills the inputs and the label of \p session with samples \p rows.
static void fillBatch(Session &session, llvm::ArrayRef<int64_t> rows,
                      const auto &bindings) {
  for (const auto &[array, buffer] : bindings) {
    Tensor batch = session.getTensor(buffer);
    copySamples(*array, rows, batch);
  }
}

std::string TrainingLoop::describe() const {
  KeyHasher key;
  key.addAll(options.batchSize, options.numEpochs, options.numSteps,
             options.seed, options.shuffles, options.learningRate,
             options.learningRateDecay, step, validation.has_value());
  auto addData = [&](const DataSet &data) {
    for (const SampleArray &input : data.inputs)
      key.addBytes(input.values.getByteRange());
    key.addBytes(data.label.values.getByteRange());
  };
  addData(training);
  if (validation)
    addData(*validation);
  return llvm::toHex(*key.finish());
}

/// Gives the session what step \p number learns from.
void TrainingLoop::fillStep(uint64_t number) {
  fillBatch(trainer.getSession(), getRows(number), bindings);
}

/// One step and its metrics; the loss.
llvm::Expected<double> TrainingLoop::runStep() {
  Session &session = trainer.getSession();
  snapshot.take(step);
  fillStep(step);
  GLOWISH_ASSIGN_OR_RETURN(double loss, trainer.run(getRate(step)));
  if (!std::isfinite(loss))
    return snapshot.explainNonFinite(
        loss, step, [this](uint64_t number) { fillStep(number); },
        [this](uint64_t number) { return getRate(number); });
  metrics.loss += loss;
  ++metrics.numLosses;
  if (hasClasses) {
    GLOWISH_ASSIGN_OR_RETURN(const Buffer *prediction,
                             session.findPlaceholder(trainer.getStep().output));
    Tensor label = session.getTensor(trainer.getLabel());
    countCorrect(session.getTensor(prediction), label, label.getNumElements(),
                 own);
  }
  ++step;
  return loss;
}

/// The steps of an epoch and what they came to, without validation.
llvm::Expected<EpochResult> TrainingLoop::runSteps(LossLog &log) {
  Clock::time_point start = Clock::now();
  uint64_t begin = step, epoch = step / getStepsPerEpoch();
  uint64_t end = std::min((epoch + 1) * getStepsPerEpoch(), getLastStep());
  EpochResult result;
  result.epoch = epoch + 1;
  Progress progress(llvm::formatv("epoch {0}", epoch + 1).str(), end - step);
  while (step < end) {
    GLOWISH_ASSIGN_OR_RETURN(double loss, runStep());
    log.add(step, epoch + 1, loss);
    progress.step();
  }
  auto time = std::chrono::duration<double>(Clock::now() - start);
  result.secondsPerStep =
      time.count() / double(std::max(end - begin, uint64_t(1)));
  sumOverGroup(own);
  metrics.numLabels += own.numLabels;
  metrics.numCorrect += own.numCorrect;
  own = Metrics();
  result.loss = metrics.getLoss();
  result.accuracy = metrics.getAccuracy();
  return result;
}

llvm::Expected<EpochResult> TrainingLoop::runEpoch(LossLog &log) {
  Clock::time_point start = Clock::now();
  GLOWISH_ASSIGN_OR_RETURN(EpochResult result, runSteps(log));
  {
    Progress progress;
    progress.show("validating");
    GLOWISH_RETURN_IF_ERROR(validate(result));
  }
  if (step % getStepsPerEpoch() == 0)
    metrics = Metrics();
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (!history.empty() && history.back().epoch == result.epoch)
    history.pop_back();
  history.push_back(result);
  return result;
}

void TrainingLoop::sumOverGroup(Metrics &sums) {
  if (!options.group)
    return;
  sums.numLabels = options.group->sum(sums.numLabels);
  sums.numCorrect = options.group->sum(sums.numCorrect);
}

/// Appends to \p losses those of this process's part of the batch that begins
/// with sample \p first, and counts right answers. The last batch is filled up
/// with the last sample, which is not counted.
llvm::Error TrainingLoop::validateBatch(int64_t first,
                                        std::vector<double> &losses,
                                        Metrics &sums) {
  GLOWISH_ASSIGN_OR_RETURN(Session *session, trainer.getInference());
  GLOWISH_ASSIGN_OR_RETURN(
      const Buffer *lossBuffer,
      session->findPlaceholder(trainer.getConfig().lossName));
  GLOWISH_ASSIGN_OR_RETURN(const Buffer *prediction,
                           session->findPlaceholder(trainer.getStep().output));
  int64_t size = options.getPartSize();
  int64_t count =
      std::clamp<int64_t>(validation->getNumSamples() - first, 0, size);
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < size; ++i)
    rows.push_back(std::min(first + i, validation->getNumSamples() - 1));
  fillBatch(*session, rows, validationBindings);
  GLOWISH_RETURN_IF_ERROR(session->run());
  Tensor values = session->getTensor(lossBuffer);
  int64_t numLosses = values.getNumElements() / size * count;
  for (int64_t i = 0; i < numLosses; ++i)
    losses.push_back(values.getAsDouble(i));
  if (hasClasses)
    countCorrect(session->getTensor(prediction),
                 session->getTensor(validationBindings.back().buffer),
                 validation->label.getSampleSize() * count, sums);
  return llvm::Error::success();
}

/// Each process takes its part of each batch. The losses are added in the order
/// of the samples, as one process does.
llvm::Error TrainingLoop::validate(EpochResult &result) {
  if (!validation)
    return llvm::Error::success();
  Metrics sums;
  int64_t offset =
      options.group ? options.group->getRank() * options.getPartSize() : 0;
  for (int64_t first = 0; first < validation->getNumSamples();
       first += options.batchSize) {
    std::vector<double> losses;
    GLOWISH_RETURN_IF_ERROR(validateBatch(first + offset, losses, sums));
    for (double loss : gatherLosses(losses)) {
      sums.loss += loss;
      ++sums.numLosses;
    }
  }
  sumOverGroup(sums);
  result.validationLoss = sums.getLoss();
  result.validationAccuracy = sums.getAccuracy();
  return llvm::Error::success();
}

/// \p losses of all processes, in the first one; those of this process in all
/// others.
std::vector<double>
TrainingLoop::gatherLosses(const std::vector<double> &losses) const {
  if (!options.group)
    return losses;
  std::vector<double> all;
  llvm::StringRef bytes(reinterpret_cast<const char *>(losses.data()),
                        losses.size() * sizeof(double));
  for (const std::string &part : options.group->gather(bytes)) {
    size_t count = all.size();
    all.resize(count + part.size() / sizeof(double));
    llvm::copy(part, reinterpret_cast<char *>(all.data() + count));
  }
  return options.group->isFirst() ? all : losses;
}

//===- Going back to an earlier step --------------------------------------===//

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
