//===- Shape.cpp - Constant, Identity and Cast ----------------------------===//

#include "ONNX/Conversion.h"
#include "ONNX/Extents.h"
#include "ONNX/ModelFile.h"
#include "ONNX/Strings.h"

using namespace glowish;
using namespace glowish::onnximport;

static llvm::Error importConstant(OpContext &op) {
  if (const onnx::AttributeProto *value = op.findAttr("value")) {
    if (hasStringElements(value->t()))
      return addContext(op.setStrings(value->t()), "attribute 'value': ");
    GLOWISH_ASSIGN_OR_RETURN(auto tensor, op.getTensor("value"));
    return op.setOutput(0, op.createConstant(std::move(tensor)));
  }
  if (op.hasAttr("sparse_value")) {
    GLOWISH_ASSIGN_OR_RETURN(auto tensor, op.getSparseTensor("sparse_value"));
    return op.setOutput(0, op.createConstant(std::move(tensor)));
  }
  if (op.hasAttr("value_float")) {
    double value = op.getFloat("value_float", 0);
    return op.setOutput(0, op.scalar(ElemKind::Float, value));
  }
  if (op.hasAttr("value_int")) {
    int64_t value = op.getInt("value_int", 0);
    return op.setOutput(0, op.createConstant(Tensor::fromValues<int64_t>(
                               Type(ElemKind::Int64, Dims()), {value})));
  }
  if (op.hasAttr("value_ints")) {
    std::vector<int64_t> values = op.getInts("value_ints", {});
    return op.setOutput(0, op.int64s(values));
  }
  if (op.hasAttr("value_floats")) {
    std::vector<double> values = op.getFloats("value_floats");
    Tensor tensor(Type(ElemKind::Float, {int64_t(values.size())}));
    llvm::copy(values, tensor.data<float>().begin());
    return op.setOutput(0, op.createConstant(std::move(tensor)));
  }
  if (op.hasAttr("value_string") || op.hasAttr("value_strings")) {
    onnx::TensorProto tensor;
    std::vector<std::string> values = op.getStrings("value_strings");
    if (op.hasAttr("value_string"))
      values = {op.getString("value_string", "")};
    else
      tensor.add_dims(int64_t(values.size()));
    tensor.mutable_string_data()->Assign(values.begin(), values.end());
    return op.setStrings(tensor);
  }
  return makeError("there is no value; accepted: attribute value, "
                   "sparse_value, value_int, value_ints, value_float, "
                   "value_floats, value_string or value_strings");
}

static llvm::Error importIdentity(OpContext &op) {
  if (op.hasSequence(0)) {
    GLOWISH_ASSIGN_OR_RETURN(const Sequence *sequence, op.getSequence(0));
    op.setSequence(*sequence);
    return llvm::Error::success();
  }
  return op.setOutput(0, op.getInput(0));
}

static llvm::Error makeCast(OpContext &op, ElemKind kind) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue input, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(Conversion conversion, readConversion(op));
  return op.setOutput(0, convert(op, input, kind, conversion));
}

/// The kind is a string before opset 6.
static llvm::Error importCast(OpContext &op) {
  if (!op.hasAttr("to"))
    return makeError("attribute 'to' is missing");
  if (op.getOpset() >= 6) {
    int64_t to = op.getInt("to", 0);
    GLOWISH_ASSIGN_OR_RETURN(ElemKind kind, getElemKind(to));
    return makeCast(op, kind);
  }
  std::string name = op.getString("to", "");
  onnx::TensorProto::DataType type;
  if (!onnx::TensorProto::DataType_Parse(name, &type))
    return makeError("attribute 'to' is '{0}', which is not an element type",
                     name);
  GLOWISH_ASSIGN_OR_RETURN(ElemKind kind, getElemKind(type));
  return makeCast(op, kind);
}

static llvm::Error importCastLike(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue like, op.getInput(1));
  // Only the kind is used.
  return makeCast(op, like.getElemKind());
}

static OnnxOperator constantOp("Constant", 1, importConstant);
static OnnxOperator identityOp("Identity", 1, elementWise<importIdentity>);
static OnnxOperator castOp("Cast", 1, elementWise<importCast>);
static OnnxOperator castLikeOp("CastLike", 15, withExtents<importCastLike>);
