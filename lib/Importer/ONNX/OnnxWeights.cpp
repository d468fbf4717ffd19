//===- OnnxWeights.cpp - Replace weights of ONNX models -------------------===//

#include "glowish/Importer/OnnxWeights.h"
#include "ONNX/ModelFile.h"
#include "glowish/Base/Packing.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/File.h"

using namespace glowish;
using namespace glowish::onnximport;

struct OnnxWeights::Contents {
  std::string path;
  onnx::ModelProto proto;
  ExternalData external;
  /// The initializers, by name.
  std::map<std::string, onnx::TensorProto *> initializers;

  explicit Contents(llvm::StringRef path)
      : path(path.str()), external(DataFolders::of(path)) {}
  llvm::Error addPath(llvm::Error error) const {
    return addContext(std::move(error), "'" + path + "': ");
  }
  llvm::Error makeDense();
  llvm::Error makeInternal();
};

OnnxWeights::OnnxWeights(std::unique_ptr<Contents> contents)
    : contents(std::move(contents)) {}
OnnxWeights::OnnxWeights(OnnxWeights &&) = default;
OnnxWeights::~OnnxWeights() = default;

/// Stores the elements in \p proto itself.
static void setElements(onnx::TensorProto &proto, const Tensor &tensor) {
  onnx::TensorProto result;
  result.set_name(proto.name());
  if (proto.has_doc_string())
    result.set_doc_string(proto.doc_string());
  result.set_data_type(proto.data_type());
  for (int64_t extent : tensor.getType().getShape())
    result.add_dims(extent);
  result.set_raw_data(packElements(tensor));
  proto = std::move(result);
}

/// Makes sparse initializers dense, as trained elements are not zeros.
llvm::Error OnnxWeights::Contents::makeDense() {
  onnx::GraphProto &graph = *proto.mutable_graph();
  for (const onnx::SparseTensorProto &sparse : graph.sparse_initializer()) {
    auto tensor = readSparseTensor(sparse, external);
    if (!tensor)
      return addPath(tensor.takeError());
    onnx::TensorProto &dense = *graph.add_initializer();
    dense.set_name(sparse.values().name());
    dense.set_data_type(sparse.values().data_type());
    setElements(dense, **tensor);
  }
  graph.clear_sparse_initializer();
  return llvm::Error::success();
}

/// Moves external data into the model, as the copy may be in another directory.
llvm::Error OnnxWeights::Contents::makeInternal() {
  for (onnx::TensorProto &tensor :
       *proto.mutable_graph()->mutable_initializer()) {
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL)
      continue;
    auto value = readTensor(tensor, external);
    if (!value)
      return addPath(addContext(value.takeError(),
                                "initializer " + quote(tensor.name()) + ": "));
    setElements(tensor, **value);
  }
  return llvm::Error::success();
}

llvm::Expected<OnnxWeights> OnnxWeights::read(llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(auto buffer, readFile(path));
  auto contents = std::make_unique<Contents>(path);
  llvm::Expected<onnx::ModelProto> proto = parseModelProto(buffer->getBuffer());
  if (!proto)
    return contents->addPath(proto.takeError());
  contents->proto = std::move(*proto);
  GLOWISH_RETURN_IF_ERROR(contents->makeDense());
  for (onnx::TensorProto &tensor :
       *contents->proto.mutable_graph()->mutable_initializer())
    contents->initializers[tensor.name()] = &tensor;
  return OnnxWeights(std::move(contents));
}

bool OnnxWeights::has(llvm::StringRef name) const {
  return contents->initializers.count(name.str());
}

llvm::Error OnnxWeights::set(llvm::StringRef name, const Tensor &value) {
  auto found = contents->initializers.find(name.str());
  if (found == contents->initializers.end())
    return contents->addPath(
        makeError("there is no initializer {0}", quote(name)));
  onnx::TensorProto &proto = *found->second;
  llvm::Expected<ElemKind> kind = getElemKind(proto.data_type());
  if (!kind)
    return contents->addPath(kind.takeError());
  Dims shape(proto.dims().begin(), proto.dims().end());
  const Type &type = value.getType();
  if (*kind != type.getKind() || DimsRef(shape) != type.getShape())
    return contents->addPath(
        makeError("the initializer {0} is {1}<{2}>, not {3}", quote(name),
                  getElemKindName(*kind), formatShape(shape), type.str()));
  setElements(proto, value);
  return llvm::Error::success();
}

llvm::Error OnnxWeights::write(llvm::StringRef path) {
  GLOWISH_RETURN_IF_ERROR(contents->makeInternal());
  size_t size = contents->proto.ByteSizeLong();
  if (size > size_t(INT_MAX))
    return makeError("'{0}': the model has {1} bytes, protobuf's limit is 2 "
                     "GiB",
                     path, size);
  std::string bytes;
  contents->proto.SerializeToString(&bytes);
  return writeFile(path, bytes);
}
