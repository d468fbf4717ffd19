//===- OnnxModel.cpp - ONNX models for repeated import --------------------===//

#include "glowish/Importer/OnnxModel.h"
#include "ONNX/DetachedData.h"
#include "ONNX/ExternalData.h"
#include "ONNX/FlexAttention.h"
#include "ONNX/Functions.h"
#include "ONNX/GraphImporter.h"
#include "ONNX/GraphInputs.h"
#include "ONNX/LaterFields.h"
#include "ONNX/ModelFile.h"
#include "ONNX/OperatorList.h"
#include "glowish/Base/DimExpression.h"
#include "glowish/Importer/ModelFormat.h"
#include "glowish/Importer/OnnxWeights.h"
#include "glowish/Support/File.h"
#include "llvm/Support/Path.h"

using namespace glowish;
using namespace glowish::onnximport;

struct OnnxModel::Contents {
  /// Used in messages.
  std::string name;
  DataFolders folders;
  onnx::ModelProto proto;
  NodeOpsets opsets;
  /// The inputs without weights, determined before an import moves the weights
  /// out of the model.
  std::vector<const onnx::ValueInfoProto *> inputs;
  WeightCache cache;

  llvm::Error addName(llvm::Error error) const {
    return makeError("'{0}': {1}", name,
                     cleanMessage(llvm::toString(std::move(error))));
  }
  /// The same of an error of an import with \p options. Tensors that do not fit
  /// together are its cause, if there are any.
  llvm::Error explain(llvm::Error error, const ImportOptions &options) const {
    std::string cause = InputTypes(inputs, options).findContradiction();
    if (cause.empty())
      return addName(std::move(error));
    llvm::consumeError(std::move(error));
    return addName(makeError("{0}", cause));
  }
};

OnnxModel::OnnxModel(std::unique_ptr<Contents> contents)
    : contents(std::move(contents)) {}
OnnxModel::OnnxModel(OnnxModel &&) = default;
OnnxModel &OnnxModel::operator=(OnnxModel &&) = default;
OnnxModel::~OnnxModel() = default;

llvm::Expected<OnnxModel> OnnxModel::parse(llvm::StringRef bytes,
                                           llvm::StringRef name,
                                           llvm::StringRef folder) {
  auto contents = std::make_unique<Contents>();
  contents->name = name.str();
  contents->folders.own = folder.str();
  llvm::Expected<onnx::ModelProto> proto = parseModelProto(bytes);
  if (!proto)
    return contents->addName(proto.takeError());
  contents->proto = std::move(*proto);
  if (llvm::Error error = checkLaterFields(contents->proto))
    return contents->addName(std::move(error));
  if (llvm::Error error = expandFlexAttention(contents->proto))
    return contents->addName(std::move(error));
  // After this, nodes must keep their addresses, which are keys of the opsets.
  llvm::Expected<NodeOpsets> opsets = inlineFunctions(contents->proto);
  if (!opsets)
    return contents->addName(opsets.takeError());
  contents->opsets = std::move(*opsets);
  contents->inputs = getDataInputs(contents->proto.graph());
  return OnnxModel(std::move(contents));
}

llvm::Expected<OnnxModel> OnnxModel::read(llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(auto buffer, readFile(path));
  DataFolders folders = DataFolders::of(path);
  std::optional<std::string> rest = detachRawData(buffer->getBuffer());
  GLOWISH_ASSIGN_OR_RETURN(OnnxModel model, parse(rest ? llvm::StringRef(*rest)
                                                       : buffer->getBuffer(),
                                                  path, folders.own));
  if (rest)
    folders.model = std::move(buffer);
  model.contents->folders = std::move(folders);
  return model;
}

llvm::Expected<std::unique_ptr<Module>>
OnnxModel::import(const ImportOptions &options) {
  auto module = importGraph(contents->proto, contents->opsets, options,
                            contents->folders, &contents->cache);
  if (!module)
    return contents->explain(module.takeError(), options);
  return module;
}

llvm::Expected<std::unique_ptr<Module>>
OnnxModel::importLast(const ImportOptions &options) {
  std::unique_ptr<Contents> last = std::move(contents);
  // Without a cache, weights are released after their last use.
  WeightCache *cache = last->cache.isComplete ? &last->cache : nullptr;
  auto module =
      importGraph(last->proto, last->opsets, options, last->folders, cache);
  if (!module)
    return last->explain(module.takeError(), options);
  return module;
}

bool OnnxModel::hasSymbol(llvm::StringRef symbol) const {
  for (const auto *input : contents->inputs)
    for (const auto &dim : input->type().tensor_type().shape().dim())
      if (dim.dim_param() == symbol ||
          llvm::is_contained(getDimSymbols(dim.dim_param()), symbol))
        return true;
  return false;
}

llvm::Expected<std::vector<OnnxModel::StatedInput>>
OnnxModel::getStatedInputs(const ImportOptions &options) const {
  std::vector<StatedInput> inputs;
  InputTypes types(contents->inputs, options);
  for (const auto *proto : contents->inputs) {
    llvm::Expected<StatedInput> input = types.getStated(*proto);
    if (!input)
      return contents->addName(input.takeError());
    inputs.push_back(std::move(*input));
  }
  return inputs;
}

static OnnxModel::DeclaredValue declare(const onnx::ValueInfoProto &proto) {
  OnnxModel::DeclaredValue value = {proto.name(), std::nullopt, std::nullopt};
  const onnx::TypeProto_Tensor &tensor = proto.type().tensor_type();
  if (llvm::Expected<ElemKind> kind = getElemKind(tensor.elem_type()))
    value.kind = *kind;
  else
    llvm::consumeError(kind.takeError());
  if (!tensor.has_shape())
    return value;
  value.dims.emplace();
  for (const auto &dim : tensor.shape().dim())
    value.dims->push_back(dim.has_dim_value() ? std::to_string(dim.dim_value())
                                              : dim.dim_param());
  return value;
}

std::vector<OnnxModel::DeclaredValue> OnnxModel::getDeclaredInputs() const {
  std::vector<DeclaredValue> values;
  for (const onnx::ValueInfoProto *proto : contents->inputs)
    values.push_back(declare(*proto));
  return values;
}

std::vector<OnnxModel::DeclaredValue> OnnxModel::getDeclaredOutputs() const {
  std::vector<DeclaredValue> values;
  for (const onnx::ValueInfoProto &proto : contents->proto.graph().output())
    values.push_back(declare(proto));
  return values;
}

llvm::Expected<std::vector<OnnxModel::Input>>
OnnxModel::getInputs(const ImportOptions &options) const {
  std::vector<Input> inputs;
  InputTypes types(contents->inputs, options);
  if (llvm::Error error = types.checkSymbols())
    return contents->addName(std::move(error));
  for (const auto *proto : contents->inputs) {
    llvm::Expected<Type> type = types.resolve(*proto);
    if (!type)
      return contents->addName(type.takeError());
    inputs.push_back({proto->name(), *type});
  }
  return inputs;
}

llvm::Expected<std::unique_ptr<Module>>
glowish::importOnnxFile(llvm::StringRef path, const ImportOptions &options) {
  GLOWISH_ASSIGN_OR_RETURN(OnnxModel model, OnnxModel::read(path));
  return model.importLast(options);
}

llvm::Expected<std::unique_ptr<Module>>
glowish::importOnnx(llvm::ArrayRef<uint8_t> bytes, llvm::StringRef name,
                    const ImportOptions &options) {
  llvm::StringRef text(reinterpret_cast<const char *>(bytes.data()),
                       bytes.size());
  GLOWISH_ASSIGN_OR_RETURN(OnnxModel model,
                           OnnxModel::parse(text, name, /*folder=*/""));
  return model.importLast(options);
}

static llvm::Expected<std::vector<std::string>>
listOnnxFiles(llvm::StringRef path, const ImportOptions &) {
  GLOWISH_ASSIGN_OR_RETURN(auto buffer, readFile(path));
  std::vector<std::string> files = {path.str()};
  std::optional<std::string> rest = detachRawData(buffer->getBuffer());
  llvm::StringRef model = rest ? llvm::StringRef(*rest) : buffer->getBuffer();
  // Without the key that states a location there are no external data, and the
  // model need not be parsed.
  if (!model.contains("location"))
    return files;
  llvm::Expected<onnx::ModelProto> proto = parseModelProto(model);
  if (!proto)
    return proto.takeError();
  DataFolders folders = DataFolders::of(path);
  folders.model = std::move(buffer);
  ExternalData data(std::move(folders));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<std::string> external,
                           data.listFiles(*proto));
  llvm::append_range(files, external);
  return files;
}

static llvm::Expected<std::unique_ptr<ParsedModel>>
parseOnnxFile(llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(OnnxModel model, OnnxModel::read(path));
  return std::make_unique<OnnxModel>(std::move(model));
}

static llvm::Expected<std::unique_ptr<ModelWeights>>
openOnnxWeights(llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(OnnxWeights weights, OnnxWeights::read(path));
  return std::make_unique<OnnxWeights>(std::move(weights));
}

/// Returns whether \p path, called like other protobufs, begins with field 1 of
/// a model, ir_version. So does a SavedModel of TensorFlow.
static bool isOnnxProtobuf(llvm::StringRef path, llvm::StringRef bytes) {
  if ((!path.ends_with(".pb") && !path.ends_with(".pbtxt")) ||
      llvm::sys::path::stem(path) == "saved_model")
    return false;
  constexpr char irVersionTag = 0x08;
  return looksLikeText(bytes)
             ? bytes.take_front(1 << 16).contains("ir_version")
             : bytes.starts_with(llvm::StringRef(&irVersionTag, 1));
}

static const ModelFormatRegistration
    format({.name = "ONNX",
            .description = "an ONNX file (.onnx)",
            .extensions = {".onnx", ".onnxtxt"},
            .recognizes = isOnnxProtobuf,
            .takesOthers = true,
            .import = importOnnxFile,
            .parse = parseOnnxFile,
            .openWeights = openOnnxWeights,
            .hasSymbols = true,
            .sharesStates = true,
            .listFiles = listOnnxFiles,
            .operators = &operatorList});
