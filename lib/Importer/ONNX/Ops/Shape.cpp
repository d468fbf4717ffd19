//===- Shape.cpp - Constants and shape arithmetic -------------------------===//

#include "ONNX/ModelFile.h"
#include "ONNX/OpContext.h"
#include <cmath>

using namespace glowish;

static llvm::Error importConstant(OpContext &op) {
  if (const auto *attr = op.findAttr("value")) {
    GLOWISH_TRY(Tensor tensor, readTensor(attr->t(), ""));
    return op.setOutput(0, op.createConstant(std::move(tensor)));
  }
  if (op.hasAttr("value_float")) {
    GLOWISH_TRY(double value, op.getFloat("value_float", 0));
    return op.setOutput(0, op.createScalar(ElemKind::Float, value));
  }
  if (op.hasAttr("value_int")) {
    GLOWISH_TRY(int64_t value, op.getInt("value_int", 0));
    return op.setOutput(0, op.createConstant(Tensor::fromValues<int64_t>(
                               Type(ElemKind::Int64, Dims()), {value})));
  }
  if (op.hasAttr("value_ints")) {
    GLOWISH_TRY(std::vector<int64_t> values, op.getInts("value_ints", {}));
    return op.setOutput(0, op.createInt64s(values));
  }
  if (const auto *attr = op.findAttr("value_floats")) {
    std::vector<float> values(attr->floats().begin(), attr->floats().end());
    return op.setOutput(0, op.createConstant(Tensor::fromValues<float>(
                               Type(ElemKind::Float, {int64_t(values.size())}),
                               values)));
  }
  return makeError("a constant without a tensor, float or int value");
}

static llvm::Error importConstantOfShape(OpContext &op) {
  GLOWISH_TRY(std::vector<int64_t> shape, op.getConstantInts(0));
  ElemKind kind = ElemKind::Float;
  double value = 0;
  if (const auto *attr = op.findAttr("value")) {
    GLOWISH_TRY(Tensor tensor, readTensor(attr->t(), ""));
    if (tensor.getNumElements() != 1)
      return makeError("attribute 'value' has {0} elements; accepted: 1",
                       tensor.getNumElements());
    kind = tensor.getType().getKind();
    value = tensor.getAsDouble(0);
  }
  return op.setOutput(0, op.create<SplatNode>(kind, shape, value));
}

static llvm::Error importShape(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  DimsRef shape = input.getShape();
  int64_t rank = shape.size();
  GLOWISH_TRY(int64_t start, op.getInt("start", 0));
  GLOWISH_TRY(int64_t end, op.getInt("end", rank));
  auto clamp = [&](int64_t index) {
    return std::clamp<int64_t>(index < 0 ? index + rank : index, 0, rank);
  };
  start = clamp(start);
  end = std::max(clamp(end), start);
  return op.setOutput(0, op.createInt64s(shape.slice(start, end - start)));
}

static llvm::Error importSize(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  return op.setOutput(0, op.createConstant(Tensor::fromValues<int64_t>(
                             Type(ElemKind::Int64, Dims()),
                             {input.getType().getNumElements()})));
}

static llvm::Error importIdentity(OpContext &op) {
  return op.setOutput(0, op.getInput(0));
}

/// In inference: the input, and a mask that is all true.
static llvm::Error importDropout(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  if (op.hasInput(2)) {
    GLOWISH_TRY(const Tensor *training, op.getConstant(2));
    if (training->getNumElements() && training->getAsInt(0))
      return makeError("training_mode is not supported");
  }
  GLOWISH_CHECK(op.setOutput(0, input));
  if (!op.wantsOutput(1))
    return llvm::Error::success();
  ElemKind kind = op.getOpset() >= 10 ? ElemKind::Bool : input.getElemKind();
  return op.setOutput(1, op.create<SplatNode>(kind, input.getShape(), 1.0));
}

static llvm::Error importCast(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  GLOWISH_TRY(int64_t to, op.getInt("to", 0));
  GLOWISH_TRY(ElemKind kind, getElemKind(int32_t(to)));
  if (kind == input.getElemKind())
    return op.setOutput(0, input);
  return op.setOutput(0, op.create<CastNode>(input, kind));
}

static llvm::Error importRange(OpContext &op) {
  GLOWISH_TRY(const Tensor *start, op.getConstant(0));
  GLOWISH_TRY(const Tensor *limit, op.getConstant(1));
  GLOWISH_TRY(const Tensor *delta, op.getConstant(2));
  for (const Tensor *tensor : {start, limit, delta})
    if (tensor->getNumElements() != 1 ||
        tensor->getType().getKind() != start->getType().getKind())
      return makeError("accepted: three scalars of one element type");
  double first = start->getAsDouble(0), step = delta->getAsDouble(0);
  double count = std::ceil((limit->getAsDouble(0) - first) / step);
  if (!(count <= double(1 << 28)))
    return makeError("the range has no reasonable length");
  Type type(start->getType().getKind(),
            {count > 0 ? int64_t(count) : int64_t(0)});
  Tensor tensor(type);
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    tensor.setFromDouble(i, first + double(i) * step);
  return op.setOutput(0, op.createConstant(std::move(tensor)));
}

static OnnxOperator constantOp("Constant", 1, importConstant);
static OnnxOperator constantOfShapeOp("ConstantOfShape", 9,
                                      importConstantOfShape);
static OnnxOperator shapeOp("Shape", 1, importShape);
static OnnxOperator sizeOp("Size", 1, importSize);
static OnnxOperator identityOp("Identity", 1, importIdentity);
static OnnxOperator dropoutOp("Dropout", 1, importDropout);
static OnnxOperator castOp("Cast", 6, importCast);
static OnnxOperator rangeOp("Range", 11, importRange);
