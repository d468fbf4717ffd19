//===- GraphImporter.cpp - An ONNX graph becomes a function ---------------===//

#include "ONNX/ModelFile.h"
#include "ONNX/OpContext.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace glowish;

namespace {

class GraphImporter {
public:
  GraphImporter(const onnx::ModelProto &model, const ImportOptions &options,
                llvm::StringRef folder)
      : model(model), graph(model.graph()), options(options), folder(folder),
        module(std::make_unique<Module>(
            graph.name().empty() ? "model" : graph.name())),
        function(*module->createFunction("main")) {}

  llvm::Expected<std::unique_ptr<Module>> import();

private:
  llvm::Error readOpset();
  llvm::Error checkOperators();
  llvm::Error importInitializers();
  llvm::Error importInputs();
  llvm::Error importInput(const onnx::ValueInfoProto &input);
  llvm::Expected<Type> getInputType(const onnx::ValueInfoProto &input);
  llvm::Expected<int64_t>
  getDim(const onnx::ValueInfoProto &input,
         const onnx::TensorShapeProto::Dimension &dim);
  llvm::Error importNodes();
  llvm::Error importNode(const onnx::NodeProto &proto);
  llvm::Error importOutputs();
  llvm::Error define(llvm::StringRef name, NodeValue value);
  void eraseUnused();

  const onnx::ModelProto &model;
  const onnx::GraphProto &graph;
  const ImportOptions &options;
  llvm::StringRef folder;
  std::unique_ptr<Module> module;
  Function &function;
  int opset = 1;
  llvm::StringMap<NodeValue> values;
};

} // namespace

static std::string describe(const onnx::NodeProto &proto) {
  llvm::StringRef name = proto.name();
  if (name.empty() && proto.output_size())
    name = proto.output(0);
  return llvm::formatv("node '{0}' ({1})", name, proto.op_type());
}

static bool isDefaultDomain(llvm::StringRef domain) {
  return domain.empty() || domain == "ai.onnx";
}

llvm::Error GraphImporter::readOpset() {
  for (const auto &import : model.opset_import())
    if (isDefaultDomain(import.domain())) {
      if (import.version() < 1 || import.version() > 1000)
        return makeError("opset {0} does not exist", import.version());
      opset = int(import.version());
    }
  return llvm::Error::success();
}

/// All operators that can't be imported, in one message.
llvm::Error GraphImporter::checkOperators() {
  std::vector<std::string> missing;
  for (const onnx::NodeProto &node : graph.node()) {
    const RegisteredOperator *found =
        isDefaultDomain(node.domain()) ? findOnnxOperator(node.op_type())
                                       : nullptr;
    if (!found)
      missing.push_back(describe(node) +
                        (isDefaultDomain(node.domain())
                             ? ""
                             : " of domain '" + node.domain() + "'"));
    else if (opset < found->since)
      missing.push_back(llvm::formatv("{0}: known since opset {1}, the model "
                                      "has {2}",
                                      describe(node), found->since, opset));
  }
  if (missing.empty())
    return llvm::Error::success();
  return makeError("{0} nodes have operators that are not supported:\n{1}",
                   missing.size(), llvm::join(missing, "\n"));
}

llvm::Error GraphImporter::define(llvm::StringRef name, NodeValue value) {
  if (!values.try_emplace(name, value).second)
    return makeError("the value '{0}' is defined twice", name);
  return llvm::Error::success();
}

llvm::Error GraphImporter::importInitializers() {
  for (const onnx::TensorProto &proto : graph.initializer()) {
    llvm::Expected<Tensor> tensor = readTensor(proto, folder);
    if (!tensor)
      return addContext(tensor.takeError(),
                        "initializer '" + proto.name() + "': ");
    GLOWISH_CHECK(define(
        proto.name(), module->createConstant(proto.name(), std::move(*tensor))));
  }
  if (graph.sparse_initializer_size())
    return makeError("sparse initializers are not supported");
  return llvm::Error::success();
}

llvm::Expected<int64_t>
GraphImporter::getDim(const onnx::ValueInfoProto &input,
                      const onnx::TensorShapeProto::Dimension &dim) {
  if (dim.has_dim_value() && dim.dim_value() >= 0)
    return dim.dim_value();
  auto found = options.symbols.find(dim.dim_param());
  if (dim.has_dim_param() && found != options.symbols.end())
    return found->second;
  std::string symbol = dim.dim_param().empty() ? "N" : dim.dim_param();
  if (dim.dim_param().empty())
    return makeError("input '{0}' has a dimension without a value; state its "
                     "type with -model-input={0},float,[...]",
                     input.name());
  return makeError("input '{0}' has the symbolic dimension '{1}'; bind it with "
                   "-onnx-define-symbol={1},VALUE or state the type with "
                   "-model-input={0},float,[...]",
                   input.name(), symbol);
}

llvm::Expected<Type>
GraphImporter::getInputType(const onnx::ValueInfoProto &input) {
  auto stated = options.inputTypes.find(input.name());
  if (!input.type().has_tensor_type())
    return makeError("input '{0}' is not a tensor", input.name());
  const auto &tensor = input.type().tensor_type();
  llvm::Expected<ElemKind> kind = getElemKind(tensor.elem_type());
  if (!kind)
    return addContext(kind.takeError(), "input '" + input.name() + "': ");
  Dims dims;
  if (stated != options.inputTypes.end()) {
    const Type &type = stated->second;
    if (type.getKind() != *kind)
      return makeError("-model-input states {0} for '{1}'; the model has {2}",
                       getElemKindName(type.getKind()), input.name(),
                       getElemKindName(*kind));
    if (tensor.has_shape() &&
        tensor.shape().dim_size() != int(type.getRank()))
      return makeError("-model-input states rank {0} for '{1}'; the model has "
                       "{2}",
                       type.getRank(), input.name(), tensor.shape().dim_size());
    return type;
  }
  if (!tensor.has_shape())
    return makeError("input '{0}' has no shape; state its type with "
                     "-model-input={0},float,[...]",
                     input.name());
  for (const auto &dim : tensor.shape().dim()) {
    GLOWISH_TRY(int64_t extent, getDim(input, dim));
    dims.push_back(extent);
  }
  if (llvm::Error error = checkShape(*kind, dims))
    return addContext(std::move(error), "input '" + input.name() + "': ");
  return Type(*kind, dims);
}

llvm::Error GraphImporter::importInput(const onnx::ValueInfoProto &input) {
  // Files of IR version 3 list the weights among the inputs.
  if (values.count(input.name()))
    return llvm::Error::success();
  auto bound = options.constantInputs.find(input.name());
  if (bound != options.constantInputs.end())
    return define(input.name(),
                  module->createConstant(input.name(), bound->second));
  GLOWISH_TRY(Type type, getInputType(input));
  return define(input.name(),
                NodeValue(module->createPlaceholder(
                    input.name(), type, /*isInput=*/true, /*isOutput=*/false)));
}

llvm::Error GraphImporter::importInputs() {
  std::vector<std::string> names;
  llvm::StringSet<> known;
  for (const auto &input : graph.input()) {
    known.insert(input.name());
    if (!values.count(input.name()))
      names.push_back("'" + input.name() + "'");
  }
  for (const auto &[name, type] : options.inputTypes)
    if (!known.contains(name))
      return makeError("-model-input: the model has no input '{0}'; it has {1}",
                       name, llvm::join(names, ", "));
  for (const auto &input : graph.input())
    GLOWISH_CHECK(importInput(input));
  return llvm::Error::success();
}

llvm::Error GraphImporter::importNode(const onnx::NodeProto &proto) {
  std::vector<NodeValue> inputs;
  for (const std::string &name : proto.input()) {
    NodeValue value = values.lookup(name);
    if (!name.empty() && !value)
      return makeError("{0}: input '{1}' is not defined before it",
                       describe(proto), name);
    inputs.push_back(value);
  }
  OpContext context(proto, opset, function, options.evaluate,
                    std::move(inputs));
  const RegisteredOperator *registered = findOnnxOperator(proto.op_type());
  if (llvm::Error error = registered->importer(context))
    return addContext(std::move(error), describe(proto) + ": ");
  for (int i = 0; i < proto.output_size(); ++i) {
    if (proto.output(i).empty())
      continue;
    NodeValue value;
    if (i < int(context.getOutputs().size()))
      value = context.getOutputs()[i];
    // An output that is not made may still not be looked at.
    if (value)
      GLOWISH_CHECK(addContext(define(proto.output(i), value),
                               describe(proto) + ": "));
  }
  return llvm::Error::success();
}

llvm::Error GraphImporter::importNodes() {
  for (const onnx::NodeProto &proto : graph.node())
    GLOWISH_CHECK(importNode(proto));
  return llvm::Error::success();
}

llvm::Error GraphImporter::importOutputs() {
  if (graph.output_size() == 0)
    return makeError("the model has no outputs");
  llvm::StringSet<> seen;
  for (const auto &output : graph.output()) {
    NodeValue value = values.lookup(output.name());
    if (!value)
      return makeError("the output '{0}' is not computed by any node",
                       output.name());
    if (!seen.insert(output.name()).second)
      return makeError("the output '{0}' is listed twice", output.name());
    Placeholder *placeholder =
        module->createPlaceholder(output.name(), value.getType(),
                                  /*isInput=*/false, /*isOutput=*/true);
    function.create<SaveNode>("save_" + output.name(), value,
                              NodeValue(placeholder));
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
  GLOWISH_CHECK(readOpset());
  GLOWISH_CHECK(checkOperators());
  GLOWISH_CHECK(importInitializers());
  GLOWISH_CHECK(importInputs());
  GLOWISH_CHECK(importNodes());
  GLOWISH_CHECK(importOutputs());
  eraseUnused();
  return std::move(module);
}

static llvm::Expected<std::unique_ptr<Module>>
importBytes(llvm::StringRef bytes, llvm::StringRef name,
            llvm::StringRef folder, const ImportOptions &options) {
  auto inFile = [&](llvm::Error error) {
    return addContext(std::move(error), "'" + name + "': ");
  };
  llvm::Expected<onnx::ModelProto> model = parseModelProto(bytes);
  if (!model)
    return inFile(model.takeError());
  auto module = GraphImporter(*model, options, folder).import();
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
