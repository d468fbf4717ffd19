//===- TestData.cpp - Inputs and expected outputs -------------------------===//

#include "TestData.h"
#include "glowish/Importer/TensorProtoFile.h"
#include <onnx/onnx_pb.h>
#include <set>

using namespace glowish;

static llvm::Error checkIsTensor(const onnx::ValueInfoProto &value) {
  if (value.type().has_tensor_type())
    return llvm::Error::success();
  return makeError("input '{0}' of the model is {1}; accepted: a tensor, a "
                   "sequence or an optional",
                   value.name(),
                   value.type().has_map_type() ? "a map" : "no tensor");
}

/// Reads input \p value, which is a sequence or an optional, from \p file.
static llvm::Error readContainerInput(const std::string &file,
                                      const onnx::ValueInfoProto &value,
                                      TestData &data) {
  GLOWISH_ASSIGN_OR_RETURN(Container container, readContainer(file, value));
  for (auto [i, tensor] : llvm::enumerate(container.tensors))
    data.inputs.push_back({container.getTensorName(i), tensor});
  data.containers.push_back(std::move(container));
  return llvm::Error::success();
}

/// The tensor that \p value, an input or output of the model, has. ONNX 1.10
/// wrote bfloat16 as uint16.
static llvm::Expected<NamedTensor>
readValue(const std::string &file, const onnx::ValueInfoProto &value) {
  GLOWISH_ASSIGN_OR_RETURN(Tensor tensor, readTensorProto(file));
  if (tensor.getType().getKind() == ElemKind::UInt16 &&
      value.type().tensor_type().elem_type() == onnx::TensorProto::BFLOAT16) {
    Type type = tensor.getType().withKind(ElemKind::BFloat16);
    tensor = std::move(tensor).withType(type);
  }
  return NamedTensor{value.name(),
                     std::make_shared<const Tensor>(std::move(tensor))};
}

/// Reads \p file, which has the output \p value. A sequence, or an optional
/// one, is an output NAME.i for each element.
static llvm::Error readOutput(const std::string &file,
                              const onnx::ValueInfoProto &value,
                              TestData &data) {
  const onnx::TypeProto &type = value.type().has_optional_type()
                                    ? value.type().optional_type().elem_type()
                                    : value.type();
  if (!type.has_sequence_type()) {
    GLOWISH_ASSIGN_OR_RETURN(NamedTensor output, readValue(file, value));
    data.outputs.push_back(std::move(output));
    return llvm::Error::success();
  }
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Tensor> tensors,
                           readSequenceProto(file));
  for (auto [i, tensor] : llvm::enumerate(tensors))
    data.outputs.push_back({value.name() + "." + std::to_string(i),
                            std::make_shared<const Tensor>(std::move(tensor))});
  return llvm::Error::success();
}

/// i / n at element i of n, as ONNX's runner makes it; extents without a value
/// are 1.
static llvm::Expected<NamedTensor> makeRamp(const onnx::ValueInfoProto &value) {
  if (value.type().tensor_type().elem_type() != onnx::TensorProto::FLOAT)
    return makeError("input '{0}' is not float: there are no data for it",
                     value.name());
  Dims shape;
  for (const auto &dim : value.type().tensor_type().shape().dim())
    shape.push_back(dim.has_dim_value() ? dim.dim_value() : 1);
  GLOWISH_RETURN_IF_ERROR(checkShape(ElemKind::Float, shape));
  Tensor tensor(Type(ElemKind::Float, shape));
  double count = double(tensor.getNumElements());
  for (auto [i, element] : llvm::enumerate(tensor.data<float>()))
    element = float(double(i) / count);
  return NamedTensor{value.name(),
                     std::make_shared<const Tensor>(std::move(tensor))};
}

llvm::Expected<TestData> glowish::readTestData(const NodeTest &test,
                                               unsigned index) {
  GLOWISH_ASSIGN_OR_RETURN(onnx::ModelProto model, readModelProto(test.model));
  const std::string &prefix = test.dataPrefixes[index];
  std::set<std::string> weights;
  for (const auto &initializer : model.graph().initializer())
    weights.insert(initializer.name());
  TestData data;
  unsigned number = 0;
  for (const auto &value : model.graph().input()) {
    if (weights.count(value.name()))
      continue;
    std::string file = prefix + "input_" + std::to_string(number++) + ".pb";
    if (isContainer(value)) {
      GLOWISH_RETURN_IF_ERROR(readContainerInput(file, value, data));
      continue;
    }
    GLOWISH_RETURN_IF_ERROR(checkIsTensor(value));
    GLOWISH_ASSIGN_OR_RETURN(NamedTensor input, test.hasRampInputs
                                                    ? makeRamp(value)
                                                    : readValue(file, value));
    data.inputs.push_back(std::move(input));
  }
  for (auto [i, value] : llvm::enumerate(model.graph().output()))
    GLOWISH_RETURN_IF_ERROR(readOutput(
        prefix + "output_" + std::to_string(i) + ".pb", value, data));
  data.random =
      RandomOutputs(model.graph(), [&](llvm::StringRef name) -> const Tensor * {
        auto found = llvm::find_if(data.inputs, [&](const NamedTensor &input) {
          return input.name == name;
        });
        return found == data.inputs.end() ? nullptr : found->tensor.get();
      });
  return data;
}
