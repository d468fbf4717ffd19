//===- Protos.cpp - Attributes, tensors and types as protobuf -------------===//

#include "ONNX/GraphWriter.h"
#include "glowish/Base/Packing.h"
#include "glowish/Exporter/ONNX.h"
#include "glowish/Exporter/TensorProtoFile.h"
#include "glowish/Importer/ONNX.h"
#include <onnx/onnx-data_pb.h>

using namespace glowish;
using onnx::AttributeProto;
using onnx::TensorProto;

static AttributeProto makeAttr(llvm::StringRef name,
                               AttributeProto::AttributeType type) {
  AttributeProto attr;
  attr.set_name(name.str());
  attr.set_type(type);
  return attr;
}

AttributeProto glowish::intAttr(llvm::StringRef name, int64_t value) {
  AttributeProto attr = makeAttr(name, AttributeProto::INT);
  attr.set_i(value);
  return attr;
}

AttributeProto glowish::intsAttr(llvm::StringRef name,
                                 llvm::ArrayRef<int64_t> values) {
  AttributeProto attr = makeAttr(name, AttributeProto::INTS);
  for (int64_t value : values)
    attr.add_ints(value);
  return attr;
}

AttributeProto glowish::floatAttr(llvm::StringRef name, double value) {
  AttributeProto attr = makeAttr(name, AttributeProto::FLOAT);
  attr.set_f(float(value));
  return attr;
}

AttributeProto glowish::stringAttr(llvm::StringRef name,
                                   llvm::StringRef value) {
  AttributeProto attr = makeAttr(name, AttributeProto::STRING);
  attr.set_s(value.str());
  return attr;
}

static void setTensor(TensorProto &proto, const Tensor &tensor) {
  proto.set_data_type(getDataType(tensor.getType().getKind()));
  for (int64_t extent : tensor.getType().getShape())
    proto.add_dims(extent);
  proto.set_raw_data(packElements(tensor));
}

AttributeProto glowish::tensorAttr(llvm::StringRef name, const Tensor &tensor) {
  AttributeProto attr = makeAttr(name, AttributeProto::TENSOR);
  setTensor(*attr.mutable_t(), tensor);
  return attr;
}

std::string glowish::writeSequenceProto(llvm::StringRef name,
                                        llvm::ArrayRef<Tensor> tensors) {
  onnx::SequenceProto proto;
  proto.set_name(name.str());
  proto.set_elem_type(onnx::SequenceProto::TENSOR);
  for (const Tensor &tensor : tensors)
    setTensor(*proto.add_tensor_values(), tensor);
  return proto.SerializeAsString();
}

AttributeProto glowish::graphAttr(llvm::StringRef name,
                                  onnx::GraphProto graph) {
  AttributeProto attr = makeAttr(name, AttributeProto::GRAPH);
  *attr.mutable_g() = std::move(graph);
  return attr;
}

TensorProto::DataType glowish::getDataType(ElemKind kind) {
  std::optional<int> type = getOnnxDataType(kind);
  assert(type && "quantized kinds have been refused");
  return TensorProto::DataType(*type);
}

onnx::ValueInfoProto glowish::makeValueInfo(llvm::StringRef name,
                                            const Type &type) {
  onnx::ValueInfoProto info;
  info.set_name(name.str());
  auto &tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(getDataType(type.getKind()));
  tensor.mutable_shape();
  for (int64_t extent : type.getShape())
    tensor.mutable_shape()->add_dim()->set_dim_value(extent);
  return info;
}
