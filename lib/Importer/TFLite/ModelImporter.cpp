//===- ModelImporter.cpp - Convert TensorFlow Lite models to a function ---===//

#include "TFLite/Boundary.h"
#include "glowish/Importer/ModelFormat.h"
#include "glowish/Importer/TFLite.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/StringSet.h"

using namespace glowish;

namespace {

/// Imports the operators of the main subgraph in their order, which is one in
/// which they can run.
class ModelImporter {
public:
  ModelImporter(const TFLiteFile &file, const ImportOptions &options)
      : file(file), graph(file.getMain()), options(options),
        module(std::make_unique<Module>(graph.name() && graph.name()->size()
                                            ? graph.name()->str()
                                            : "model")),
        context{*module->createFunction("main"), options} {}

  llvm::Expected<std::unique_ptr<Module>> import();

private:
  llvm::Error checkOperators() const;
  llvm::Error readTensors();
  llvm::Error checkNames() const;
  llvm::Expected<Dims> getInputShape(const TFLiteTensor &tensor,
                                     size_t position) const;
  llvm::Error createInputs();
  llvm::Error createConstants();
  llvm::Error importOperator(const tflite::Operator &op, size_t position);
  llvm::Error saveOutputs();
  std::string getUniqueName(llvm::StringRef name);

  const TFLiteFile &file;
  const tflite::SubGraph &graph;
  const ImportOptions &options;
  std::unique_ptr<Module> module;
  TFLiteContext context;
  std::vector<TFLiteTensor> tensors;
  llvm::StringSet<> usedNames;
  /// The last numbers that were appended to names.
  llvm::StringMap<unsigned> numbers;
};

} // namespace

/// The indices of a list that may be absent.
static llvm::ArrayRef<int32_t>
getIndices(const flatbuffers::Vector<int32_t> *list) {
  return list ? llvm::ArrayRef<int32_t>(list->data(), list->size())
              : llvm::ArrayRef<int32_t>();
}

//===- Tensors ------------------------------------------------------------===//

/// Tensors without a name, or with that of another, get one.
std::string ModelImporter::getUniqueName(llvm::StringRef name) {
  std::string base = name.empty() ? "tensor" : name.str(), unique = base;
  while (!usedNames.insert(unique).second)
    unique = base + "_" + std::to_string(++numbers[base]);
  return unique;
}

llvm::Error ModelImporter::readTensors() {
  if (!graph.tensors())
    return makeError("it has no tensors");
  for (const tflite::Tensor *tensor : *graph.tensors()) {
    TFLiteTensor result;
    result.name = options.tflite.renamesTensors
                      ? "tensor" + std::to_string(tensors.size())
                      : getUniqueName(getName(*tensor));
    GLOWISH_ASSIGN_OR_RETURN(result.type, getType(*tensor));
    GLOWISH_ASSIGN_OR_RETURN(result.quantization,
                             readQuantization(*tensor, result.type));
    tensors.push_back(std::move(result));
  }
  return llvm::Error::success();
}

/// An error if the options name an input that the model does not have.
llvm::Error ModelImporter::checkNames() const {
  std::vector<std::string> names;
  for (int32_t index : getIndices(graph.inputs()))
    names.push_back(tensors[size_t(index)].name);
  return checkStatedInputs(
      options,
      [&](llvm::StringRef name) { return llvm::is_contained(names, name); },
      names);
}

/// The extents of \p tensor, input \p position: those of the file, or those
/// that the options give.
llvm::Expected<Dims> ModelImporter::getInputShape(const TFLiteTensor &tensor,
                                                  size_t position) const {
  const Type *given = nullptr;
  if (auto found = options.inputTypes.find(tensor.name);
      found != options.inputTypes.end())
    given = &found->second;
  else if (auto named = options.givenTypes.find(tensor.name);
           named != options.givenTypes.end())
    given = &named->second;
  else if (position < options.givenTypesInOrder.size())
    given = &options.givenTypesInOrder[position];
  if (!given)
    return Dims(tensor.type.getShape());
  Type own = tensor.type.withKind(getInputKind(tensor, options.tflite));
  if (given->getKind() != own.getKind() || given->getRank() != own.getRank())
    return makeError("the input {0} is {1}; stated for it is {2}",
                     quote(tensor.name), own.str(), given->str());
  return Dims(given->getShape());
}

llvm::Error ModelImporter::createInputs() {
  for (auto [position, index] : llvm::enumerate(getIndices(graph.inputs()))) {
    TFLiteTensor &tensor = tensors[size_t(index)];
    // A list may name an input twice.
    if (tensor.value)
      continue;
    GLOWISH_ASSIGN_OR_RETURN(Dims shape, getInputShape(tensor, position));
    context.hasOtherShapes |= DimsRef(shape) != tensor.type.getShape();
    if (auto constant = options.constantInputs.find(tensor.name);
        constant != options.constantInputs.end())
      tensor.value =
          NodeValue(module->createConstant(tensor.name, constant->second));
    else
      createInput(context.function, tensor, shape, options.tflite);
  }
  return llvm::Error::success();
}

/// Tensors with bytes are constants; variables are inputs and outputs at once.
llvm::Error ModelImporter::createConstants() {
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    const tflite::Tensor &stored = *graph.tensors()->Get(unsigned(i));
    if (tensor.value)
      continue;
    if (stored.is_variable()) {
      createVariable(context.function, tensor);
      continue;
    }
    bool isEmpty = tensor.type.getNumElements() == 0 && stored.buffer() != 0;
    if (file.getBytes(stored).empty() && !isEmpty)
      continue;
    GLOWISH_ASSIGN_OR_RETURN(Tensor constant, file.readConstant(stored));
    context.budget.grow(constant.getSizeInBytes());
    tensor.value = NodeValue(module->createConstant(
        tensor.name, std::make_shared<const Tensor>(std::move(constant))));
  }
  return llvm::Error::success();
}

//===- Operators ----------------------------------------------------------===//

/// Reports in one message all operators that have no importer.
llvm::Error ModelImporter::checkOperators() const {
  std::vector<std::string> missing;
  if (graph.operators())
    for (const tflite::Operator *op : *graph.operators()) {
      std::string type = file.getOperatorName(*op);
      llvm::ArrayRef<int32_t> outputs = getIndices(op->outputs());
      if (!findTFLiteOperator(type))
        missing.push_back(describeNode(
            outputs.empty() ? "" : tensors[size_t(outputs.front())].name,
            type));
    }
  return refuseOperators(missing);
}

/// An error unless the operator has as many inputs as \p traits state.
static llvm::Error checkInputs(llvm::ArrayRef<TFLiteTensor *> inputs,
                               const TFLiteOpTraits &traits) {
  size_t count = inputs.size();
  if (count < traits.minInputs || count > traits.maxInputs) {
    std::string accepted = std::to_string(traits.minInputs);
    if (traits.maxInputs == TFLiteOpTraits::many)
      accepted += " or more";
    else if (traits.maxInputs != traits.minInputs)
      accepted += " to " + std::to_string(traits.maxInputs);
    return makeError("it has {0} inputs; accepted: {1}", count, accepted);
  }
  for (auto [i, tensor] : llvm::enumerate(inputs)) {
    if (!tensor && i < traits.getFirstOptional())
      return makeError("its input {0} is absent", i);
    if (tensor && !tensor->value)
      return makeError("nothing computes its input {0} ({1})", i,
                       quote(tensor->name));
  }
  return llvm::Error::success();
}

llvm::Error ModelImporter::importOperator(const tflite::Operator &stored,
                                          size_t position) {
  llvm::SmallVector<TFLiteTensor *, 8> inputs, outputs;
  for (int32_t index : getIndices(stored.inputs()))
    inputs.push_back(index < 0 ? nullptr : &tensors[size_t(index)]);
  for (int32_t index : getIndices(stored.outputs()))
    outputs.push_back(&tensors[size_t(index)]);
  std::string type = file.getOperatorName(stored);
  const RegisteredTFLiteOp &registered = *findTFLiteOperator(type);
  TFLiteOp op(stored, type, inputs, outputs, context);
  llvm::Error error = checkInputs(inputs, registered.traits);
  if (!error)
    error = registered.importer(op);
  // The first error is the cause of the others.
  if (op.hasFailed()) {
    llvm::consumeError(std::move(error));
    error = op.takeError();
  }
  std::string name =
      outputs.empty() ? std::to_string(position) : outputs.front()->name;
  return error ? addContext(std::move(error), describeNode(name, type) + ": ")
               : llvm::Error::success();
}

//===- Outputs ------------------------------------------------------------===//

llvm::Error ModelImporter::saveOutputs() {
  llvm::ArrayRef<int32_t> outputs = getIndices(graph.outputs());
  if (outputs.empty())
    return makeError("it has no output");
  llvm::DenseSet<int32_t> saved;
  for (int32_t index : outputs) {
    if (!saved.insert(index).second)
      continue;
    const TFLiteTensor &tensor = tensors[size_t(index)];
    if (!tensor.value)
      return makeError("nothing computes the output {0}", quote(tensor.name));
    // An input has its name.
    std::string name = module->findPlaceholder(tensor.name)
                           ? getUniqueName(tensor.name + "_output")
                           : tensor.name;
    createOutput(context.function, tensor, name, options.tflite);
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Module>> ModelImporter::import() {
  GLOWISH_RETURN_IF_ERROR(readTensors());
  GLOWISH_RETURN_IF_ERROR(checkNames());
  GLOWISH_RETURN_IF_ERROR(checkOperators());
  GLOWISH_RETURN_IF_ERROR(createInputs());
  GLOWISH_RETURN_IF_ERROR(createConstants());
  if (graph.operators())
    for (auto [i, op] : llvm::enumerate(*graph.operators()))
      GLOWISH_RETURN_IF_ERROR(importOperator(*op, i));
  GLOWISH_RETURN_IF_ERROR(saveOutputs());
  for (const TFLiteTensor &tensor : tensors)
    saveVariable(context.function, tensor);
  eraseUnusedConstants(*module);
  return std::move(module);
}

//===- Files --------------------------------------------------------------===//

llvm::Expected<std::unique_ptr<Module>>
glowish::importTFLite(llvm::ArrayRef<uint8_t> bytes, llvm::StringRef name,
                      const ImportOptions &options) {
  auto import = [&]() -> llvm::Expected<std::unique_ptr<Module>> {
    GLOWISH_ASSIGN_OR_RETURN(TFLiteFile file, TFLiteFile::read(bytes));
    return ModelImporter(file, options).import();
  };
  auto module = import();
  if (!module)
    return makeError("'{0}': {1}", name,
                     cleanMessage(llvm::toString(module.takeError())));
  return module;
}

llvm::Expected<std::unique_ptr<Module>>
glowish::importTFLiteFile(llvm::StringRef path, const ImportOptions &options) {
  GLOWISH_ASSIGN_OR_RETURN(auto buffer, readFile(path));
  return importTFLite(llvm::arrayRefFromStringRef(buffer->getBuffer()), path,
                      options);
}

bool glowish::isTFLitePath(llvm::StringRef path) {
  return path.ends_with(".tflite");
}

static const ModelFormatRegistration format({.name = "TensorFlow Lite",
                                             .isPath = isTFLitePath,
                                             .import = importTFLiteFile});
