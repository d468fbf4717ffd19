//===- TrainedModel.cpp - A model that learns in this process -------------===//

#include "core/TrainedModel.h"
#include "core/Expected.h"
#include "core/SettingGroups.h"
#include "core/Tensors.h"
#include "glowish/Driver/Trainer.h"

using namespace glowish;
using namespace glowish::python;

struct TrainedModel::Parts {
  explicit Parts(Settings settings) : settings(std::move(settings)) {}

  Settings settings;
  std::vector<std::string> warnings;
  PreparedTraining prepared;
  std::unique_ptr<Trainer> trainer;
  std::vector<ValueInfo> inputs;
  /// What infer() has given away.
  std::vector<Tensor> outputs;
};

static ValueInfo describe(const Buffer &buffer) {
  ValueInfo info = {buffer.getModelName().str(), buffer.getType().getKind(),
                    std::vector<Dim>()};
  for (int64_t extent : buffer.getShape())
    info.shape->emplace_back(extent);
  return info;
}

static TensorView view(const Tensor &tensor) {
  DimsRef shape = tensor.getType().getShape();
  return {tensor.getType().getKind(),
          {shape.begin(), shape.end()},
          const_cast<void *>(tensor.getBytes())};
}

/// Kind and shape of the label, by the arrays that there are.
static void stateLabel(const TensorView &labels, TrainingConfig &config) {
  bool isFloat = isFloatKind(labels.kind);
  config.labelKind = isFloat ? ElemKind::Float : ElemKind::Int64;
  // Classes of pixels, whose dimension may be the second or the last one.
  if (!isFloat && labels.shape.size() > 2 &&
      config.loss == LossKind::SoftmaxCrossEntropy)
    config.labelShape = Dims(labels.shape.begin(), labels.shape.end());
}

TrainedModel::TrainedModel(Settings settings, const TrainRequest &request)
    : parts(std::make_unique<Parts>(std::move(settings))) {
  PreparedTraining &prepared = parts->prepared;
  prepared =
      take(createCompiler(parts->settings, request.paths, parts->warnings)
               .prepareTraining(),
           Failure::Kind::Value);
  for (const auto &[name, batch] : request.batches)
    prepared.importOptions.givenTypes.emplace(name, getType(batch));
  TrainingConfig &config = prepared.config;
  stateLabel(request.labels, config);
  std::optional<InitializerKind> initializer =
      parseInitializer(request.initializer);
  if (!initializer)
    fail(Failure::Kind::Value,
         "initialize='{0}': accepted: keep, xavier, kaiming",
         request.initializer);
  parts->trainer = take(Trainer::create(*prepared.backend, prepared.path,
                                        prepared.importOptions, config,
                                        prepared.options, *initializer));
  for (const Buffer *buffer : parts->trainer->getInputs())
    parts->inputs.push_back(describe(*buffer));
  parts->inputs.push_back(describe(*parts->trainer->getLabel()));
}

TrainedModel::~TrainedModel() = default;

const std::vector<ValueInfo> &TrainedModel::getInputs() const {
  return parts->inputs;
}

const std::string &TrainedModel::getOutputName() const {
  return parts->trainer->getStep().output;
}

const std::string &TrainedModel::getLossName() const {
  return parts->trainer->getConfig().lossName;
}

static void setInput(Session &session, const std::string &name,
                     const TensorView &view) {
  const Buffer *buffer = take(session.findPlaceholder(name));
  check(session.setInput(buffer, Tensor::borrow(getType(view), view.data)));
}

void TrainedModel::setInput(const std::string &name, const TensorView &view) {
  ::setInput(parts->trainer->getSession(), name, view);
}

double TrainedModel::runStep(double learningRate) {
  return take(parts->trainer->run(learningRate));
}

TensorView TrainedModel::getPrediction() const {
  const Session &session = parts->trainer->getSession();
  return view(
      session.getTensor(take(session.findPlaceholder(getOutputName()))));
}

std::string TrainedModel::findNonFinite() {
  return take(parts->trainer->findNonFinite());
}

std::vector<NamedView>
TrainedModel::infer(const std::map<std::string, TensorView> &inputs) {
  Session *session = take(parts->trainer->getInference());
  for (const auto &[name, input] : inputs)
    ::setInput(*session, name, input);
  check(session->run());
  parts->outputs.clear();
  std::vector<NamedView> results;
  for (const Buffer *buffer : session->getOutputs()) {
    if (buffer->isInput())
      continue;
    parts->outputs.push_back(session->getOutput(buffer));
    results.push_back(
        {buffer->getModelName().str(), view(parts->outputs.back())});
  }
  return results;
}

std::vector<ValueInfo> TrainedModel::getVariables() const {
  std::vector<ValueInfo> infos;
  for (const Buffer *variable : parts->trainer->getVariables())
    infos.push_back(describe(*variable));
  return infos;
}

TensorView TrainedModel::getVariable(const std::string &name) const {
  const Buffer *buffer =
      take(parts->trainer->getSession().findPlaceholder(name));
  return view(parts->trainer->getVariable(buffer));
}

void TrainedModel::setVariable(const std::string &name,
                               const TensorView &value) {
  check(parts->trainer->setVariable(
      name, Tensor::borrow(getType(value), value.data)));
}

void TrainedModel::save(const std::string &path) const {
  check(parts->trainer->writeWeights(path));
}

std::vector<std::string> TrainedModel::takeWarnings() {
  return std::exchange(parts->warnings, {});
}
