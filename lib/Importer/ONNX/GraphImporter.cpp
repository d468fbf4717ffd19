//===- GraphImporter.cpp - An ONNX graph becomes a function ---------------===//

#include "ONNX/Extents.h"
#include "ONNX/FlexAttention.h"
#include "ONNX/Functions.h"
#include "ONNX/GraphInputs.h"
#include "ONNX/GraphScope.h"
#include "ONNX/ModelFile.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace glowish;

namespace {

class GraphImporter {
public:
  /// Takes the weights out of \p model as they are read, so that they are not
  /// in memory twice.
  GraphImporter(onnx::ModelProto &model, const NodeOpsets &opsets,
                const ImportOptions &options, llvm::StringRef folder)
      : graph(*model.mutable_graph()), opsets(opsets), options(options),
        external(folder), module(std::make_unique<Module>(
                              graph.name().empty() ? "model" : graph.name())),
        state{options.maxTripCount, options.maxExtents},
        scope(graph,
              {*module->createFunction("main"), options.evaluate, external,
               opsets},
              state) {
    state.warn = options.warn;
    for (const auto &output : graph.output())
      outputNames.insert(output.name());
  }

  llvm::Expected<std::unique_ptr<Module>> import();

private:
  llvm::Error
  importInitializer(llvm::StringRef name,
                    llvm::Expected<std::shared_ptr<const Tensor>> tensor);
  llvm::Error importInitializers();
  llvm::Error importInputs();
  llvm::Error importInput(const onnx::ValueInfoProto &input,
                          const InputTypes &types);
  llvm::Error importOutput(const onnx::ValueInfoProto &output);
  llvm::Error importOutputs();
  void eraseUnused();

  onnx::GraphProto &graph;
  const NodeOpsets &opsets;
  const ImportOptions &options;
  ExternalData external;
  std::unique_ptr<Module> module;
  ImportState state;
  GraphScope scope;
  llvm::StringSet<> outputNames;
};

} // namespace

/// Defines \p name, or says why there is no \p tensor.
llvm::Error GraphImporter::importInitializer(
    llvm::StringRef name,
    llvm::Expected<std::shared_ptr<const Tensor>> tensor) {
  if (!tensor)
    return addContext(tensor.takeError(), "initializer " + quote(name) + ": ");
  // Weights are transposed, cast, scaled: a few times each.
  scope.getContext().foldingBudget += 16 * (*tensor)->getSizeInBytes();
  return scope.define(name, module->createConstant(name, std::move(*tensor)));
}

llvm::Error GraphImporter::importInitializers() {
  // What has been read is let go of: weights would be in memory twice.
  for (onnx::TensorProto &proto : *graph.mutable_initializer()) {
    onnx::TensorProto tensor(std::move(proto));
    GLOWISH_CHECK(
        importInitializer(tensor.name(), readTensor(tensor, external)));
  }
  for (onnx::SparseTensorProto &proto : *graph.mutable_sparse_initializer()) {
    onnx::SparseTensorProto tensor(std::move(proto));
    GLOWISH_CHECK(importInitializer(tensor.values().name(),
                                    readSparseTensor(tensor, external)));
  }
  return llvm::Error::success();
}

llvm::Error GraphImporter::importInput(const onnx::ValueInfoProto &input,
                                       const InputTypes &types) {
  GLOWISH_TRY(std::shared_ptr<const Tensor> constant,
              resolveConstantInput(input, options));
  if (constant)
    return scope.define(
        input.name(),
        module->createConstant(input.name(), std::move(constant)));
  GLOWISH_TRY(Type type, types.resolve(input));
  // An input that is an output of the same name is one placeholder.
  return scope.define(input.name(),
                      NodeValue(module->createPlaceholder(
                          input.name(), type, /*isInput=*/true,
                          outputNames.contains(input.name()))));
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
    // Files of IR version 3 list the weights among the inputs.
    if (scope.isDefined(input.name()))
      continue;
    names.push_back(input.name());
    inputs.push_back(&input);
  }
  GLOWISH_CHECK(checkInputNames(names, options));
  InputTypes types(inputs, options);
  for (const onnx::ValueInfoProto *input : inputs)
    GLOWISH_CHECK(importInput(*input, types));
  return llvm::Error::success();
}

llvm::Error GraphImporter::importOutput(const onnx::ValueInfoProto &output) {
  if (scope.lookupSequence(output.name()))
    return makeError("the output {0} is a sequence or an optional; accepted: "
                     "a tensor",
                     quote(output.name()));
  NodeValue value = scope.lookup(output.name());
  if (!value)
    return makeError("the output {0} is not computed by any node",
                     quote(output.name()));
  auto *source = value.getNodeAs<Placeholder>();
  if (source && source->getModelName() == output.name())
    return llvm::Error::success();
  Extents extents = scope.lookupExtents(output.name());
  if (!extents.empty())
    return saveSizedOutput(scope.getContext(), output.name(),
                           {value, extents});
  Placeholder *placeholder =
      module->createPlaceholder(output.name(), value.getType(),
                                /*isInput=*/false, /*isOutput=*/true);
  scope.getContext().function.create<SaveNode>("save_" + output.name(), value,
                                    NodeValue(placeholder));
  return llvm::Error::success();
}

llvm::Error GraphImporter::importOutputs() {
  if (graph.output_size() == 0)
    return makeError("the model has no outputs");
  llvm::StringSet<> seen;
  for (const auto &output : graph.output()) {
    if (!seen.insert(output.name()).second)
      return makeError("the output {0} is listed twice", quote(output.name()));
    GLOWISH_CHECK(importOutput(output));
  }
  return llvm::Error::success();
}

/// What folding left over.
void GraphImporter::eraseUnused() {
  std::vector<Constant *> unused;
  for (Node &node : module->getConstants())
    if (!node.hasUses())
      unused.push_back(llvm::cast<Constant>(&node));
  for (Constant *constant : unused)
    module->eraseConstant(constant);
}

/// The names of what nodes of \p graph and the graphs inside it compute.
static void findComputed(const onnx::GraphProto &graph,
                         llvm::StringSet<> &computed) {
  for (const onnx::NodeProto &node : graph.node()) {
    for (const std::string &name : node.output())
      computed.insert(name);
    for (const onnx::GraphProto *inner : getGraphs(node))
      findComputed(*inner, computed);
  }
}

/// Extents are stated of values that nodes compute.
static llvm::Error checkMaxExtents(const onnx::GraphProto &graph,
                                   const ImportOptions &options) {
  if (options.maxExtents.empty())
    return llvm::Error::success();
  llvm::StringSet<> computed;
  findComputed(graph, computed);
  for (const auto &[name, extent] : options.maxExtents)
    if (!computed.contains(name))
      return makeError("-max-extent={0},{1}: no node of the model computes "
                       "'{0}'",
                       name, extent);
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Module>> GraphImporter::import() {
  GLOWISH_CHECK(checkOperators(graph, opsets));
  GLOWISH_CHECK(checkMaxExtents(graph, options));
  GLOWISH_CHECK(importInitializers());
  GLOWISH_CHECK(importInputs());
  GLOWISH_CHECK(scope.importNodes());
  GLOWISH_CHECK(importOutputs());
  eraseUnused();
  return std::move(module);
}

/// \p message without what hostile names bring into it: control characters,
/// lines that are not of a list of nodes, and more than anybody would read.
static std::string cleanMessage(std::string message) {
  constexpr size_t mostPerLine = 1000;
  std::vector<std::string> lines;
  for (llvm::StringRef line : llvm::split(llvm::StringRef(message), '\n')) {
    std::string text = line.take_front(mostPerLine).str();
    if (line.size() > mostPerLine)
      text += "...";
    for (char &c : text)
      if (uint8_t(c) < 32 || c == 127)
        c = '?';
    if (lines.empty() || line.starts_with("node "))
      lines.push_back(std::move(text));
    else if (lines.back().size() < mostPerLine)
      lines.back() += "?" + text;
  }
  return llvm::join(lines, "\n");
}

static llvm::Expected<std::unique_ptr<Module>>
importBytes(llvm::StringRef bytes, llvm::StringRef name, llvm::StringRef folder,
            const ImportOptions &options) {
  auto inFile = [&](llvm::Error error) {
    return makeError("'{0}': {1}", name,
                     cleanMessage(llvm::toString(std::move(error))));
  };
  llvm::Expected<onnx::ModelProto> model = parseModelProto(bytes);
  if (!model)
    return inFile(model.takeError());
  if (llvm::Error error = expandFlexAttention(*model))
    return inFile(std::move(error));
  llvm::Expected<NodeOpsets> opsets = inlineFunctions(*model);
  if (!opsets)
    return inFile(opsets.takeError());
  auto module = GraphImporter(*model, *opsets, options, folder).import();
  if (!module)
    return inFile(module.takeError());
  return module;
}

llvm::Expected<std::unique_ptr<Module>>
glowish::importOnnxFile(llvm::StringRef path, const ImportOptions &options) {
  GLOWISH_TRY(auto buffer, readFile(path));
  llvm::SmallString<128> folder(llvm::sys::path::parent_path(path));
  if (folder.empty())
    folder = ".";
  return importBytes(buffer->getBuffer(), path, folder, options);
}

llvm::Expected<std::unique_ptr<Module>>
glowish::importOnnx(llvm::ArrayRef<uint8_t> bytes, llvm::StringRef name,
                    const ImportOptions &options) {
  return importBytes(
      llvm::StringRef(reinterpret_cast<const char *>(bytes.data()),
                      bytes.size()),
      name, "", options);
}
