//===- GraphImporter.cpp - An ONNX graph becomes a function ---------------===//

#include "ONNX/Functions.h"
#include "ONNX/GraphInputs.h"
#include "ONNX/ModelFile.h"
#include "ONNX/OpContext.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/DenseMap.h"
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
        context{*module->createFunction("main"), options.evaluate, external,
                opsets} {}

  llvm::Expected<std::unique_ptr<Module>> import();

private:
  llvm::Error checkOperators();
  void countUses();
  llvm::Expected<std::vector<const onnx::NodeProto *>> sortNodes() const;
  llvm::Error
  importInitializer(llvm::StringRef name,
                    llvm::Expected<std::shared_ptr<const Tensor>> tensor);
  llvm::Error importInitializers();
  llvm::Error importInputs();
  llvm::Error importInput(const onnx::ValueInfoProto &input);
  llvm::Expected<std::vector<NodeValue>>
  findInputs(const onnx::NodeProto &proto);
  llvm::Error importNode(const onnx::NodeProto &proto);
  llvm::Error importOutput(const onnx::ValueInfoProto &output);
  llvm::Error importOutputs();
  llvm::Error define(llvm::StringRef name, NodeValue value);
  void release(llvm::StringRef name);
  void eraseUnused();

  onnx::GraphProto &graph;
  const NodeOpsets &opsets;
  const ImportOptions &options;
  ExternalData external;
  std::unique_ptr<Module> module;
  GraphContext context;
  llvm::StringMap<NodeValue> values;
  /// How many uses of the values of a node are still to come.
  llvm::DenseMap<const Node *, unsigned> pendingUses;
  llvm::StringSet<> outputNames;
};

} // namespace

static std::string describe(const onnx::NodeProto &proto) {
  llvm::StringRef name = proto.name();
  if (name.empty() && proto.output_size())
    name = proto.output(0);
  std::string type = quote(proto.op_type());
  return "node " + quote(name) + " (" + type.substr(1, type.size() - 2) + ")";
}

/// All operators that can't be imported, in one message.
llvm::Error GraphImporter::checkOperators() {
  std::vector<std::string> missing;
  for (const onnx::NodeProto &node : graph.node()) {
    const RegisteredOperator *found =
        findOnnxOperator(node.domain(), node.op_type());
    std::string domain = normalizeDomain(node.domain());
    std::string of = domain.empty() ? "" : "domain " + quote(domain) + ", ";
    int version = opsets.get(node).getVersion(domain);
    if (!found)
      missing.push_back(
          llvm::formatv("{0} of {1}opset {2}", describe(node), of, version));
    else if (version < found->since)
      missing.push_back(llvm::formatv("{0}: known since opset {1}, the model "
                                      "has {2}",
                                      describe(node), found->since, version));
  }
  if (missing.empty())
    return llvm::Error::success();
  return makeError(
      "{0} {1} that {2} not supported:\n{3}", missing.size(),
      missing.size() == 1 ? "node has an operator" : "nodes have operators",
      missing.size() == 1 ? "is" : "are", llvm::join(missing, "\n"));
}

void GraphImporter::countUses() {
  for (const onnx::NodeProto &node : graph.node())
    for (const std::string &name : node.input())
      if (!name.empty())
        ++context.uses[name];
  for (const auto &output : graph.output()) {
    ++context.uses[output.name()];
    outputNames.insert(output.name());
  }
}

/// The nodes with operands first, as ONNX demands and not every file does; in
/// the file's order where that is right. Linear, and without recursion: graphs
/// can be deep.
llvm::Expected<std::vector<const onnx::NodeProto *>>
GraphImporter::sortNodes() const {
  llvm::StringMap<int> producers;
  for (int i = 0; i < graph.node_size(); ++i)
    for (const std::string &name : graph.node(i).output())
      if (!name.empty() && !values.count(name))
        producers.try_emplace(name, i);
  enum State : uint8_t { Unseen, Waiting, Placed };
  std::vector<State> states(graph.node_size(), Unseen);
  std::vector<const onnx::NodeProto *> order;
  std::vector<std::pair<int, int>> stack; // a node and its next input
  for (int root = 0; root < graph.node_size(); ++root) {
    if (states[root] == Unseen)
      stack.push_back({root, 0});
    while (!stack.empty()) {
      auto &[index, next] = stack.back();
      const onnx::NodeProto &node = graph.node(index);
      states[index] = Waiting;
      if (next == node.input_size()) {
        states[index] = Placed;
        order.push_back(&node);
        stack.pop_back();
        continue;
      }
      auto found = producers.find(node.input(next++));
      if (found == producers.end() || states[found->second] == Placed)
        continue;
      if (states[found->second] == Waiting)
        return makeError("{0}: its input {1} depends on its output: the nodes "
                         "form a cycle",
                         describe(node), quote(found->first()));
      stack.push_back({found->second, 0});
    }
  }
  return order;
}

llvm::Error GraphImporter::define(llvm::StringRef name, NodeValue value) {
  if (!values.try_emplace(name, value).second)
    return makeError("the value {0} is defined twice", quote(name));
  pendingUses[value.node] += context.uses.lookup(name);
  return llvm::Error::success();
}

/// One use of \p name has been imported. A constant that nothing will read,
/// such as a filter in the model's layout, is given up at once.
void GraphImporter::release(llvm::StringRef name) {
  Node *node = values.lookup(name).node;
  if (--pendingUses[node] != 0)
    return;
  pendingUses.erase(node);
  if (llvm::isa<Constant>(node) && !node->hasUses())
    module->eraseConstant(llvm::cast<Constant>(node));
}

/// Defines \p name, or says why there is no \p tensor.
llvm::Error GraphImporter::importInitializer(
    llvm::StringRef name,
    llvm::Expected<std::shared_ptr<const Tensor>> tensor) {
  if (!tensor)
    return addContext(tensor.takeError(), "initializer " + quote(name) + ": ");
  // Weights are transposed, cast, scaled: a few times each.
  context.foldingBudget += 16 * (*tensor)->getSizeInBytes();
  return define(name, module->createConstant(name, std::move(*tensor)));
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

llvm::Error GraphImporter::importInput(const onnx::ValueInfoProto &input) {
  // Files of IR version 3 list the weights among the inputs.
  if (values.count(input.name()))
    return llvm::Error::success();
  GLOWISH_TRY(std::shared_ptr<const Tensor> constant,
              resolveConstantInput(input, options));
  if (constant)
    return define(input.name(),
                  module->createConstant(input.name(), std::move(constant)));
  GLOWISH_TRY(Type type, resolveInputType(input, options));
  // An input that is an output of the same name is one placeholder.
  return define(input.name(), NodeValue(module->createPlaceholder(
                                  input.name(), type, /*isInput=*/true,
                                  outputNames.contains(input.name()))));
}

llvm::Error GraphImporter::importInputs() {
  std::vector<std::string> names;
  llvm::StringSet<> seen;
  for (const auto &input : graph.input()) {
    if (input.name().empty())
      return makeError("an input has no name");
    if (!seen.insert(input.name()).second)
      return makeError("the input {0} is listed twice", quote(input.name()));
    if (!values.count(input.name()))
      names.push_back(input.name());
  }
  GLOWISH_CHECK(checkInputNames(names, options));
  for (const auto &input : graph.input())
    GLOWISH_CHECK(importInput(input));
  return llvm::Error::success();
}

llvm::Expected<std::vector<NodeValue>>
GraphImporter::findInputs(const onnx::NodeProto &proto) {
  std::vector<NodeValue> inputs;
  for (const std::string &name : proto.input()) {
    auto found = values.find(name);
    inputs.push_back(found == values.end() ? NodeValue() : found->second);
    if (!name.empty() && !inputs.back())
      return makeError("input {0} is not defined", quote(name));
  }
  return inputs;
}

llvm::Error GraphImporter::importNode(const onnx::NodeProto &proto) {
  GLOWISH_TRY(std::vector<NodeValue> inputs, findInputs(proto));
  OpContext op(proto, context, std::move(inputs));
  GLOWISH_CHECK(op.checkAttrs());
  GLOWISH_CHECK(
      findOnnxOperator(proto.domain(), proto.op_type())->importer(op));
  GLOWISH_CHECK(op.checkAllRead());
  for (int i = 0; i < proto.output_size(); ++i) {
    const std::string &name = proto.output(i);
    NodeValue value;
    if (i < int(op.getOutputs().size()))
      value = op.getOutputs()[i];
    // An output that is not made may still not be looked at.
    if (!value && op.wantsOutput(i))
      return makeError("output {0} ({1}) is not supported", i, quote(name));
    if (value && !name.empty())
      GLOWISH_CHECK(define(name, value));
  }
  for (const std::string &name : proto.input())
    if (!name.empty())
      release(name);
  return llvm::Error::success();
}

llvm::Error GraphImporter::importOutput(const onnx::ValueInfoProto &output) {
  NodeValue value = values.lookup(output.name());
  if (!value)
    return makeError("the output {0} is not computed by any node",
                     quote(output.name()));
  auto *source = value.getNodeAs<Placeholder>();
  if (source && source->getModelName() == output.name())
    return llvm::Error::success();
  Placeholder *placeholder =
      module->createPlaceholder(output.name(), value.getType(),
                                /*isInput=*/false, /*isOutput=*/true);
  context.function.create<SaveNode>("save_" + output.name(), value,
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

llvm::Expected<std::unique_ptr<Module>> GraphImporter::import() {
  GLOWISH_CHECK(checkOperators());
  countUses();
  GLOWISH_CHECK(importInitializers());
  GLOWISH_CHECK(importInputs());
  GLOWISH_TRY(auto order, sortNodes());
  for (const onnx::NodeProto *proto : order)
    if (llvm::Error error = importNode(*proto))
      return addContext(std::move(error), describe(*proto) + ": ");
  GLOWISH_CHECK(importOutputs());
  eraseUnused();
  return std::move(module);
}

static llvm::Expected<std::unique_ptr<Module>>
importBytes(llvm::StringRef bytes, llvm::StringRef name, llvm::StringRef folder,
            const ImportOptions &options) {
  auto inFile = [&](llvm::Error error) {
    return addContext(std::move(error), "'" + name + "': ");
  };
  llvm::Expected<onnx::ModelProto> model = parseModelProto(bytes);
  if (!model)
    return inFile(model.takeError());
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
