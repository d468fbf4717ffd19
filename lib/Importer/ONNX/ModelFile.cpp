//===- ModelFile.cpp - Parsing of models and tensors ----------------------===//

#include "ONNX/ModelFile.h"
#include "glowish/Importer/ONNX.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/File.h"

using namespace glowish;

llvm::Expected<onnx::ModelProto>
glowish::parseModelProto(llvm::StringRef bytes) {
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
  llvm::Expected<Tensor> tensor = readOwnTensor(proto);
  if (!tensor)
    return addContext(tensor.takeError(), "'" + path + "': ");
  return tensor;
}
