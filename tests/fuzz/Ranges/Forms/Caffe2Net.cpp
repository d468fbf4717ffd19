//===- Caffe2Net.cpp - Writes nets of Caffe2 ------------------------------===//

#include "Caffe2Net.h"
#include "../../GraphTarget.h"
#include "glowish/Support/Error.h"
#include "llvm/Support/Format.h"

using namespace glowish;
using namespace glowish::fuzz;

llvm::StringRef fuzz::getKindName(ElemKind kind) {
  return kind == ElemKind::Float     ? "FLOAT"
         : kind == ElemKind::Float16 ? "FLOAT16"
         : kind == ElemKind::Double  ? "DOUBLE"
         : kind == ElemKind::Int64   ? "INT64"
         : kind == ElemKind::Int32   ? "INT32"
         : kind == ElemKind::Int16   ? "INT16"
         : kind == ElemKind::UInt16  ? "UINT16"
         : kind == ElemKind::Int8    ? "INT8"
         : kind == ElemKind::UInt8   ? "UINT8"
         : kind == ElemKind::Bool    ? "BOOL"
                                     : "";
}

std::string NetOperator::printFloat(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.9g", value);
  return text;
}

bool NetWriter::addConstant(const std::string &name, const Tensor &tensor) {
  ElemKind kind = tensor.getType().getKind();
  llvm::StringRef type = kind == ElemKind::Float     ? "GivenTensorFill"
                         : kind == ElemKind::Float16 ? "GivenTensorFp16Fill"
                         : kind == ElemKind::Double  ? "GivenTensorDoubleFill"
                         : kind == ElemKind::Int32   ? "GivenTensorIntFill"
                         : kind == ElemKind::Int64   ? "GivenTensorInt64Fill"
                         : kind == ElemKind::Bool    ? "GivenTensorBoolFill"
                                                     : "";
  if (type.empty())
    return false;
  std::vector<int64_t> ints;
  std::vector<double> floats;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    if (isFloatKind(kind))
      floats.push_back(tensor.getAsDouble(i));
    else
      ints.push_back(tensor.getAsInt(i));
  operators.insert(type.str());
  NetOperator op(init, type, {}, {name});
  op.addInts("shape", tensor.getType().getShape());
  if (isFloatKind(kind))
    op.addFloats("values", floats);
  else
    op.addInts("values", ints);
  return true;
}

llvm::Expected<FormModel>
NetWriter::write(llvm::function_ref<NodeWriter(llvm::StringRef)> findWriter) {
  const onnx::GraphProto &graph = model.model.proto.graph();
  for (const auto &tensor : graph.initializer())
    if (!addConstant(tensor.name(), *model.findConstant(tensor.name())))
      return llvm::make_error<Inexpressible>(
          "there is no fill of the kind of '" + tensor.name() + "'");
  for (const auto &proto : graph.node()) {
    FormNode node(model, proto);
    NodeWriter writer = findWriter(node.getOp());
    if (!writer)
      return node.refuse("caffe2 has no counterpart");
    GLOWISH_RETURN_IF_ERROR(writer(*this, node));
  }
  for (const auto &input : graph.input())
    predict += "external_input: \"" + input.name() + "\"\n";
  for (const auto &output : graph.output())
    predict += "external_output: \"" + output.name() + "\"\n";
  predict += "name: \"fuzz\"\n";
  return FormModel{{predict, init}, operators};
}
