//===- GraphImporter.cpp - Convert an ONNX graph to a module --------------===//

#include "ONNX/GraphImporter.h"
#include "Common/Messages.h"
#include "Common/Outputs.h"
#include "Common/SymbolInputs.h"
#include "ONNX/DeclaredTypes.h"
#include "ONNX/Extents.h"
#include "ONNX/FunctionExtents.h"
#include "ONNX/GraphInputs.h"
#include "ONNX/GraphScope.h"
#include "ONNX/ModelFile.h"
#include "ONNX/States.h"

using namespace glowish;
using namespace glowish::onnximport;

namespace {

class GraphImporter {
public:
  /// Moves weights out of \p model as they are read, to avoid a second copy.
  GraphImporter(onnx::ModelProto &model, const NodeOpsets &opsets,
                const ImportOptions &options, const DataFolders &folders,
                WeightCache *cache)
      : model(model), graph(*model.mutable_graph()), opsets(opsets),
        options(options), cache(cache), external(folders),
        module(std::make_unique<Module>(graph.name().empty() ? "model"
                                                             : graph.name())),
        declared(graph), state{options},
        scope(graph,
              {*module->createFunction("main"), options.evaluate, external,
               opsets},
              state) {
    if (options.hasWarnings())
      state.declared = &declared;
    scope.getContext().variables = options.variables;
    if (cache)
      module->setSharedTensors(cache->tensors);
    for (const auto &output : graph.output())
      outputNames.insert(output.name());
  }

  llvm::Expected<std::unique_ptr<Module>> import();

private:
  llvm::Error checkOpset() const;
  llvm::Error checkBoundValues() const;
  llvm::Error
  importInitializer(llvm::StringRef name,
                    llvm::Expected<std::shared_ptr<const Tensor>> tensor);
  llvm::Error importInitializers();
  llvm::Error importInputs();
  void stateSymbol(const std::string &symbol);
  NodeValue dropConstantExtents(NodeValue value);
  llvm::Error importInput(const onnx::ValueInfoProto &input,
                          const InputTypes &types);
  llvm::Expected<Dims> findLayout(const std::string &name, DimsRef own) const;
  llvm::Error saveOutput(const std::string &name, NodeValue value);
  llvm::Error importSequenceOutput(const onnx::ValueInfoProto &output,
                                   size_t index, const Sequence &sequence);
  llvm::Error checkStrings(const onnx::ValueInfoProto &output) const;
  llvm::Error importOutput(const onnx::ValueInfoProto &output, size_t index);
  llvm::Error importOutputs();
  /// Makes one placeholder of each state's input and output.
  llvm::Error importStates();

  const onnx::ModelProto &model;
  onnx::GraphProto &graph;
  const NodeOpsets &opsets;
  const ImportOptions &options;
  /// Null if the model is imported only once.
  WeightCache *cache;
  ExternalData external;
  std::unique_ptr<Module> module;
  DeclaredTypes declared;
  ImportState state;
  GraphScope scope;
  llvm::StringSet<> outputNames;
  /// The inputs of outputs that are states.
  llvm::StringMap<std::string> stateInputs;
};

} // namespace

/// Defines \p name as \p tensor, or returns the error of reading it.
llvm::Error GraphImporter::importInitializer(
    llvm::StringRef name,
    llvm::Expected<std::shared_ptr<const Tensor>> tensor) {
  if (!tensor)
    return addContext(tensor.takeError(), "initializer " + quote(name) + ": ");
  if (cache && !cache->isComplete)
    cache->weights.push_back({name.str(), *tensor});
  scope.getContext().foldingBudget.grow((*tensor)->getSizeInBytes());
  const Type &type = (*tensor)->getType();
  if (!options.variables || !isFloatKind(type.getKind()) || !type.getRank())
    return scope.define(name, module->createConstant(name, std::move(*tensor)));
  Placeholder *variable = module->createPlaceholder(
      name, type, /*isInput=*/true, /*isOutput=*/true);
  (*options.variables)[name.str()] = std::move(*tensor);
  return scope.define(name, NodeValue(variable));
}

llvm::Error GraphImporter::importInitializers() {
  // These are few, and stay in the model for later imports.
  for (const onnx::TensorProto &proto : graph.initializer())
    if (hasStringElements(proto))
      GLOWISH_RETURN_IF_ERROR(scope.defineStrings(proto.name(), proto));
  if (cache && cache->isComplete) {
    for (const auto &[name, tensor] : cache->weights)
      GLOWISH_RETURN_IF_ERROR(importInitializer(name, tensor));
    return llvm::Error::success();
  }
  // Release each tensor once it has been read, to avoid a second copy.
  for (onnx::TensorProto &proto : *graph.mutable_initializer()) {
    if (hasStringElements(proto))
      continue;
    onnx::TensorProto tensor(std::move(proto));
    GLOWISH_RETURN_IF_ERROR(
        importInitializer(tensor.name(), readTensor(tensor, external)));
  }
  for (onnx::SparseTensorProto &proto : *graph.mutable_sparse_initializer()) {
    onnx::SparseTensorProto tensor(std::move(proto));
    GLOWISH_RETURN_IF_ERROR(importInitializer(
        tensor.values().name(), readSparseTensor(tensor, external)));
  }
  if (cache)
    cache->isComplete = true;
  return llvm::Error::success();
}

/// Makes the input by which runs state \p symbol.
void GraphImporter::stateSymbol(const std::string &symbol) {
  if (module->getSymbols().find(symbol))
    return;
  // A model may have a value of the same name.
  std::string name = scope.makePlaceholderName(symbol, ".extent");
  Placeholder *placeholder =
      createSymbol(*module, name, {symbol, options.symbolRanges.at(symbol)});
  scope.getContext().extents->define(symbol, placeholder);
}

/// Returns \p value, an input, without those of its extents that have a single
/// value: the inputs that state these are there so that a program for some
/// values has the placeholders of that for all.
NodeValue GraphImporter::dropConstantExtents(NodeValue value) {
  ExtentList extents(value.getType().getExtents());
  for (std::optional<Extent> &extent : extents) {
    auto range = extent ? module->getSymbols().getRange(*extent) : std::nullopt;
    if (range && range->low == range->high)
      extent.reset();
  }
  Type type = value.getType().withExtents(extents);
  if (type == value.getType())
    return value;
  return scope.getContext()
      .function.create<DeclareExtentsNode>(value.node->getName(), value, type)
      ->getResult();
}

llvm::Error GraphImporter::importInput(const onnx::ValueInfoProto &input,
                                       const InputTypes &types) {
  GLOWISH_ASSIGN_OR_RETURN(std::shared_ptr<const Tensor> constant,
                           resolveConstantInput(input, options));
  if (constant) {
    declared.bindInput(input, constant->getType());
    return scope.define(input.name(), module->createConstant(
                                          input.name(), std::move(constant)));
  }
  GLOWISH_ASSIGN_OR_RETURN(Type type, types.resolve(input));
  declared.bindInput(input, type);
  for (const std::optional<Extent> &extent : type.getExtents())
    for (const std::string &symbol :
         extent ? extent->getSymbols() : std::vector<std::string>())
      stateSymbol(symbol);
  GLOWISH_ASSIGN_OR_RETURN(Dims shape,
                           findLayout(input.name(), type.getShape()));
  // An input that is also an output of the same name is a single placeholder.
  Placeholder *placeholder = module->createPlaceholder(
      input.name(), type.withShape(shape).withExtents(type.getExtents()),
      /*isInput=*/true, outputNames.contains(input.name()));
  NodeValue value = dropConstantExtents(placeholder);
  if (DimsRef(shape) != type.getShape())
    value = sliceCorner(scope.getContext().function, value, type.getShape());
  return scope.define(input.name(), value);
}

/// The extents of the placeholder \p name for values with the extents \p own. A
/// state gets them when both of its values are known.
llvm::Expected<Dims> GraphImporter::findLayout(const std::string &name,
                                               DimsRef own) const {
  bool isState = llvm::any_of(
      stateInputs, [&](const auto &state) { return state.second == name; });
  if (!options.layout || isState)
    return Dims(own);
  return options.layout->findShape(name, own);
}

llvm::Error GraphImporter::importInputs() {
  std::vector<std::string> names;
  std::vector<const onnx::ValueInfoProto *> inputs;
  llvm::StringSet<> seen;
  for (const auto &input : graph.input()) {
    if (input.name().empty())
      return makeError("an input has no name");
    if (!seen.insert(input.name()).second)
      return makeError("the input {0} is listed twice", quote(input.name()));
    // Files of IR version 3 list weights among the inputs.
    if (scope.isDefined(input.name()))
      continue;
    names.push_back(input.name());
    inputs.push_back(&input);
  }
  GLOWISH_RETURN_IF_ERROR(checkStatedInputs(options, names));
  GLOWISH_RETURN_IF_ERROR(checkStatedSymbols(options, findSymbols(inputs)));
  InputTypes types(inputs, options);
  GLOWISH_RETURN_IF_ERROR(types.checkSymbols());
  for (const onnx::ValueInfoProto *input : inputs)
    GLOWISH_RETURN_IF_ERROR(importInput(*input, types));
  return llvm::Error::success();
}

/// Saves \p value as the output \p name of the module.
llvm::Error GraphImporter::saveOutput(const std::string &name,
                                      NodeValue value) {
  if (module->findPlaceholder(name))
    return makeError("two outputs have the name {0}", quote(name));
  if (value.getType().hasExtents())
    return saveOpenOutput(scope.getContext(), name, value, value.getShape());
  createOutput(scope.getContext().function, name, value);
  module->findPlaceholder(name)->setClassNames(state.classNames.lookup(name));
  return llvm::Error::success();
}

/// Saves each element of \p sequence as an output of its own.
llvm::Error
GraphImporter::importSequenceOutput(const onnx::ValueInfoProto &output,
                                    size_t index, const Sequence &sequence) {
  if (sequence.isAbsent)
    return makeError("the output {0} is an optional without a value; accepted: "
                     "a tensor or a sequence",
                     quote(output.name()));
  std::string difference = declared.compare(output, sequence);
  if (!difference.empty())
    GLOWISH_RETURN_IF_ERROR(options.report("the output " + difference));
  for (auto [i, element] : llvm::enumerate(sequence.elements))
    GLOWISH_RETURN_IF_ERROR(
        saveOutput(output.name() + "." + std::to_string(i), element));
  if (options.sequenceOutputs)
    options.sequenceOutputs->push_back(
        {output.name(), index, sequence.elements.size()});
  return llvm::Error::success();
}

/// Returns an error if \p output is strings.
llvm::Error
GraphImporter::checkStrings(const onnx::ValueInfoProto &output) const {
  if (!scope.hasStrings(output.name()))
    return llvm::Error::success();
  llvm::Error error =
      refuseStrings("the output " + quote(output.name()) + " of the model");
  const onnx::NodeProto *producer = scope.findProducer(output.name());
  return producer ? addContext(std::move(error), describe(*producer) + ": ")
                  : std::move(error);
}

llvm::Error GraphImporter::importOutput(const onnx::ValueInfoProto &output,
                                        size_t index) {
  if (const Sequence *sequence = scope.lookupSequence(output.name()))
    return importSequenceOutput(output, index, *sequence);
  NodeValue value = scope.lookup(output.name());
  if (!value)
    return makeError("the output {0} is not computed by any node",
                     quote(output.name()));
  std::string difference = declared.compare(output, value.getType());
  if (!difference.empty())
    GLOWISH_RETURN_IF_ERROR(options.report("the output " + difference));
  auto *source = value.getNodeAs<Placeholder>();
  if (source && source->getModelName() == output.name())
    return llvm::Error::success();
  bool isDynamic =
      value.getType().hasExtents() ||
      (options.layout && options.layout->hasExtents(output.name()));
  if (!isDynamic)
    return saveOutput(output.name(), value);
  GLOWISH_ASSIGN_OR_RETURN(Dims shape,
                           findLayout(output.name(), value.getShape()));
  return saveOpenOutput(scope.getContext(), output.name(), value, shape);
}

llvm::Error GraphImporter::importStates() {
  // In the model's order. Readers are changed when all values are saved: one
  // may be that of several outputs.
  std::vector<std::pair<Placeholder *, Type>> states;
  for (const auto &output : graph.output()) {
    auto input = stateInputs.find(output.name());
    if (input == stateInputs.end())
      continue;
    NodeValue value = scope.lookup(output.name());
    Placeholder *placeholder = module->findPlaceholder(input->second);
    if (!value || !placeholder)
      return makeError("«state»: {0} is {1}",
                       quote(value ? input->second : output.name()),
                       value ? "a constant" : "no tensor");
    states.emplace_back(placeholder, placeholder->getType());
    if (llvm::Error error = makeState(scope.getContext(), *placeholder, value,
                                      options.layout.get()))
      return addContext(std::move(error),
                        "«state»: the output " + quote(output.name()) + ": ");
  }
  for (const auto &[placeholder, type] : states)
    widenReaders(scope.getContext().function, *placeholder, type);
  return llvm::Error::success();
}

llvm::Error GraphImporter::importOutputs() {
  if (graph.output_size() == 0)
    return makeError("the model has no outputs");
  if (options.sequenceOutputs)
    options.sequenceOutputs->clear();
  llvm::StringSet<> seen;
  for (auto [index, output] : llvm::enumerate(graph.output())) {
    if (output.name().empty())
      return makeError("an output has no name");
    if (!seen.insert(output.name()).second)
      return makeError("the output {0} is listed twice", quote(output.name()));
    GLOWISH_RETURN_IF_ERROR(checkStrings(output));
    if (!stateInputs.count(output.name()))
      GLOWISH_RETURN_IF_ERROR(importOutput(output, index));
  }
  GLOWISH_RETURN_IF_ERROR(importStates());
  for (const auto &placeholder : module->getPlaceholders())
    if (placeholder->isOutput())
      return llvm::Error::success();
  return makeError("all outputs are sequences without elements; accepted: at "
                   "least one tensor");
}

/// Collects the names that nodes of \p graph and its subgraphs compute.
static void findComputed(const onnx::GraphProto &graph,
                         llvm::StringSet<> &computed) {
  for (const onnx::NodeProto &node : graph.node()) {
    for (const std::string &name : node.output())
      computed.insert(name);
    for (const onnx::GraphProto *inner : getGraphs(node))
      findComputed(*inner, computed);
  }
}

/// -max-extent must name values that nodes compute.
static llvm::Error checkMaxExtents(const onnx::GraphProto &graph,
                                   const ImportOptions &options) {
  if (options.maxExtents.empty())
    return llvm::Error::success();
  llvm::StringSet<> computed;
  findComputed(graph, computed);
  for (const auto &[name, extent] : options.maxExtents)
    if (!computed.contains(name))
      return makeError("«max-extent={0},{1}»: no node of the model computes "
                       "'{0}'",
                       name, extent);
  return llvm::Error::success();
}

/// Reports entries of -max-extent that nothing asked for.
llvm::Error GraphImporter::checkBoundValues() const {
  for (const auto &[name, extent] : options.maxExtents)
    if (!state.boundValues.contains(name))
      GLOWISH_RETURN_IF_ERROR(options.report(
          llvm::formatv("«max-extent={0},{1}» has no effect: all extents of "
                        "'{0}' are known",
                        name, extent)
              .str()));
  return llvm::Error::success();
}

/// Reports an opset whose operators may differ from those that are imported.
llvm::Error GraphImporter::checkOpset() const {
  int64_t imported = getNewestImportedOpset(model);
  int known = getNewestKnownOpset();
  if (imported <= known)
    return llvm::Error::success();
  return options.report(
      llvm::formatv("the model has opset {0}; the newest known one is {1}, "
                    "whose operators are assumed",
                    imported, known)
          .str());
}

llvm::Expected<std::unique_ptr<Module>> GraphImporter::import() {
  GLOWISH_RETURN_IF_ERROR(checkOpset());
  GLOWISH_RETURN_IF_ERROR(checkOperators(graph, opsets, options));
  GLOWISH_RETURN_IF_ERROR(checkMaxExtents(graph, options));
  // What a step reads and writes would be taken for a weight.
  if (options.variables && !options.states.empty())
    return makeError("«state={0},{1}»: the model is imported to be trained; "
                     "accepted: inference",
                     options.states.front().input,
                     options.states.front().output);
  GLOWISH_ASSIGN_OR_RETURN(stateInputs, matchStates(graph, options.states));
  GLOWISH_RETURN_IF_ERROR(importInitializers());
  GLOWISH_RETURN_IF_ERROR(importInputs());
  GLOWISH_RETURN_IF_ERROR(scope.importNodes());
  GLOWISH_RETURN_IF_ERROR(importOutputs());
  GLOWISH_RETURN_IF_ERROR(checkBoundValues());
  if (options.layout)
    GLOWISH_RETURN_IF_ERROR(options.layout->check(*module));
  eraseUnusedConstants(*module);
  return std::move(module);
}

llvm::Expected<std::unique_ptr<Module>>
onnximport::importGraph(onnx::ModelProto &model, const NodeOpsets &opsets,
                        const ImportOptions &options,
                        const DataFolders &folders, WeightCache *cache) {
  return GraphImporter(model, opsets, options, folders, cache).import();
}
