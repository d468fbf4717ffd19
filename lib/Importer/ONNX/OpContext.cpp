//===- OpContext.cpp - What the import of one node sees -------------------===//

#include "ONNX/OpContext.h"

using namespace glowish;
using onnx::AttributeProto;

/// Shape arithmetic and weights are folded; a small constant that is repeated
/// into a large one is not.
static constexpr int64_t maxFoldedGrowth = 1 << 16;

llvm::Expected<NodeValue> OpContext::getInput(unsigned index) const {
  if (!hasInput(index))
    return makeError("input {0} is missing", index);
  return inputs[index];
}

llvm::Expected<const Tensor *> OpContext::getConstant(unsigned index) const {
  GLOWISH_TRY(NodeValue value, getInput(index));
  if (auto *constant = value.getNodeAs<Constant>())
    return &constant->getTensor();
  return makeError("input {0} ('{1}') decides a shape and must be a constant",
                   index, proto.input(index));
}

llvm::Expected<std::vector<int64_t>>
OpContext::getConstantInts(unsigned index) const {
  GLOWISH_TRY(const Tensor *tensor, getConstant(index));
  if (!isIntegerKind(tensor->getType().getKind()) ||
      tensor->getType().getRank() > 1)
    return makeError("input {0} is {1}; accepted: a list of integers", index,
                     tensor->getType().str());
  std::vector<int64_t> values;
  for (int64_t i = 0; i < tensor->getNumElements(); ++i)
    values.push_back(tensor->getAsInt(i));
  return values;
}

const AttributeProto *OpContext::findAttr(llvm::StringRef name) const {
  for (const AttributeProto &attr : proto.attribute())
    if (attr.name() == name)
      return &attr;
  return nullptr;
}

static llvm::Error checkType(const AttributeProto &attr,
                             AttributeProto::AttributeType type) {
  // Files of before IR version 2 don't state the type.
  if (attr.type() == type || attr.type() == AttributeProto::UNDEFINED)
    return llvm::Error::success();
  return makeError("attribute '{0}' is of type {1}; accepted: {2}",
                   attr.name(), AttributeProto::AttributeType_Name(attr.type()),
                   AttributeProto::AttributeType_Name(type));
}

llvm::Expected<int64_t> OpContext::getInt(llvm::StringRef name,
                                          int64_t defaultValue) const {
  const AttributeProto *attr = findAttr(name);
  if (!attr)
    return defaultValue;
  GLOWISH_CHECK(checkType(*attr, AttributeProto::INT));
  return attr->i();
}

llvm::Expected<double> OpContext::getFloat(llvm::StringRef name,
                                           double defaultValue) const {
  const AttributeProto *attr = findAttr(name);
  if (!attr)
    return defaultValue;
  GLOWISH_CHECK(checkType(*attr, AttributeProto::FLOAT));
  return attr->f();
}

llvm::Expected<std::string>
OpContext::getString(llvm::StringRef name,
                     llvm::StringRef defaultValue) const {
  const AttributeProto *attr = findAttr(name);
  if (!attr)
    return defaultValue.str();
  GLOWISH_CHECK(checkType(*attr, AttributeProto::STRING));
  return attr->s();
}

llvm::Expected<std::vector<int64_t>>
OpContext::getInts(llvm::StringRef name,
                   llvm::ArrayRef<int64_t> defaultValue) const {
  const AttributeProto *attr = findAttr(name);
  if (!attr)
    return defaultValue.vec();
  GLOWISH_CHECK(checkType(*attr, AttributeProto::INTS));
  return std::vector<int64_t>(attr->ints().begin(), attr->ints().end());
}

llvm::Expected<std::vector<int64_t>>
OpContext::getIntsOrInput(llvm::StringRef name, unsigned index,
                          llvm::ArrayRef<int64_t> defaultValue) const {
  if (hasInput(index))
    return getConstantInts(index);
  return getInts(name, defaultValue);
}

llvm::Expected<int64_t> OpContext::getAxis(llvm::StringRef name,
                                           int64_t defaultValue,
                                           unsigned rank) const {
  GLOWISH_TRY(int64_t axis, getInt(name, defaultValue));
  // Some exporters write -1 as an unsigned 32-bit number.
  if (axis > INT32_MAX && axis <= UINT32_MAX)
    axis = int32_t(axis);
  if (axis < -int64_t(rank) || axis >= int64_t(rank))
    return makeError("attribute '{0}' is {1}; accepted for rank {2}: {3} to "
                     "{4}",
                     name, axis, rank, -int64_t(rank), int64_t(rank) - 1);
  return axis < 0 ? axis + rank : axis;
}

NodeValue OpContext::createInt64s(llvm::ArrayRef<int64_t> values) {
  return createConstant(Tensor::fromValues<int64_t>(
      Type(ElemKind::Int64, {int64_t(values.size())}), values));
}

NodeValue OpContext::createScalar(ElemKind kind, double value) {
  Tensor tensor(Type(kind, Dims()));
  tensor.setFromDouble(0, value);
  return createConstant(std::move(tensor));
}

llvm::Expected<NodeValue>
OpContext::transpose(NodeValue value, llvm::ArrayRef<int64_t> permutation) {
  return create<TransposeNode>(value, permutation);
}

llvm::Expected<NodeValue> OpContext::reshape(NodeValue value, DimsRef shape) {
  if (value.getShape() == shape)
    return value;
  return create<ReshapeNode>(value, shape);
}

llvm::Expected<NodeValue> OpContext::finish(llvm::Expected<Node *> made) {
  if (!made)
    return made.takeError();
  Node *node = *made;
  if (!evaluate || !hasConstantOperands(*node) || node->getNumResults() != 1)
    return node->getResult();
  int64_t operandBytes = 0;
  for (NodeValue value : node->getOperands())
    operandBytes += value ? value.getType().getSizeInBytes() : 0;
  if (node->getType().getSizeInBytes() > operandBytes + maxFoldedGrowth)
    return node->getResult();
  GLOWISH_TRY(std::vector<Tensor> results, evaluate(*node));
  function.erase(node);
  return createConstant(std::move(results[0]));
}

llvm::Error OpContext::setOutput(unsigned index,
                                 llvm::Expected<NodeValue> value) {
  if (!value)
    return value.takeError();
  if (outputs.size() <= index)
    outputs.resize(index + 1);
  outputs[index] = *value;
  return llvm::Error::success();
}
