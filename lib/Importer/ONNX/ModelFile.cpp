//===- ModelFile.cpp - Parsing of models and tensors ----------------------===//

#include "ONNX/ModelFile.h"
#include "glowish/Importer/TensorProtoFile.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/File.h"
#include <onnx/onnx-data_pb.h>

using namespace glowish;
using namespace glowish::onnximport;

llvm::Expected<onnx::ModelProto>
onnximport::parseModelProto(llvm::StringRef bytes) {
  if (bytes.empty())
    return makeError("the file is empty");
  onnx::ModelProto model;
  GLOWISH_RETURN_IF_ERROR(
      parseProtobuf(bytes, model, "an ONNX model",
                    "; accepted: weights as external data, in files "
                    "beside it"));
  if (!model.has_graph())
    return makeError("not an ONNX model: it has no graph");
  return model;
}

llvm::Expected<Tensor> glowish::readTensorProto(llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(auto buffer, readFile(path));
  onnx::TensorProto proto;
  if (!parseBinary(buffer->getBuffer(), proto))
    return makeError("'{0}': not a TensorProto", path);
  return addContext(readOwnTensor(proto), "'" + path + "': ");
}

/// Reads the tensors of \p proto.
static llvm::Expected<std::vector<Tensor>>
readTensors(const onnx::SequenceProto &proto) {
  if (proto.elem_type() != onnx::SequenceProto::TENSOR)
    return makeError("not a sequence of tensors");
  std::vector<Tensor> tensors;
  for (const onnx::TensorProto &element : proto.tensor_values()) {
    llvm::Expected<Tensor> tensor = readOwnTensor(element);
    if (!tensor)
      return addContext(tensor.takeError(),
                        "element " + llvm::Twine(tensors.size()) + ": ");
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

llvm::Expected<std::vector<Tensor>>
glowish::readSequenceProto(llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(auto buffer, readFile(path));
  onnx::SequenceProto proto;
  if (!parseBinary(buffer->getBuffer(), proto))
    return makeError("'{0}': not a SequenceProto", path);
  // An OptionalProto has the same fields, with one value.
  bool isOptional = proto.elem_type() == onnx::SequenceProto::SEQUENCE &&
                    proto.sequence_values_size() == 1;
  return addContext(readTensors(isOptional ? proto.sequence_values(0) : proto),
                    "'" + path + "': ");
}
