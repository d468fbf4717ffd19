//===- ModelWriter.cpp - Write a function as an ONNX model ----------------===//

#include "ONNX/GraphWriter.h"
#include "glowish/Exporter/ONNX.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Path.h"
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

using namespace glowish;

/// The version of ONNX's file format that belongs to \p opset.
static int getIRVersion(int opset) {
  return opset < onnxWriterNewerOpset ? 8 : 10;
}
/// External data is page-aligned, so that it can be memory-mapped.
static constexpr int64_t pageSize = 4096;
/// Smaller weights stay in the model file.
static constexpr int64_t minExternalBytes = 1024;

namespace {

class ModelWriter {
public:
  ModelWriter(const Module &module, const OnnxWriteOptions &options, int opset)
      : module(module), options(options), graph(*model.mutable_graph()),
        pool(opset), writer(pool, graph) {}

  /// Builds the model except for the contents of weights.
  llvm::Error write();
  /// Returns the operator set that the model needs, if write() has found one
  /// newer than its own.
  int getRequiredOpset() const { return pool.getRequiredOpset(); }
  /// Returns an upper bound of the size of the model with all weights.
  int64_t countBytes() const;
  /// Serializes the model with its weights.
  llvm::Error finish(llvm::raw_ostream &os);
  /// Serializes the model, with large weights in \p data, the file \p dataName.
  llvm::Error finish(llvm::raw_ostream &os, llvm::raw_ostream &data,
                     llvm::StringRef dataName);

private:
  llvm::Expected<const Function *> findFunction() const;
  llvm::Error findPlaceholders(const Function &function);
  llvm::Error checkOptions() const;
  llvm::Error takeNames();
  llvm::Error addInput(Placeholder &placeholder);
  llvm::Error addOutput(Placeholder &placeholder);
  OnnxValue crop(Placeholder &placeholder, OnnxValue value);
  onnx::TensorProto &addInitializer(const WeightPool::Weight &weight);
  llvm::Error serialize(llvm::raw_ostream &os);

  const Module &module;
  const OnnxWriteOptions &options;
  onnx::ModelProto model;
  onnx::GraphProto &graph;
  WeightPool pool;
  GraphWriter writer;
  std::vector<Placeholder *> inputs, outputs;
  /// Maps values of the graph to the names of the outputs that they are.
  std::map<std::string, std::string> renamed;
};

} // namespace

llvm::Expected<const Function *> ModelWriter::findFunction() const {
  if (options.function.empty() && !module.getFunctions().empty())
    return module.getFunctions().front().get();
  if (const Function *function = module.findFunction(options.function))
    return function;
  return makeError("the module has no function '{0}'", options.function);
}

/// Determines the inputs and outputs from the uses of placeholders in
/// \p function.
llvm::Error ModelWriter::findPlaceholders(const Function &function) {
  llvm::DenseSet<const Node *> read, written, extents;
  for (const Node &node : function.getNodes())
    for (auto [i, operand] : llvm::enumerate(node.getOperands())) {
      if (operand.getNodeAs<Placeholder>())
        (node.getKind() == NodeKind::Save && i == SaveNode::outputIdx ? written
                                                                      : read)
            .insert(operand.node);
    }
  bool isOnly = module.getFunctions().size() == 1;
  auto isWeight = [&](const Placeholder &placeholder) {
    return options.values.count(placeholder.getModelName().str()) != 0;
  };
  for (const auto &placeholder : module.getPlaceholders())
    if (written.contains(placeholder.get()) && placeholder->getExtents())
      extents.insert(placeholder->getExtents());
  for (const auto &owner : module.getPlaceholders()) {
    Placeholder *placeholder = owner.get();
    bool isRead =
        read.contains(placeholder) || (isOnly && placeholder->isInput());
    if (isRead && written.contains(placeholder))
      return makeError("the placeholder '{0}' is read and written; accepted: "
                       "inputs, outputs, and weights with given values",
                       placeholder->getModelName());
    if (isRead)
      inputs.push_back(placeholder);
    // An output that holds the extents of another one is not written; the other
    // output is cropped to its extents instead.
    if ((written.contains(placeholder) && !extents.contains(placeholder)) ||
        (isRead && isOnly && placeholder->isOutput() &&
         !isWeight(*placeholder)))
      outputs.push_back(placeholder);
  }
  if (outputs.empty())
    return makeError("the function '{0}' has no outputs; an ONNX model needs "
                     "one",
                     function.getName());
  return llvm::Error::success();
}

llvm::Error ModelWriter::checkOptions() const {
  for (const auto &[name, tensor] : options.values) {
    const Placeholder *placeholder = module.findPlaceholder(name);
    if (!placeholder)
      return makeError("values are given for '{0}', which the module does not "
                       "have",
                       name);
    if (placeholder->getType() != tensor->getType())
      return makeError("the values of '{0}' are {1}; accepted: {2}", name,
                       tensor->getType().str(), placeholder->getType().str());
  }
  return llvm::Error::success();
}

/// Of an input or output, \p what. Kinds of fewer bits need newer opsets, which
/// have them only in weights here.
static llvm::Error checkKind(llvm::StringRef what,
                             const Placeholder &placeholder) {
  const Type &type = placeholder.getType();
  if (type.isQuantized() || isLowPrecisionKind(type.getKind()))
    return makeError("the {0} '{1}' is {2}; accepted: floats of 16 bits and "
                     "more, integers of 8 bits and more, and bool",
                     what, placeholder.getModelName(), type.str());
  return llvm::Error::success();
}

/// Reserves the names of inputs and outputs.
llvm::Error ModelWriter::takeNames() {
  std::map<std::string, const Placeholder *> owners;
  for (auto *placeholders : {&inputs, &outputs})
    for (const Placeholder *placeholder : *placeholders) {
      std::string name = placeholder->getModelName().str();
      auto [owner, isNew] = owners.try_emplace(name, placeholder);
      if (isNew)
        pool.takeName(name);
      else if (owner->second != placeholder)
        return makeError("two placeholders are called '{0}'; accepted: a name "
                         "of its own for each input and output",
                         name);
    }
  return llvm::Error::success();
}

llvm::Error ModelWriter::addInput(Placeholder &placeholder) {
  std::string name = placeholder.getModelName().str();
  const Type &type = placeholder.getType();
  auto given = options.values.find(name);
  if (given != options.values.end()) {
    pool.add(name, type, given->second);
  } else {
    GLOWISH_RETURN_IF_ERROR(checkKind("input", placeholder));
    *graph.add_input() = makeValueInfo(name, type);
  }
  writer.set(NodeValue(&placeholder), {name, type.getKind()});
  return llvm::Error::success();
}

/// Crops \p value to the actual extents of \p placeholder.
OnnxValue ModelWriter::crop(Placeholder &placeholder, OnnxValue value) {
  NodeValue extents = writer.getSaved(placeholder.getExtents());
  unsigned rank = placeholder.getType().getRank();
  if (!extents || rank == 0)
    return value;
  return writer.op("Slice",
                   {value, writer.ints(std::vector<int64_t>(rank, 0)),
                    writer.get(extents), writer.ints(getIdentityLayout(rank))});
}

llvm::Error ModelWriter::addOutput(Placeholder &placeholder) {
  GLOWISH_RETURN_IF_ERROR(checkKind("output", placeholder));
  std::string name = placeholder.getModelName().str();
  onnx::ValueInfoProto info = makeValueInfo(name, placeholder.getType());
  NodeValue saved = writer.getSaved(&placeholder);
  if (saved) {
    OnnxValue value = writer.get(saved);
    if (placeholder.getExtents()) {
      value = crop(placeholder, value);
      auto &shape =
          *info.mutable_type()->mutable_tensor_type()->mutable_shape();
      for (auto &dim : *shape.mutable_dim())
        dim.clear_dim_value();
    }
    value = writer.makeOutput(value);
    renamed[value.name] = name;
  }
  *graph.add_output() = std::move(info);
  return llvm::Error::success();
}

/// Renames values that are outputs, in \p graph and its subgraphs.
static void renameValues(onnx::GraphProto &graph,
                         const std::map<std::string, std::string> &renamed) {
  auto rename = [&](std::string &name) {
    auto found = renamed.find(name);
    if (found != renamed.end())
      name = found->second;
  };
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    for (std::string &input : *node.mutable_input())
      rename(input);
    for (std::string &output : *node.mutable_output())
      rename(output);
    for (onnx::AttributeProto &attr : *node.mutable_attribute())
      if (attr.has_g())
        renameValues(*attr.mutable_g(), renamed);
  }
}

llvm::Error ModelWriter::write() {
  model.set_ir_version(getIRVersion(pool.getOpset()));
  model.set_producer_name("glowish");
  model.set_producer_version(GLOWISH_VERSION);
  model.add_opset_import()->set_version(pool.getOpset());
  graph.set_name(module.getName().str());
  GLOWISH_ASSIGN_OR_RETURN(const Function *function, findFunction());
  GLOWISH_RETURN_IF_ERROR(checkOptions());
  GLOWISH_RETURN_IF_ERROR(findPlaceholders(*function));
  GLOWISH_RETURN_IF_ERROR(takeNames());
  for (Placeholder *placeholder : inputs)
    GLOWISH_RETURN_IF_ERROR(addInput(*placeholder));
  GLOWISH_RETURN_IF_ERROR(writer.writeNodes(*function));
  for (Placeholder *placeholder : outputs)
    GLOWISH_RETURN_IF_ERROR(addOutput(*placeholder));
  renameValues(graph, renamed);
  for (const std::string &domain : pool.getDomains()) {
    auto &opset = *model.add_opset_import();
    opset.set_domain(domain);
    opset.set_version(1);
  }
  return llvm::Error::success();
}

//===- Files --------------------------------------------------------------===//

int64_t ModelWriter::countBytes() const {
  int64_t bytes = int64_t(model.ByteSizeLong());
  for (const WeightPool::Weight &weight : pool.getWeights())
    bytes += weight.payload->getSizeInBytes() + int64_t(weight.name.size()) +
             64 + 11 * int64_t(weight.type.getRank());
  return bytes;
}

onnx::TensorProto &
ModelWriter::addInitializer(const WeightPool::Weight &weight) {
  onnx::TensorProto &proto = *graph.add_initializer();
  proto.set_name(weight.name);
  proto.set_data_type(getDataType(weight.type.getKind()));
  for (int64_t extent : weight.type.getShape())
    proto.add_dims(extent);
  return proto;
}

static void setContents(onnx::TensorProto &proto, const Tensor &tensor) {
  proto.set_raw_data(tensor.getBytes(), size_t(tensor.getSizeInBytes()));
}

static void addExternal(onnx::TensorProto &proto, llvm::StringRef key,
                        const std::string &value) {
  auto &entry = *proto.add_external_data();
  entry.set_key(key.str());
  entry.set_value(value);
}

llvm::Error ModelWriter::serialize(llvm::raw_ostream &os) {
  std::string bytes;
  bool isWritten = true;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    isWritten = model.SerializeToCodedStream(&coded);
  }
  if (!isWritten)
    return makeError("the model is too large for one file");
  os << bytes;
  return llvm::Error::success();
}

llvm::Error ModelWriter::finish(llvm::raw_ostream &os) {
  for (const WeightPool::Weight &weight : pool.getWeights())
    setContents(addInitializer(weight), *weight.payload);
  return serialize(os);
}

llvm::Error ModelWriter::finish(llvm::raw_ostream &os, llvm::raw_ostream &data,
                                llvm::StringRef dataName) {
  int64_t offset = 0;
  for (const WeightPool::Weight &weight : pool.getWeights()) {
    onnx::TensorProto &proto = addInitializer(weight);
    const Tensor &tensor = *weight.payload;
    if (tensor.getSizeInBytes() < minExternalBytes) {
      setContents(proto, tensor);
      continue;
    }
    int64_t padding = (pageSize - offset % pageSize) % pageSize;
    data.write_zeros(unsigned(padding));
    offset += padding;
    proto.set_data_location(onnx::TensorProto::EXTERNAL);
    addExternal(proto, "location", dataName.str());
    addExternal(proto, "offset", std::to_string(offset));
    addExternal(proto, "length", std::to_string(tensor.getSizeInBytes()));
    data.write(static_cast<const char *>(tensor.getBytes()),
               size_t(tensor.getSizeInBytes()));
    offset += tensor.getSizeInBytes();
  }
  return serialize(os);
}

/// Writes \p path and, if the model is too large, PATH.data.
static llvm::Error writeFiles(ModelWriter &writer, llvm::StringRef path,
                              int64_t maxFileBytes) {
  OutputFiles files;
  llvm::Expected<llvm::raw_pwrite_stream &> file = files.add(path);
  if (!file)
    return file.takeError();
  if (writer.countBytes() <= maxFileBytes) {
    GLOWISH_RETURN_IF_ERROR(writer.finish(*file));
    return files.commit();
  }
  std::string dataPath = (path + ".data").str();
  llvm::Expected<llvm::raw_pwrite_stream &> data = files.add(dataPath);
  if (!data)
    return data.takeError();
  GLOWISH_RETURN_IF_ERROR(
      writer.finish(*file, *data, llvm::sys::path::filename(dataPath)));
  return files.commit();
}

/// Builds the model, with the oldest operator set that does.
static llvm::Expected<std::unique_ptr<ModelWriter>>
buildModel(const Module &module, const OnnxWriteOptions &options) {
  auto writer = std::make_unique<ModelWriter>(module, options, onnxWriterOpset);
  llvm::Error error = writer->write();
  if (error && writer->getRequiredOpset() > onnxWriterOpset) {
    llvm::consumeError(std::move(error));
    writer = std::make_unique<ModelWriter>(module, options,
                                           writer->getRequiredOpset());
    error = writer->write();
  }
  if (error)
    return std::move(error);
  return writer;
}

llvm::Error glowish::writeOnnxFile(const Module &module, llvm::StringRef path,
                                   const OnnxWriteOptions &options) {
  auto writer = buildModel(module, options);
  if (!writer)
    return addContext(writer.takeError(), "cannot write '" + path + "': ");
  return writeFiles(**writer, path, options.maxFileBytes);
}

llvm::Expected<std::string>
glowish::writeOnnx(const Module &module, const OnnxWriteOptions &options) {
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<ModelWriter> writer,
                           buildModel(module, options));
  if (writer->countBytes() > options.maxFileBytes)
    return makeError("the model has {0} bytes; accepted: {1}",
                     writer->countBytes(), options.maxFileBytes);
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  GLOWISH_RETURN_IF_ERROR(writer->finish(os));
  return bytes;
}
