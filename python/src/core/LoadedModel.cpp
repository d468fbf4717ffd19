//===- LoadedModel.cpp - A model that runs in this process ----------------===//

#include "core/LoadedModel.h"
#include "core/Expected.h"
#include "core/SettingGroups.h"
#include "core/Tensors.h"
#include "glowish/Base/DimExpression.h"
#include "glowish/Driver/ProgramCache.h"
#include "glowish/Driver/SpecializedSessions.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;
using namespace glowish::python;

struct LoadedModel::Parts {
  explicit Parts(Settings settings) : settings(std::move(settings)) {}

  Settings settings;
  std::vector<std::string> warnings;
  PreparedCompilation prepared;
  std::unique_ptr<ProgramCache> cache;
  std::unique_ptr<SpecializedSessions> sessions;
  LoadedProgram program;
  std::vector<SequenceOutput> sequences;
  /// What is known before a program is compiled.
  std::vector<ValueInfo> declared;
  std::vector<ValueInfo> inputs, outputs;
  /// What getOutput() has given away.
  Tensor output;
};

//===- What the model declares --------------------------------------------===//

static ValueInfo describe(const ParsedModel::DeclaredValue &declared) {
  ValueInfo info = {declared.name, declared.kind, std::nullopt};
  if (!declared.dims)
    return info;
  info.shape.emplace();
  for (const std::string &text : *declared.dims) {
    int64_t extent = 0;
    if (text.empty())
      info.shape->emplace_back();
    else if (!llvm::StringRef(text).getAsInteger(10, extent))
      info.shape->emplace_back(extent);
    else
      info.shape->emplace_back(text);
  }
  return info;
}

/// Describes the inputs and outputs that the model declares, before it is
/// compiled.
static void describeDeclared(const ParsedModel &model,
                             const ImportOptions &options,
                             std::vector<ValueInfo> &inputs,
                             std::vector<ValueInfo> &outputs) {
  for (const auto &declared : model.getDeclaredInputs()) {
    if (options.constantInputs.count(declared.name))
      continue;
    ValueInfo info = describe(declared);
    auto stated = options.inputTypes.find(info.name);
    if (stated != options.inputTypes.end()) {
      info.kind = stated->second.getKind();
      info.shape.emplace();
      for (int64_t extent : stated->second.getShape())
        info.shape->emplace_back(extent);
    } else if (info.shape) {
      for (Dim &dim : *info.shape)
        if (auto *symbol = std::get_if<std::string>(&dim))
          if (auto extent = take(evaluateDim(*symbol, options.symbols)))
            dim = *extent;
    }
    inputs.push_back(std::move(info));
  }
  for (const auto &declared : model.getDeclaredOutputs())
    outputs.push_back(describe(declared));
}

/// Whether the inputs of the model have open dimensions, so that only the
/// tensors of a call decide their types.
static bool hasOpenInputs(const ParsedModel &model,
                          const ImportOptions &options) {
  for (const auto &input : take(model.getStatedInputs(options)))
    if (!options.constantInputs.count(input.name) &&
        llvm::is_contained(input.shape, std::nullopt))
      return true;
  for (const auto &declared : model.getDeclaredInputs())
    if (!declared.dims && !options.inputTypes.count(declared.name) &&
        !options.constantInputs.count(declared.name))
      return true;
  return false;
}

//===- Making it ----------------------------------------------------------===//

LoadedModel::LoadedModel(Settings settings, const LoadRequest &request)
    : parts(std::make_unique<Parts>(std::move(settings))) {
  DeveloperOptions developer;
  developer.testing.compilesQuickly = request.compilesQuickly;
  parts->prepared = take(createCompiler(parts->settings, request.paths,
                                        parts->warnings, std::move(developer))
                             .prepareProgram(SymbolForm::ValueOrRange),
                         Failure::Kind::Value);
  const std::string &path = parts->prepared.path;
  ImportOptions &options = parts->prepared.importOptions;
  options.sequenceOutputs = &parts->sequences;
  options.constantTexts.insert(request.texts.begin(), request.texts.end());
  check(checkConstantTexts(path, options));
  for (const auto &[name, view] : request.constants)
    options.constantInputs[name] = std::make_shared<const Tensor>(
        Tensor::borrow(getType(view), view.data).clone());
  bool isOpen = !request.compilesNow;
  if (std::unique_ptr<ParsedModel> model = take(parseModel(path))) {
    describeDeclared(*model, options, parts->inputs, parts->outputs);
    isOpen |= hasOpenInputs(*model, options);
  }
  if (!request.cacheFolder.empty())
    parts->cache = take(ProgramCache::open(
        {.folder = request.cacheFolder, .warn = [this](llvm::StringRef line) {
           parts->warnings.push_back(spellAsKeywords(line));
         }}));
  parts->sessions = std::make_unique<SpecializedSessions>(
      *parts->prepared.backend, path, options, parts->prepared.options,
      request.capacity, parts->cache.get());
  if (!isOpen)
    prepare({});
  parts->declared = parts->inputs;
}

LoadedModel::~LoadedModel() = default;

const std::vector<ValueInfo> &LoadedModel::getInputs() const {
  return parts->inputs;
}
const std::vector<ValueInfo> &LoadedModel::getOutputs() const {
  return parts->outputs;
}

std::vector<std::pair<size_t, size_t>> LoadedModel::getSequences() const {
  std::vector<std::pair<size_t, size_t>> result;
  for (const SequenceOutput &sequence : parts->sequences)
    result.emplace_back(sequence.index, sequence.length);
  return result;
}

const LoadedProgram *LoadedModel::getProgram() const {
  return parts->program.session ? &parts->program : nullptr;
}

std::vector<std::string> LoadedModel::takeWarnings() {
  return std::exchange(parts->warnings, {});
}

size_t LoadedModel::countCompiled() const {
  return parts->sessions->countCompiled();
}

//===- Programs -----------------------------------------------------------===//

/// The extents that each run states are symbols again.
static ValueInfo describe(const Buffer &buffer, const ExtentList &extents) {
  ValueInfo info = {buffer.getModelName().str(), buffer.getType().getKind(),
                    std::vector<Dim>()};
  for (auto [i, bound] : llvm::enumerate(buffer.getShape())) {
    if (i < extents.size() && extents[i])
      info.shape->emplace_back(extents[i]->describe());
    else if (buffer.getExtents())
      info.shape->emplace_back();
    else
      info.shape->emplace_back(bound);
  }
  if (buffer.getType().isQuantized()) {
    info.scales = buffer.getType().getQuantParams().scales;
    info.offsets = buffer.getType().getQuantParams().offsets;
  }
  info.isState = buffer.isInput() && buffer.isOutput();
  info.classNames = buffer.getClassNames().vec();
  return info;
}

static LoadedProgram::Slot makeSlot(Session &session, const Buffer &buffer) {
  LoadedProgram::Slot slot;
  slot.name = buffer.getModelName().str();
  slot.kind = buffer.getType().getKind();
  slot.shape.assign(buffer.getShape().begin(), buffer.getShape().end());
  slot.bytes = size_t(buffer.getType().getSizeInBytes());
  slot.buffer = &buffer;
  slot.isState = buffer.isInput() && buffer.isOutput();
  slot.isBound = session.bind(&buffer, nullptr);
  for (const std::optional<Extent> &extent : buffer.getInputExtents().dims)
    slot.isStated.push_back(extent.has_value());
  return slot;
}

/// Python's arrays have no scales: an input has those that the model states.
static Type getInputType(const TensorView &view,
                         llvm::ArrayRef<ValueInfo> infos,
                         llvm::StringRef name) {
  for (const ValueInfo &info : infos)
    if (info.name == name && !info.scales.empty())
      return Type(*info.kind, DimsRef(view.shape), {info.scales, info.offsets});
  return getType(view);
}

/// "(1, 3, N)", as Python has shapes.
static std::string showShape(llvm::ArrayRef<Dim> shape) {
  std::vector<std::string> texts;
  for (const Dim &dim : shape)
    if (const auto *extent = std::get_if<int64_t>(&dim))
      texts.push_back(std::to_string(*extent));
    else if (const auto *symbol = std::get_if<std::string>(&dim))
      texts.push_back(*symbol);
    else
      texts.push_back("?");
  return "(" + llvm::join(texts, ", ") + (texts.size() == 1 ? ",)" : ")");
}

/// Throws if \p view has extents that \p declared excludes: no program would
/// take it.
static void checkGiven(const ValueInfo &declared, const TensorView &view) {
  if (!declared.shape)
    return;
  bool fits = view.shape.size() == declared.shape->size();
  for (size_t i = 0; fits && i < view.shape.size(); ++i)
    if (const auto *extent = std::get_if<int64_t>(&(*declared.shape)[i]))
      fits = *extent == view.shape[i];
  if (!fits)
    fail(Failure::Kind::Value, "input '{0}' has the shape {1}; accepted: {2}",
         declared.name,
         showShape(std::vector<Dim>(view.shape.begin(), view.shape.end())),
         showShape(*declared.shape));
}

const LoadedProgram &
LoadedModel::prepare(const std::map<std::string, TensorView> &given) {
  for (const ValueInfo &info : parts->declared)
    if (auto view = given.find(info.name); view != given.end())
      checkGiven(info, view->second);
  std::map<std::string, Type> types;
  for (const auto &[name, view] : given)
    types.emplace(name, getInputType(view, parts->inputs, name));
  parts->program = {};
  Session *session = take(parts->sessions->prepare(types));
  LoadedProgram program;
  program.session = session;
  parts->inputs.clear();
  parts->outputs.clear();
  for (const Buffer *buffer : session->getPlaceholders()) {
    const InputExtents &extents = buffer->getInputExtents();
    // An extent is stated by the shapes of the other inputs.
    if (!buffer->isInput() || extents.range)
      continue;
    program.inputs.push_back(makeSlot(*session, *buffer));
    parts->inputs.push_back(describe(*buffer, extents.dims));
  }
  for (const Buffer *buffer : session->getOutputs()) {
    if (buffer->isInput())
      continue;
    program.outputs.push_back(makeSlot(*session, *buffer));
    parts->outputs.push_back(describe(*buffer, buffer->getInputExtents().next));
  }
  for (const LoadedProgram::Slot &slot : program.inputs)
    if (auto type = types.find(slot.name); type != types.end())
      check(session->checkInput(slot.buffer, type->second),
            Failure::Kind::Value);
  parts->program = std::move(program);
  return parts->program;
}

void LoadedModel::setInput(const LoadedProgram::Slot &slot,
                           const TensorView &view) {
  Tensor tensor = Tensor::borrow(
      slot.buffer->getType().withShape(DimsRef(view.shape)), view.data);
  check(parts->program.session->setInput(slot.buffer, tensor),
        Failure::Kind::Value);
}

void LoadedModel::bind(const LoadedProgram::Slot &slot, void *data) {
  parts->program.session->bind(slot.buffer, data);
}

void LoadedModel::run() { check(parts->program.session->run()); }

TensorView LoadedModel::getOutput(const LoadedProgram::Slot &slot) {
  parts->output = parts->program.session->getOutput(slot.buffer);
  DimsRef shape = parts->output.getType().getShape();
  return {slot.kind, {shape.begin(), shape.end()}, parts->output.getBytes()};
}
