//===- ShapeInts.cpp - Integers that determine shapes ---------------------===//

#include "ONNX/ShapeInts.h"
#include "ONNX/Interval.h"
#include "glowish/Graph/ElementTrace.h"

using namespace glowish;
using namespace glowish::onnximport;

namespace {

/// Traces elements through data movement and shape arithmetic. Each element
/// takes a step; their number is limited, but sufficient for shape arithmetic.
class ElementFinder {
public:
  explicit ElementFinder(const OpContext &op) : op(op) {}

  Element findSource(Element element);
  Interval findRange(Element element, unsigned depth = 0);

private:
  Interval combine(const Node &node, DimsRef index, unsigned depth);

  const OpContext &op;
  unsigned steps = 1000;
};

} // namespace

Element ElementFinder::findSource(Element element) {
  // Stop at a known extent, so that it is the same value wherever it is used.
  while (steps > 0 && !op.findBound(element.value)) {
    --steps;
    std::optional<Element> moved = traceElement(element);
    if (!moved)
      break;
    element = *moved;
  }
  return element;
}

/// The range of the element at \p index of \p node, an element-wise one.
Interval ElementFinder::combine(const Node &node, DimsRef index,
                                unsigned depth) {
  llvm::SmallVector<Interval, 3> operands;
  llvm::SmallVector<ElemKind, 3> kinds;
  for (NodeValue value : node.getOperands()) {
    operands.push_back(findRange(getBroadcastElement(value, index), depth + 1));
    kinds.push_back(value.getElemKind());
  }
  ScalarStep step = makeScalarStep(node);
  return evaluateInterval(step.op, operands, kinds, step.params, step.kind);
}

/// Whether arithmetic on \p kind can overflow, given the exact \p range of the
/// result.
static bool canOverflow(ElemKind kind, Interval range) {
  double most = kind == ElemKind::Int64   ? 9e15
                : kind == ElemKind::Int32 ? 2147483647
                                          : 0;
  if (isFloatKind(kind))
    return false;
  return range.low < -most || range.high > most;
}

Interval ElementFinder::findRange(Element element, unsigned depth) {
  constexpr unsigned maxDepth = 64;
  element = findSource(element);
  if (depth > maxDepth || steps == 0 ||
      element.value.getType().getNumElements() == 0)
    return {};
  if (auto *constant = element.value.getNodeAs<Constant>()) {
    double value = constant->getTensor().getAsDouble(element.position);
    return std::isnan(value) ? Interval() : Interval{value, value};
  }
  if (std::optional<int64_t> bound = op.findBound(element.value))
    return {0, double(*bound)};
  Node *node = element.value.node;
  if (!isElementWise(*node))
    return {};
  Interval range = combine(*node, getIndex(element), depth);
  return canOverflow(node->getType().getKind(), range) ? Interval() : range;
}

/// Extracts \p element as a scalar.
static NodeValue takeElement(OpContext &op, Element element) {
  int64_t count = element.value.getType().getNumElements();
  NodeValue flat = op.reshape(element.value, {count});
  return op.reshape(op.slice(flat, 0, element.position, 1), {});
}

static ShapeInt readElement(OpContext &op, Element element) {
  if (std::optional<Extent> extent = op.findExtent(element)) {
    if (std::optional<int64_t> number = extent->getConstant())
      return makeShapeInt(*number);
    const SymbolRanges &symbols = op.getFunction().getModule().getSymbols();
    if (std::optional<IntRange> range = symbols.getRange(*extent))
      return {op.compute(*extent),
              double(range->low),
              double(range->high),
              {},
              0,
              extent};
  }
  ElementFinder finder(op);
  Element source = finder.findSource(element);
  Interval range = finder.findRange(source);
  if (range.low == range.high)
    return {{}, range.low, range.high, {}, 0};
  NodeValue value =
      source.value.getShape().empty() ? source.value : takeElement(op, source);
  return {op.cast(value, ElemKind::Int64), range.low, range.high, source.value,
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
