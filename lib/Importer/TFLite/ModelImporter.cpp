//===- ModelImporter.cpp - Convert TensorFlow Lite models to a function ---===//

#include "Common/OperatorList.h"
#include "Common/SymbolInputs.h"
#include "TFLite/Boundary.h"
#include "TFLite/Settings.h"
#include "TFLite/Subgraphs.h"
#include "glowish/Importer/ModelFormat.h"
#include "glowish/Importer/TFLite.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;
using namespace glowish::tflite;

namespace {

/// Imports the main subgraph, whose inputs and outputs are the model's.
class ModelImporter {
public:
  ModelImporter(const TFLiteFile &file, const ImportOptions &options)
      : file(file), graph(file.getMain()), options(options),
        module(std::make_unique<Module>(graph.name() && graph.name()->size()
                                            ? graph.name()->str()
                                            : "model")),
        function(*module->createFunction("main")),
        state(file, options, *module), variables(function),
        main(graph, function, state, variables), context(main.getContext()),
        tensors(main.getTensors()) {}

  llvm::Expected<std::unique_ptr<Module>> import();

private:
  llvm::Error checkOperators() const;
  llvm::Error checkNames() const;
  llvm::Expected<Type> getInputType(const TFLiteTensor &tensor,
                                    size_t position) const;
  llvm::Error createInputs();
  llvm::Error saveOutputs();

  const TFLiteFile &file;
  const schema::SubGraph &graph;
  const ImportOptions &options;
  std::unique_ptr<Module> module;
  Function &function;
  TFLiteModelState state;
  VariableScope variables;
  SubgraphImporter main;
  TFLiteContext &context;
  std::vector<TFLiteTensor> &tensors;
};

} // namespace

//===- Inputs -------------------------------------------------------------===//

/// Returns an error if the options name an input or a symbol that the model
/// does not have.
llvm::Error ModelImporter::checkNames() const {
  std::vector<std::string> names;
  for (int32_t index : getIndices(graph.inputs()))
    names.push_back(tensors[size_t(index)].name);
  GLOWISH_RETURN_IF_ERROR(checkStatedInputs(options, names));
  return checkStatedSymbols(options);
}

/// The type of the placeholder of \p tensor, input \p position: with the
/// extents of the file, or those that the options give.
llvm::Expected<Type> ModelImporter::getInputType(const TFLiteTensor &tensor,
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
  Type own =
      tensor.type.withKind(getInputKind(tensor, TFLiteOptions::of(options)));
  if (!given)
    return own;
  if (given->getKind() != own.getKind() || given->getRank() != own.getRank())
    return makeError("the input {0} is {1}; stated for it is {2}",
                     quote(tensor.name), own.str(), given->str());
  return own.withShape(given->getShape()).withExtents(given->getExtents());
}

llvm::Error ModelImporter::createInputs() {
  SymbolRanges ranges(options.symbolRanges);
  std::vector<std::string> names;
  for (const TFLiteTensor &tensor : tensors)
    names.push_back(tensor.name);
  // No variable gets the name of a symbol.
  for (const auto &[symbol, range] : options.symbolRanges)
    state.getUniqueName(symbol);
  for (auto [position, index] : llvm::enumerate(getIndices(graph.inputs()))) {
    TFLiteTensor &tensor = tensors[size_t(index)];
    // A list may name an input twice.
    if (tensor.value)
      continue;
    if (tensor.isResource)
      return makeError("the input {0} is a variable; accepted: tensors",
                       quote(tensor.name));
    GLOWISH_ASSIGN_OR_RETURN(Type type, getInputType(tensor, position));
    context.hasOtherShapes |=
        type.hasExtents() || type.getShape() != tensor.type.getShape();
    if (auto constant = options.constantInputs.find(tensor.name);
        constant != options.constantInputs.end())
      tensor.value =
          NodeValue(module->createConstant(tensor.name, constant->second));
    else
      setInput(function, tensor,
               createInput(*module, {tensor.name, type}, ranges, names));
  }
  return llvm::Error::success();
}

//===- Operators ----------------------------------------------------------===//

/// Reports in one message all operators that have no importer, of the main
/// subgraph and of those that operators run.
llvm::Error ModelImporter::checkOperators() const {
  std::vector<std::string> missing;
  std::vector<int32_t> used = {0};
  llvm::DenseSet<int32_t> seen = {0};
  for (size_t next = 0; next < used.size(); ++next) {
    const schema::SubGraph &subgraph = *file.findSubgraph(used[next]);
    if (!subgraph.operators())
      continue;
    for (const schema::Operator *op : *subgraph.operators()) {
      std::string type = file.getOperatorName(*op);
      llvm::ArrayRef<int32_t> outputs = getIndices(op->outputs());
      if (!findTFLiteOperator(type, options)) {
        std::string name;
        if (!outputs.empty())
          name =
              &subgraph == &graph
                  ? tensors[size_t(outputs.front())].name
                  : getName(*subgraph.tensors()->Get(unsigned(outputs.front())))
                        .str();
        missing.push_back(describeNode(name, type));
      }
      for (int32_t inner : getSubgraphs(*op))
        if (file.findSubgraph(inner) && seen.insert(inner).second)
          used.push_back(inner);
    }
  }
  return refuseOperators(missing);
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
    if (tensor.isResource)
      return makeError("the output {0} is a variable; accepted: tensors",
                       quote(tensor.name));
    if (!main.getValue(index).tensor)
      return makeError("nothing computes the output {0}", quote(tensor.name));
    // An input has its name.
    std::string name = module->findPlaceholder(tensor.name)
                           ? state.getUniqueName(tensor.name + "_output")
                           : tensor.name;
    createOutput(function, tensor, name, TFLiteOptions::of(options));
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Module>> ModelImporter::import() {
  GLOWISH_RETURN_IF_ERROR(main.readTensors());
  GLOWISH_RETURN_IF_ERROR(checkNames());
  GLOWISH_RETURN_IF_ERROR(checkOperators());
  GLOWISH_RETURN_IF_ERROR(createInputs());
  GLOWISH_RETURN_IF_ERROR(main.createConstants());
  GLOWISH_RETURN_IF_ERROR(main.importOperators());
  GLOWISH_RETURN_IF_ERROR(saveOutputs());
  variables.save();
  state.eraseUnusedVariables();
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

//===- The page with operators --------------------------------------------===//

static constexpr llvm::StringLiteral operatorHeading =
    R"(# TensorFlow Lite operators

Generated by `model-compiler -list-operators=tflite`. Do not edit. What else
there is to know of TensorFlow Lite models is in [tflite.md](tflite.md).

)";

static void printOperatorPage(llvm::raw_ostream &os) {
  os << operatorHeading;
  printOperators(os, listTFLiteOperators());
}

static constexpr OperatorList operatorList = {
    .name = "tflite", .description = "", .print = printOperatorPage};

static const ModelFormatRegistration
    format({.name = TFLiteOptions::formatName,
            .description = "a TensorFlow Lite file (.tflite)",
            .extensions = {".tflite"},
            .magic = {{.bytes = "TFL3", .offset = 4}},
            .import = importTFLiteFile,
            .hasSymbols = true,
            .operators = &operatorList,
            .createSettings = createSettings});
