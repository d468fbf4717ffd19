//===- ShapeInts.cpp - Integers that determine shapes ---------------------===//

#include "ONNX/ShapeInts.h"

using namespace glowish;
using namespace glowish::onnximport;

/// Extracts \p element as a scalar.
static NodeValue takeElement(OpContext &op, Element element) {
  int64_t count = element.value.getType().getNumElements();
  NodeValue flat = op.reshape(element.value, {count});
  return op.reshape(op.slice(flat, 0, element.position, 1), {});
}

static ShapeInt readElement(OpContext &op, Element element) {
  ExtentFinder finder = op.makeFinder();
  Element source = finder.findSource(element);
  ScalarRange range = finder.findRange(source);
  if (range.low == range.high)
    return {range};
  if (range.extent && std::isfinite(range.low))
    return {range, op.compute(*range.extent)};
  range.extent.reset();
  NodeValue value =
      source.value.getShape().empty() ? source.value : takeElement(op, source);
  return {range, op.cast(value, ElemKind::Int64), source.value,
          source.position};
}

llvm::Expected<std::vector<ShapeInt>>
onnximport::readShapeInts(OpContext &op, unsigned index) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value, op.getInput(index));
  if (!isIntegerKind(value.getElemKind()) || value.getShape().size() > 1 ||
      value.getType().hasExtents())
    return makeError("input {0} is {1}; accepted: a list of integers", index,
                     value.getType().str());
  // More than any rank; longer lists do not describe a shape.
  constexpr int64_t most = 64;
  if (value.getType().getNumElements() > most)
    return makeError("input {0} has {1} elements; accepted: at most {2}", index,
                     value.getType().getNumElements(), most);
  std::vector<ShapeInt> ints;
  for (int64_t i = 0; i < value.getType().getNumElements(); ++i)
    ints.push_back(readElement(op, {value, i}));
  return ints;
}

llvm::Expected<std::vector<ShapeInt>>
onnximport::readShapeInts(OpContext &op, llvm::StringRef name, unsigned index) {
  if (op.hasInput(index))
    return readShapeInts(op, index);
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> values,
                           op.getRequiredInts(name, index));
  std::vector<ShapeInt> ints;
  for (int64_t value : values)
    ints.push_back(makeShapeInt(value));
  return ints;
}

llvm::Expected<ShapeInt> onnximport::readShapeInt(OpContext &op,
                                                  unsigned index) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value, op.getInput(index));
  if (value.getType().getNumElements() != 1)
    return makeError("input {0} is {1}; accepted: one number", index,
                     value.getType().str());
  return readElement(op, {value, 0});
}
