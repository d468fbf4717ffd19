//===- Shape.cpp - Constants and shape arithmetic -------------------------===//

#include "ONNX/ModelFile.h"
#include "ONNX/OpContext.h"
#include <cmath>

using namespace glowish;

static llvm::Error importConstant(OpContext &op) {
  if (op.hasAttr("value")) {
    GLOWISH_TRY(auto tensor, op.getTensor("value"));
    return op.setOutput(0, op.createConstant(std::move(tensor)));
  }
  if (op.hasAttr("sparse_value")) {
    GLOWISH_TRY(auto tensor, op.getSparseTensor("sparse_value"));
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
  if (op.hasAttr("value_floats")) {
    GLOWISH_TRY(std::vector<double> values, op.getFloats("value_floats"));
    Tensor tensor(Type(ElemKind::Float, {int64_t(values.size())}));
    llvm::copy(values, tensor.data<float>().begin());
    return op.setOutput(0, op.createConstant(std::move(tensor)));
  }
  return makeError("there is no value; accepted: attribute value, "
                   "sparse_value, value_int, value_ints, value_float or "
                   "value_floats");
}

static llvm::Error importConstantOfShape(OpContext &op) {
  GLOWISH_TRY(std::vector<int64_t> shape, op.getConstantInts(0));
  if (!op.hasAttr("value"))
    return op.setOutput(0, op.create<SplatNode>(ElemKind::Float, shape, 0.0));
  GLOWISH_TRY(auto tensor, op.getTensor("value"));
  if (tensor->getNumElements() != 1)
    return makeError("attribute 'value' has {0} elements; accepted: 1",
                     tensor->getNumElements());
  ElemKind kind = tensor->getType().getKind();
  double value = tensor->getAsDouble(0);
  if (isIntegerKind(kind) && std::abs(value) >= 9007199254740992.0)
    return makeError("attribute 'value' is {0}; accepted: below 2^53",
                     tensor->getAsInt(0));
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
  op.ignoreAttrs({"ratio", "seed", "is_test"});
  op.ignoreInput(1);
  if (op.hasInput(2)) {
    GLOWISH_TRY(double training, op.getConstantNumber(2));
    if (training)
      return makeError("training_mode is true; accepted: false");
  }
  GLOWISH_CHECK(op.setOutput(0, input));
  if (!op.wantsOutput(1))
    return llvm::Error::success();
  op.nameAfterOutput(1);
  ElemKind kind = op.getOpset() >= 10 ? ElemKind::Bool : input.getElemKind();
  return op.setOutput(1, op.create<SplatNode>(kind, input.getShape(), 1.0));
}

static llvm::Error makeCast(OpContext &op, ElemKind kind) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  // Both are about float8 and smaller kinds, which are refused.
  op.ignoreAttrs({"saturate", "round_mode"});
  if (kind == input.getElemKind())
    return op.setOutput(0, input);
  return op.setOutput(0, op.create<CastNode>(input, kind));
}

/// Before opset 6 the kind is a string.
static llvm::Error importCast(OpContext &op) {
  if (!op.hasAttr("to"))
    return makeError("attribute 'to' is missing");
  if (op.getOpset() >= 6) {
    GLOWISH_TRY(int64_t to, op.getInt("to", 0));
    GLOWISH_TRY(ElemKind kind, getElemKind(to));
    return makeCast(op, kind);
  }
  GLOWISH_TRY(std::string name, op.getString("to", ""));
  onnx::TensorProto::DataType type;
  if (!onnx::TensorProto::DataType_Parse(name, &type))
    return makeError("attribute 'to' is '{0}', which is no element type", name);
  GLOWISH_TRY(ElemKind kind, getElemKind(type));
  return makeCast(op, kind);
}

static llvm::Error importCastLike(OpContext &op) {
  GLOWISH_TRY(NodeValue like, op.getInput(1));
  return makeCast(op, like.getElemKind());
}

/// The elements of Range: of integers exactly, of floats as start + i * delta.
static void fillRange(Tensor &tensor, const Tensor &start,
                      const Tensor &delta) {
  int64_t count = tensor.getNumElements();
  if (isIntegerKind(tensor.getType().getKind()))
    dispatchElemKind(tensor.getType().getKind(), [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_integral_v<T>)
        for (int64_t i = 0; i < count; ++i)
          tensor.data<T>()[i] = T(uint64_t(start.getAsInt(0)) +
                                  uint64_t(i) * uint64_t(delta.getAsInt(0)));
    });
  else
    for (int64_t i = 0; i < count; ++i)
      tensor.setFromDouble(i, start.getAsDouble(0) +
                                  double(i) * delta.getAsDouble(0));
}

static llvm::Error importRange(OpContext &op) {
  GLOWISH_TRY(const Tensor *start, op.getConstant(0));
  GLOWISH_TRY(const Tensor *limit, op.getConstant(1));
  GLOWISH_TRY(const Tensor *delta, op.getConstant(2));
  ElemKind kind = start->getType().getKind();
  for (const Tensor *tensor : {start, limit, delta})
    if (tensor->getNumElements() != 1 || tensor->getType().getKind() != kind ||
        kind == ElemKind::Bool)
      return makeError("inputs are {0}, {1}, {2}; accepted: three numbers of "
                       "one kind",
                       start->getType().str(), limit->getType().str(),
                       delta->getType().str());
  double count = std::ceil((limit->getAsDouble(0) - start->getAsDouble(0)) /
                           delta->getAsDouble(0));
  // Written so that a NaN is refused.
  if (!(count <= double(1 << 28)))
    return makeError("the range has {0} elements; accepted: at most 2^28",
                     count);
  Type type(kind, {count > 0 ? int64_t(count) : int64_t(0)});
  GLOWISH_CHECK(op.checkBudget(type.getSizeInBytes()));
  Tensor tensor(type);
  fillRange(tensor, *start, *delta);
  return op.setOutput(0, op.createConstant(std::move(tensor)));
}

/// The indices of the elements that are not 0: [rank, number of them].
static llvm::Error importNonZero(OpContext &op) {
  GLOWISH_TRY(const Tensor *input, op.getConstant(0));
  DimsRef shape = input->getType().getShape();
  Dims strides = getDenseStrides(shape);
  GLOWISH_CHECK(op.checkBudget(input->getNumElements() *
                               int64_t(sizeof(int64_t) * (shape.size() + 1))));
  std::vector<int64_t> found;
  for (int64_t i = 0; i < input->getNumElements(); ++i)
    if (input->getAsDouble(i) != 0)
      found.push_back(i);
  std::vector<int64_t> indices;
  for (unsigned d = 0; d < shape.size(); ++d)
    for (int64_t i : found)
      indices.push_back(i / strides[d] % shape[d]);
  return op.setOutput(
      0,
      op.createConstant(Tensor::fromValues<int64_t>(
          Type(ElemKind::Int64, {int64_t(shape.size()), int64_t(found.size())}),
          indices)));
}

static OnnxOperator constantOp("Constant", 1, importConstant);
static OnnxOperator constantOfShapeOp("ConstantOfShape", 9,
                                      importConstantOfShape);
static OnnxOperator shapeOp("Shape", 1, importShape);
static OnnxOperator sizeOp("Size", 1, importSize);
static OnnxOperator identityOp("Identity", 1, importIdentity);
static OnnxOperator dropoutOp("Dropout", 1, importDropout);
static OnnxOperator castOp("Cast", 1, importCast);
static OnnxOperator castLikeOp("CastLike", 15, importCastLike);
static OnnxOperator rangeOp("Range", 11, importRange);
static OnnxOperator nonZeroOp("NonZero", 9, importNonZero);
