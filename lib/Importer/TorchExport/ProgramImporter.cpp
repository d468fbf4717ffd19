//===- ProgramImporter.cpp - Convert exported programs to a function ------===//

#include "Aten/Complex.h"
#include "Aten/OperatorList.h"
#include "Common/Messages.h"
#include "Common/Outputs.h"
#include "Common/StateSet.h"
#include "Common/SymbolInputs.h"
#include "Common/TorchArchive.h"
#include "TorchExport/Fields.h"
#include "TorchExport/GraphImporter.h"
#include "TorchExport/Weights.h"
#include "glowish/Importer/ModelFormat.h"
#include "glowish/Importer/TorchExport.h"
#include <set>

using namespace glowish;
using namespace glowish::aten;
using namespace glowish::torchexport;
namespace json = llvm::json;

/// The version of the schema that is read; others may mean anything.
static constexpr int64_t schemaVersion = 8;

/// The largest value of a symbol for which the file states none; it may also
/// state one that is about as large.
static constexpr int64_t unbounded = std::numeric_limits<int64_t>::max();

namespace {

/// An input or output of the graph: what it is, and its name in the graph.
struct Binding {
  /// "user_input", "parameter", "buffer_mutation", ...
  std::string role;
  /// The name of the value; empty if it has none.
  std::string value;
  /// That of the parameter, buffer, constant or input that it belongs to.
  std::string owner;
  /// The Argument of a user's input or output.
  const json::Object *argument = nullptr;
};

/// Buffers with their first values, by their names.
using Buffers = std::map<std::string, std::shared_ptr<const Tensor>>;

class ProgramImporter {
public:
  /// \p kept: the buffers that this program or one beside it changes, where
  /// there is one; these are states.
  ProgramImporter(const json::Object &program, TorchWeights &weights,
                  const ImportOptions &options, const Buffers &kept)
      : program(program), weights(weights), options(options), kept(kept),
        module(std::make_unique<Module>("model")),
        function(*module->createFunction("main")), states(function),
        context{.aten = {.budget = budget,
                         .evaluate = options.evaluate,
                         .report = report,
                         .isTraining = options.variables != nullptr},
                .options = options,
                .symbols = options.symbols} {}

  llvm::Expected<std::unique_ptr<Module>> import();
  /// Adds the buffers that the program changes to \p buffers.
  llvm::Error addChanged(Buffers &buffers);

private:
  llvm::Error readSignature();
  llvm::Error checkKept() const;
  llvm::Error bindSymbols();
  llvm::Error bindRange(llvm::StringRef symbol);
  llvm::Error checkSymbols() const;
  std::optional<IntRange> findRange(llvm::StringRef symbol) const;
  const Type *findGiven(llvm::StringRef name, size_t position) const;
  llvm::Expected<Type> getInputType(const Binding &input,
                                    size_t position) const;
  llvm::Expected<AtenValue> createUserInput(const Binding &input,
                                            size_t position);
  llvm::Expected<AtenValue> createTensor(const Binding &input);
  llvm::Expected<AtenValue>
  createComplex(llvm::StringRef name,
                const std::shared_ptr<const Tensor> &pairs);
  llvm::Error createInputs();
  llvm::Error saveOutputs();
  llvm::Error saveOutput(const Binding &output, const AtenValue &value);
  bool isChanged(llvm::StringRef owner, llvm::StringRef role) const;
  std::vector<std::string> getUserInputs() const;

  const json::Object &program;
  TorchWeights &weights;
  const ImportOptions &options;
  const Buffers &kept;
  /// The values of kept buffers before the run.
  std::map<std::string, NodeValue> keptValues;
  std::unique_ptr<Module> module;
  Function &function;
  StateSet states;
  FoldingBudget budget;
  std::function<llvm::Error(llvm::StringRef)> report =
      [this](llvm::StringRef line) { return options.report(line); };
  ExportedContext context;
  const json::Object *graph = nullptr;
  std::vector<Binding> inputs, outputs;
  std::optional<ExportedGraph> importer;
};

} // namespace

//===- Signature ----------------------------------------------------------===//

/// One spec: a union of a role and its fields.
static llvm::Expected<Binding> readBinding(const json::Value &spec) {
  GLOWISH_ASSIGN_OR_RETURN(JsonMember member, getMember(spec));
  const json::Object *fields = member.value->getAsObject();
  if (!fields)
    return makeError("the signature has {0} without fields",
                     quote(member.name));
  Binding binding;
  binding.role = member.name.str();
  for (llvm::StringRef key : {"parameter_name", "buffer_name",
                              "tensor_constant_name", "user_input_name"})
    if (auto owner = fields->getString(key))
      binding.owner = owner->str();
  if (auto name = fields->getString("name"))
    binding.value = name->str();
  const json::Object *argument = fields->getObject("arg");
  if (!argument)
    return binding;
  if (auto name = argument->getString("name")) {
    binding.value = name->str();
    return binding;
  }
  binding.argument = argument;
  GLOWISH_ASSIGN_OR_RETURN(JsonMember value, getMember(*argument));
  if (const json::Object *object = value.value->getAsObject())
    for (llvm::StringRef key : {"name", "as_name"})
      if (auto name = object->getString(key))
        binding.value = name->str();
  return binding;
}

llvm::Error ProgramImporter::readSignature() {
  GLOWISH_ASSIGN_OR_RETURN(const json::Object *graphModule,
                           getObject(program, "graph_module"));
  GLOWISH_ASSIGN_OR_RETURN(graph, getObject(*graphModule, "graph"));
  GLOWISH_ASSIGN_OR_RETURN(const json::Object *signature,
                           getObject(*graphModule, "signature"));
  for (auto [key, list] : {std::pair("input_specs", &inputs),
                           std::pair("output_specs", &outputs)}) {
    GLOWISH_ASSIGN_OR_RETURN(const json::Array *specs,
                             getArray(*signature, key));
    for (const json::Value &spec : *specs) {
      GLOWISH_ASSIGN_OR_RETURN(Binding binding, readBinding(spec));
      list->push_back(std::move(binding));
    }
  }
  static constexpr llvm::StringLiteral known[] = {
      "user_input",          "parameter",   "buffer",
      "tensor_constant",     "user_output", "buffer_mutation",
      "user_input_mutation", "loss_output", "constant_input"};
  for (const Binding &binding : llvm::concat<Binding>(inputs, outputs))
    if (!llvm::is_contained(known, llvm::StringRef(binding.role)))
      return makeError("the signature has {0}; accepted: tensors, numbers, "
                       "parameters, buffers and changes of buffers and inputs",
                       quote(binding.role));
  return llvm::Error::success();
}

std::vector<std::string> ProgramImporter::getUserInputs() const {
  std::vector<std::string> names;
  for (const Binding &input : inputs)
    if (input.role == "user_input" && !input.value.empty())
      names.push_back(input.value);
  return names;
}

/// Whether an output of \p role changes \p owner.
bool ProgramImporter::isChanged(llvm::StringRef owner,
                                llvm::StringRef role) const {
  return llvm::any_of(outputs, [&](const Binding &output) {
    return output.role == role && output.owner == owner;
  });
}

//===- Symbols and types --------------------------------------------------===//

/// The type that the options state for user input \p position.
const Type *ProgramImporter::findGiven(llvm::StringRef name,
                                       size_t position) const {
  for (const auto *types : {&options.inputTypes, &options.givenTypes})
    if (auto found = types->find(name.str()); found != types->end())
      return &found->second;
  return position < options.givenTypesInOrder.size()
             ? &options.givenTypesInOrder[position]
             : nullptr;
}

/// Symbols take the extents of inputs whose types are stated, or the values or
/// ranges that are stated for them, or else the ranges of the file.
llvm::Error ProgramImporter::bindSymbols() {
  size_t position = 0;
  std::set<std::string> symbols;
  for (const Binding &input : inputs) {
    const json::Object *meta = findTensorMeta(*graph, input.value);
    if (input.role != "user_input" || !meta)
      continue;
    const Type *given = findGiven(input.value, position++);
    const json::Array *sizes = meta->getArray("sizes");
    for (size_t d = 0; sizes && d < sizes->size(); ++d) {
      std::optional<Extent> dim = readSize((*sizes)[d], {});
      if (!dim)
        return makeError("dimension {0} of the input {1} is no expression that "
                         "is known; accepted: sums, multiples and quotients of "
                         "symbols",
                         d, quote(input.value));
      for (const std::string &symbol : dim->getSymbols())
        symbols.insert(symbol);
      if (given && !dim->getSymbol().empty() &&
          given->getRank() == sizes->size() &&
          !options.symbolRanges.contains(dim->getSymbol().str()))
        context.symbols.try_emplace(dim->getSymbol().str(),
                                    given->getDim(unsigned(d)));
    }
  }
  GLOWISH_RETURN_IF_ERROR(checkStatedSymbols(options, symbols));
  for (const std::string &symbol : symbols)
    if (!context.symbols.contains(symbol))
      GLOWISH_RETURN_IF_ERROR(bindRange(symbol));
  return checkSymbols();
}

/// The range that the file states of \p symbol; none if it states nothing.
std::optional<IntRange>
ProgramImporter::findRange(llvm::StringRef symbol) const {
  const json::Object *ranges = program.getObject("range_constraints");
  const json::Object *range = ranges ? ranges->getObject(symbol) : nullptr;
  if (!range)
    return std::nullopt;
  return IntRange{range->getInteger("min_val").value_or(0),
                  range->getInteger("max_val").value_or(unbounded)};
}

llvm::Error ProgramImporter::bindRange(llvm::StringRef symbol) {
  std::optional<IntRange> range = findRange(symbol);
  if (auto stated = options.symbolRanges.find(symbol.str());
      stated != options.symbolRanges.end())
    range = stated->second;
  if (!range || range->high > maxTensorBytes)
    return makeError(
        "the file states no largest value of the symbol {0}, on which extents "
        "of inputs depend; state its value or its range: "
        "«define-symbol={1},N», «define-symbol={1},1..16»",
        quote(symbol), symbol);
  if (range->low == range->high)
    context.symbols[symbol.str()] = range->low;
  else
    context.ranges.set(symbol, *range);
  return llvm::Error::success();
}

/// An error unless the values are in the ranges that the file states.
llvm::Error ProgramImporter::checkSymbols() const {
  for (const auto &[name, value] : context.symbols)
    if (auto range = findRange(name);
        range && (value < range->low || value > range->high))
      return makeError("the symbol {0} is {1}; accepted: {2} to {3}",
                       quote(name), value, range->low, range->high);
  for (const auto &[name, own] : options.symbolRanges)
    if (auto range = findRange(name);
        range && (own.low < range->low || own.high > range->high))
      return makeError("the symbol {0} is {1} to {2}; accepted: {3} to {4}",
                       quote(name), own.low, own.high, range->low, range->high);
  return llvm::Error::success();
}

llvm::Expected<Type> ProgramImporter::getInputType(const Binding &input,
                                                   size_t position) const {
  const json::Object *meta = findTensorMeta(*graph, input.value);
  if (!meta)
    return makeError("the file states no type of the input {0}",
                     quote(input.value));
  GLOWISH_ASSIGN_OR_RETURN(std::optional<Type> type,
                           readTensorMeta(*meta, context));
  const Type *given = findGiven(input.value, position);
  if (!type)
    return makeError("the extents of the input {0} do not fit 64 bits",
                     quote(input.value));
  // Only the tensors of a run may be smaller.
  bool isStated = options.inputTypes.count(input.value) != 0;
  if (given && (isStated ? *given != *type : !fitsExtents(*given, *type)))
    return makeError("the input {0} is {1}; stated for it is {2}",
                     quote(input.value), type->str(), given->str());
  return *type;
}

//===- Inputs -------------------------------------------------------------===//

llvm::Expected<AtenValue> ProgramImporter::createUserInput(const Binding &input,
                                                           size_t position) {
  if (!input.argument)
    return makeError("the signature has an input without a value");
  GLOWISH_ASSIGN_OR_RETURN(JsonMember member, getMember(*input.argument));
  // Numbers are known.
  if (input.value.empty())
    return ExportedValues().read(member);
  if (member.name != "as_tensor") {
    auto found = context.symbols.find(input.value);
    if (found == context.symbols.end())
      return makeError("the input {0} is a number; state its value: "
                       "«define-symbol={1},N»",
                       quote(input.value), input.value);
    return AtenValue(found->second);
  }
  if (auto constant = options.constantInputs.find(input.value);
      constant != options.constantInputs.end())
    return AtenValue(
        NodeValue(module->createConstant(input.value, constant->second)));
  GLOWISH_ASSIGN_OR_RETURN(Type type, getInputType(input, position));
  bool isState = isChanged(input.value, "user_input_mutation");
  return AtenValue(NodeValue(createInput(*module, {input.value, type, isState},
                                         context.ranges, getUserInputs())));
}

/// Creates a complex tensor of \p pairs, its elements, called \p name.
llvm::Expected<AtenValue>
ProgramImporter::createComplex(llvm::StringRef name,
                               const std::shared_ptr<const Tensor> &pairs) {
  NodeBuilder b(function, name);
  NodeValue constant(module->createConstant(name, pairs));
  auto [real, imaginary] = splitPairs(b, constant);
  GLOWISH_RETURN_IF_ERROR(b.takeError());
  return AtenValue(AtenComplex{real, imaginary});
}

/// A parameter, buffer or constant: a constant, or a variable of a training, or
/// a state where the program changes it.
llvm::Expected<AtenValue> ProgramImporter::createTensor(const Binding &input) {
  GLOWISH_ASSIGN_OR_RETURN(std::shared_ptr<const Tensor> tensor,
                           weights.get(input.owner));
  budget.grow(tensor->getSizeInBytes());
  const Type &type = tensor->getType();
  if (weights.isComplex(input.owner)) {
    if (isChanged(input.owner, "buffer_mutation"))
      return makeError("the buffer {0} is complex, and changed; accepted: "
                       "buffers that are real or aren't changed",
                       quote(input.owner));
    return createComplex(input.owner, tensor);
  }
  if (auto own = kept.find(input.owner); own != kept.end()) {
    if (own->second->getType() != type || !own->second->isBitwiseEqual(*tensor))
      return makeError("the buffer {0} has other elements than in a program "
                       "that it is shared with; accepted: the same",
                       quote(input.owner));
    return AtenValue(keptValues[input.owner] = states.add(input.owner, tensor));
  }
  if (isChanged(input.owner, "buffer_mutation"))
    return AtenValue(states.add(input.owner, tensor));
  if (input.role == "parameter" && options.variables &&
      isFloatKind(type.getKind())) {
    NodeValue variable(module->createPlaceholder(
        input.owner, type, /*isInput=*/true, /*isOutput=*/true));
    (*options.variables)[input.owner] = tensor;
    return AtenValue(variable);
  }
  return AtenValue(NodeValue(module->createConstant(input.owner, tensor)));
}

llvm::Error ProgramImporter::createInputs() {
  GLOWISH_ASSIGN_OR_RETURN(const json::Array *stated,
                           getArray(*graph, "inputs"));
  if (stated->size() != inputs.size())
    return makeError("the graph has {0} inputs, and its signature {1}",
                     stated->size(), inputs.size());
  size_t position = 0;
  for (const Binding &input : inputs) {
    AtenValue value;
    if (input.role == "user_input") {
      GLOWISH_ASSIGN_OR_RETURN(value, createUserInput(input, position));
      position += findTensorMeta(*graph, input.value) != nullptr;
    } else if (input.role == "constant_input") {
      continue;
    } else {
      GLOWISH_ASSIGN_OR_RETURN(value, createTensor(input));
    }
    if (!input.value.empty())
      importer->getValues().set(input.value, std::move(value));
  }
  for (const auto &[name, tensor] : kept)
    if (!keptValues.contains(name))
      keptValues[name] = states.add(name, tensor);
  return llvm::Error::success();
}

//===- Outputs ------------------------------------------------------------===//

llvm::Error ProgramImporter::saveOutput(const Binding &output,
                                        const AtenValue &value) {
  if (value.isNone())
    return llvm::Error::success();
  NodeBuilder b(function, output.value.empty() ? "output" : output.value);
  if (!value.isTensor() && !value.isNumber() && !value.is<Extent>())
    return makeError("an output is {0}; accepted: tensors and numbers",
                     value.describe());
  GLOWISH_ASSIGN_OR_RETURN(NodeValue tensor, b.finish(asTensor(b, value)));
  if (output.role == "buffer_mutation") {
    states.save(output.owner, tensor);
    return llvm::Error::success();
  }
  if (output.role == "user_input_mutation") {
    Placeholder *input = module->findPlaceholder(output.owner);
    if (!input || input->getType() != tensor.getType())
      return makeError("the input {0} becomes {1}; accepted: its own type",
                       quote(output.owner), tensor.getType().str());
    function.create<SaveNode>("save_" + output.owner, tensor, NodeValue(input));
    return llvm::Error::success();
  }
  // Inputs and states have their names.
  createOutput(
      function,
      getUniqueModelName(
          *module, output.value.empty() ? "output" : output.value, "_output"),
      tensor);
  return llvm::Error::success();
}

llvm::Error ProgramImporter::saveOutputs() {
  bool isAny = false;
  for (const Binding &output : outputs) {
    AtenValue value;
    if (!output.value.empty()) {
      GLOWISH_ASSIGN_OR_RETURN(value, importer->getValues().get(output.value));
    } else if (output.argument) {
      GLOWISH_ASSIGN_OR_RETURN(JsonMember member, getMember(*output.argument));
      GLOWISH_ASSIGN_OR_RETURN(value, importer->getValues().read(member));
    }
    GLOWISH_RETURN_IF_ERROR(saveOutput(output, value));
    isAny |= !value.isNone();
  }
  if (!isAny)
    return makeError("it has no output");
  // A program keeps what only others change, or begins with its first value.
  for (const auto &[name, value] : keptValues)
    if (!isChanged(name, "buffer_mutation"))
      states.save(name, value);
  states.finish();
  return llvm::Error::success();
}

llvm::Error ProgramImporter::addChanged(Buffers &buffers) {
  GLOWISH_RETURN_IF_ERROR(readSignature());
  for (const Binding &input : inputs)
    if (isChanged(input.owner, "buffer_mutation"))
      GLOWISH_ASSIGN_OR_RETURN(buffers[input.owner], weights.get(input.owner));
  return llvm::Error::success();
}

/// Refuses inputs that have the name of a state: it would have another one here
/// than in other programs.
llvm::Error ProgramImporter::checkKept() const {
  if (kept.empty())
    return llvm::Error::success();
  for (const std::string &name : getUserInputs())
    if (kept.contains(name) || name == "initialized")
      return makeError("it has an input and a state {0}; accepted of several "
                       "programs: another name of the input",
                       quote(name));
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Module>> ProgramImporter::import() {
  GLOWISH_RETURN_IF_ERROR(readSignature());
  GLOWISH_RETURN_IF_ERROR(checkKept());
  std::vector<std::string> names = getUserInputs();
  GLOWISH_RETURN_IF_ERROR(checkStatedInputs(options, names));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<std::string> missing,
                           findUnsupported(*graph, options));
  GLOWISH_RETURN_IF_ERROR(refuseOperators(missing));
  GLOWISH_RETURN_IF_ERROR(bindSymbols());
  importer.emplace(*graph, function, context);
  GLOWISH_RETURN_IF_ERROR(createInputs());
  GLOWISH_RETURN_IF_ERROR(importer->importNodes());
  GLOWISH_RETURN_IF_ERROR(saveOutputs());
  eraseUnusedConstants(*module);
  return std::move(module);
}

//===- Files --------------------------------------------------------------===//

/// The name of the only model in \p archive.
static llvm::Expected<std::string> findModel(const TorchArchive &archive) {
  std::vector<std::string> models;
  for (llvm::StringRef name : archive.list("models/"))
    if (name.consume_front("models/") && name.consume_back(".json"))
      models.push_back(name.str());
  if (models.size() == 1)
    return models.front();
  if (archive.has("serialized_exported_program.json"))
    return makeError("it has the layout of PyTorch 2.7 and before; accepted: "
                     "that of PyTorch 2.8 and later, schema version {0}",
                     schemaVersion);
  if (models.empty() && !archive.list("data/aotinductor/").empty())
    return makeError("it holds compiled code (AOTInductor) and no graph; "
                     "accepted: what torch.export.save writes");
  return makeError("it has {0} models; accepted: 1, models/NAME.json",
                   models.size());
}

static llvm::Error checkVersion(const json::Object &program) {
  GLOWISH_ASSIGN_OR_RETURN(const json::Object *version,
                           getObject(program, "schema_version"));
  GLOWISH_ASSIGN_OR_RETURN(int64_t major, getInteger(*version, "major"));
  if (major == schemaVersion)
    return llvm::Error::success();
  return makeError("it has schema version {0}.{1}; accepted: {2}", major,
                   version->getInteger("minor").value_or(0), schemaVersion);
}

namespace {

/// The file of a program.
class ProgramFile {
public:
  static llvm::Expected<std::unique_ptr<ProgramFile>>
  open(llvm::StringRef path);
  ProgramImporter getImporter(const ImportOptions &options,
                              const Buffers &kept) {
    return {*program.getAsObject(), weights, options, kept};
  }

private:
  explicit ProgramFile(TorchArchive newArchive)
      : archive(std::move(newArchive)), weights(archive) {}
  llvm::Error read();

  TorchArchive archive;
  json::Value program = nullptr;
  TorchWeights weights;
};

} // namespace

llvm::Error ProgramFile::read() {
  GLOWISH_ASSIGN_OR_RETURN(std::string model, findModel(archive));
  if (archive.has("byteorder")) {
    GLOWISH_ASSIGN_OR_RETURN(std::string order, archive.readText("byteorder"));
    if (llvm::StringRef(order).trim() != "little")
      return makeError("its byte order is {0}; accepted: little", quote(order));
  }
  GLOWISH_ASSIGN_OR_RETURN(std::string text,
                           archive.readText("models/" + model + ".json"));
  llvm::Expected<json::Value> value = parseJson(text);
  if (!value)
    return addContext(value.takeError(), "models/" + model + ".json: ");
  program = std::move(*value);
  GLOWISH_ASSIGN_OR_RETURN(const json::Object *object, asObject(program));
  GLOWISH_RETURN_IF_ERROR(checkVersion(*object));
  GLOWISH_RETURN_IF_ERROR(checkFields(*object, "ExportedProgram"));
  GLOWISH_RETURN_IF_ERROR(weights.readConfig("data/weights/", model));
  return weights.readConfig("data/constants/", model);
}

llvm::Expected<std::unique_ptr<ProgramFile>>
ProgramFile::open(llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(TorchArchive archive, TorchArchive::open(path));
  std::unique_ptr<ProgramFile> file(new ProgramFile(std::move(archive)));
  GLOWISH_RETURN_IF_ERROR(file->read());
  return file;
}

/// Names the file in \p error.
static llvm::Error describe(llvm::StringRef path, llvm::Error error) {
  return makeError("'{0}': {1}", path,
                   cleanMessage(llvm::toString(std::move(error))));
}

/// Imports programs that share the buffers of one name, where one changes them.
static llvm::Expected<std::vector<std::unique_ptr<Module>>>
importTogether(llvm::ArrayRef<ModelFormat::Function> functions) {
  Buffers kept;
  std::vector<std::unique_ptr<ProgramFile>> files;
  for (const ModelFormat::Function &function : functions) {
    auto file = ProgramFile::open(function.path);
    if (!file)
      return describe(function.path, file.takeError());
    files.push_back(std::move(*file));
    // A single program has no others.
    if (functions.size() > 1)
      if (llvm::Error error = files.back()
                                  ->getImporter(function.options, Buffers())
                                  .addChanged(kept))
        return describe(function.path, std::move(error));
  }
  std::vector<std::unique_ptr<Module>> modules;
  for (auto [function, file] : llvm::zip_equal(functions, files)) {
    auto module = file->getImporter(function.options, kept).import();
    if (!module)
      return describe(function.path, module.takeError());
    modules.push_back(std::move(*module));
  }
  return std::move(modules);
}

llvm::Expected<std::unique_ptr<Module>>
glowish::importTorchExportFile(llvm::StringRef path,
                               const ImportOptions &options) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<std::unique_ptr<Module>> modules,
                           importTogether({{path, options}}));
  return std::move(modules.front());
}

static bool isExportedProgram(llvm::StringRef path, llvm::StringRef bytes) {
  return classifyTorchFile(path, bytes) == TorchFile::ExportedProgram;
}

static const ModelFormatRegistration
    format({.name = "PyTorch ExportedProgram",
            .description = "a program that torch.export wrote (.pt2)",
            .extensions = {".pt2"},
            .recognizes = isExportedProgram,
            .import = importTorchExportFile,
            .hasSymbols = true,
            .importTogether = importTogether,
            .sharesStates = true,
            .operators = &aten::operatorList});
