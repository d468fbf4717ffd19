//===- TFLiteWriter.cpp - Writes TensorFlow Lite models -------------------===//

#include "TFLiteWriter.h"
#include "../../GraphTarget.h"
#include "glowish/Support/Error.h"

using namespace glowish;
using namespace glowish::fuzz;

std::optional<schema::TensorType> fuzz::findTensorType(ElemKind kind) {
  using schema::TensorType;
  switch (kind) {
  case ElemKind::Float:
    return TensorType::FLOAT32;
  case ElemKind::Int64:
    return TensorType::INT64;
  case ElemKind::Int32:
    return TensorType::INT32;
  case ElemKind::Int16:
    return TensorType::INT16;
  case ElemKind::Int8:
    return TensorType::INT8;
  case ElemKind::UInt8:
    return TensorType::UINT8;
  case ElemKind::Bool:
    return TensorType::BOOL;
  default:
    // Operators take no other floats.
    return std::nullopt;
  }
}

int TFLiteWriter::addTensor(const std::string &name, const Type &type,
                            std::vector<uint8_t> bytes) {
  // An open dimension has one element in the shape, as in files.
  std::vector<int32_t> shape, signature;
  for (unsigned d = 0; d < type.getRank(); ++d) {
    bool isOpen = type.getExtent(d) != nullptr;
    shape.push_back(isOpen ? 1 : int32_t(type.getDim(d)));
    signature.push_back(isOpen ? -1 : shape.back());
  }
  uint32_t buffer = bytes.empty() ? 0 : file.buffer(bytes);
  flatbuffers::Offset<schema::QuantizationParameters> quantization;
  if (auto found = quantized.find(name); found != quantized.end())
    quantization = schema::CreateQuantizationParametersDirect(
        fbb(), nullptr, nullptr, &found->second.scales,
        &found->second.zeroPoints, schema::QuantizationDetails::NONE, 0,
        found->second.axis);
  return file.tensor(schema::CreateTensorDirect(
      fbb(), &shape, *findTensorType(type.getKind()), buffer, name.c_str(),
      quantization, /*is_variable=*/false, /*sparsity=*/0, &signature));
}

int TFLiteWriter::getTensor(const std::string &value) {
  auto [found, isNew] = tensors.try_emplace(value, 0);
  if (isNew)
    found->second = addTensor(value, model.getType(value));
  return found->second;
}

int TFLiteWriter::makeTensor(ElemKind kind) {
  return addTensor("tensor" + std::to_string(numNames++), Type(kind, {}));
}

int TFLiteWriter::addConstant(const Tensor &tensor) {
  llvm::ArrayRef<uint8_t> bytes = tensor.getByteRange();
  return addTensor("tensor" + std::to_string(numNames++), tensor.getType(),
                   {bytes.begin(), bytes.end()});
}

int TFLiteWriter::addInts(llvm::ArrayRef<int64_t> values) {
  std::vector<int32_t> ints(values.begin(), values.end());
  return addConstant(Tensor::fromValues<int32_t>(
      Type(ElemKind::Int32, {int64_t(ints.size())}), ints));
}

int TFLiteWriter::addNumber(ElemKind kind, double value) {
  Tensor number(Type(kind, {}));
  number.setFromDouble(0, value);
  return addConstant(number);
}

/// \p bytes are those of \p n, which quantizes or dequantizes.
llvm::Error TFLiteWriter::addQuantized(const FormNode &n,
                                       const std::string &bytes) {
  const Tensor *scales = n.findConstant(1), *zeros = n.findConstant(2);
  if (!scales || !zeros || scales->getType().getRank() > 1 ||
      scales->getType().getKind() != ElemKind::Float)
    return n.refuse("only known scales");
  TFLiteScales own;
  if (scales->getType().getRank())
    own.axis = int(n.getAxis("axis", 1, model.getType(bytes).getRank()));
  for (int64_t i = 0; i < scales->getNumElements(); ++i) {
    own.scales.push_back(float(scales->getAsDouble(i)));
    own.zeroPoints.push_back(zeros->getAsInt(i));
  }
  auto [found, isNew] = quantized.try_emplace(bytes, own);
  bool isSame = found->second.scales == own.scales &&
                found->second.zeroPoints == own.zeroPoints &&
                found->second.axis == own.axis;
  return isSame ? llvm::Error::success()
                : n.refuse("a tensor has one quantization");
}

llvm::Error TFLiteWriter::findQuantized() {
  const auto &nodes = model.model.proto.graph().node();
  for (const auto &proto : nodes) {
    FormNode n(model, proto);
    if (n.getOp() == "QuantizeLinear")
      GLOWISH_RETURN_IF_ERROR(addQuantized(n, n.getOutput()));
    if (n.getOp() == "DequantizeLinear")
      GLOWISH_RETURN_IF_ERROR(addQuantized(n, n.getInput(0)));
  }
  for (const auto &proto : nodes)
    for (const std::string &input : proto.input())
      if (proto.op_type() != "DequantizeLinear" && quantized.count(input))
        return FormNode(model, proto)
            .refuse("ONNX computes with the integers, not with floats");
  return llvm::Error::success();
}

llvm::Expected<FormModel> TFLiteWriter::write(
    llvm::function_ref<NodeWriter(llvm::StringRef)> findWriter) {
  const onnx::GraphProto &graph = model.model.proto.graph();
  for (const auto &[name, type] : model.types)
    if (!findTensorType(type.getKind()))
      return llvm::make_error<Inexpressible>(
          "'" + name + "': there are no operators of " + type.str());
  GLOWISH_RETURN_IF_ERROR(findQuantized());
  std::vector<int> inputs, outputs;
  for (const auto &input : graph.input())
    inputs.push_back(getTensor(input.name()));
  for (const auto &tensor : graph.initializer()) {
    const Tensor *elements = model.findConstant(tensor.name());
    // An empty buffer is that of a tensor without elements that are known.
    if (elements->getNumElements() == 0)
      return llvm::make_error<Inexpressible>("'" + tensor.name() +
                                             "' has no elements");
    llvm::ArrayRef<uint8_t> bytes = elements->getByteRange();
    tensors[tensor.name()] = addTensor(tensor.name(), elements->getType(),
                                       {bytes.begin(), bytes.end()});
  }
  for (const auto &proto : graph.node()) {
    FormNode node(model, proto);
    NodeWriter writer = findWriter(node.getOp());
    if (!writer)
      return node.refuse("tflite has no counterpart");
    GLOWISH_RETURN_IF_ERROR(writer(*this, node));
  }
  for (const auto &output : graph.output())
    outputs.push_back(getTensor(output.name()));
  return FormModel{{file.finish(inputs, outputs)}, operators};
}
