//===- ShapeInts.cpp - Numbers that shapes are made of --------------------===//

#include "ONNX/ShapeInts.h"
#include <cmath>

using namespace glowish;

namespace {

/// One element of a value, by its position in row-major order.
struct Element {
  NodeValue value;
  int64_t position = 0;

  explicit operator bool() const { return bool(value); }
};

struct Range {
  double low = -HUGE_VAL, high = HUGE_VAL;
};

/// Follows elements to what they are moved or computed from. Each element that
/// is asked for takes a step; there are enough for the arithmetic of shapes.
class ElementFinder {
public:
  explicit ElementFinder(const OpContext &op) : op(op) {}

  Element findSource(Element element);
  Range findRange(Element element, unsigned depth = 0);

private:
  Element findMoved(Element element) const;
  Range combine(const Node &node, Dims index, unsigned depth);

  const OpContext &op;
  unsigned steps = 1000;
};

} // namespace

static Dims getIndex(const Element &element) {
  Dims index;
  DimsRef shape = element.value.getShape();
  for (auto [stride, extent] : llvm::zip(getDenseStrides(shape), shape))
    index.push_back(element.position / stride % extent);
  return index;
}

static Element getElement(NodeValue value, DimsRef index) {
  int64_t position = 0;
  for (auto [stride, i] :
       llvm::zip_equal(getDenseStrides(value.getShape()), index))
    position += stride * i;
  return {value, position};
}

/// The element of \p value that element \p index of what it broadcasts to has.
static Element getBroadcast(NodeValue value, DimsRef index) {
  Dims own(index.take_back(value.getShape().size()));
  for (unsigned d = 0; d < own.size(); ++d)
    if (value.getShape()[d] == 1)
      own[d] = 0;
  return getElement(value, own);
}

static Element findGathered(const GatherNode &gather, DimsRef index) {
  int64_t axis = gather.getAxis();
  auto *indices = gather.getIndices().getNodeAs<Constant>();
  if (!indices || gather.getInput().getType().getNumElements() == 0)
    return {};
  unsigned rank = gather.getIndices().getShape().size();
  Element which = getElement(gather.getIndices(), index.slice(axis, rank));
  int64_t extent = gather.getInput().getShape()[axis];
  int64_t picked = indices->getTensor().getAsInt(which.position);
  Dims source(index.take_front(axis));
  source.push_back(std::clamp<int64_t>(picked < 0 ? picked + extent : picked, 0,
                                       extent - 1));
  source.append(index.begin() + axis + rank, index.end());
  return getElement(gather.getInput(), source);
}

static Element findPart(const ConcatNode &concat, Dims index) {
  int64_t axis = concat.getAxis();
  for (NodeValue part : concat.getOperands()) {
    if (index[axis] < part.getShape()[axis])
      return getElement(part, index);
    index[axis] -= part.getShape()[axis];
  }
  return {};
}

/// Where \p element was before its node moved it; null where the node does
/// something else.
Element ElementFinder::findMoved(Element element) const {
  Node *node = element.value.node;
  switch (node->getKind()) {
  case NodeKind::Reshape:
    return {node->getOperand(0), element.position};
  case NodeKind::Broadcast:
    return getBroadcast(node->getOperand(0), getIndex(element));
  case NodeKind::Concat:
    return findPart(llvm::cast<ConcatNode>(*node), getIndex(element));
  case NodeKind::Gather:
    return findGathered(llvm::cast<GatherNode>(*node), getIndex(element));
  case NodeKind::Slice: {
    auto &slice = llvm::cast<SliceNode>(*node);
    Dims index = getIndex(element);
    for (unsigned d = 0; d < index.size(); ++d)
      index[d] = slice.getStarts()[d] + index[d] * slice.getSteps()[d];
    return getElement(slice.getInput(), index);
  }
  default:
    return {};
  }
}

Element ElementFinder::findSource(Element element) {
  // What is known to be an extent is one, wherever it came from.
  while (steps > 0 && !op.findBound(element.value)) {
    --steps;
    Element moved = findMoved(element);
    if (!moved)
      break;
    element = moved;
  }
  return element;
}

static Range multiply(Range x, Range y) {
  double products[4] = {x.low * y.low, x.low * y.high, x.high * y.low,
                        x.high * y.high};
  Range result = {HUGE_VAL, -HUGE_VAL};
  for (double product : products) {
    if (std::isnan(product)) // 0 * infinity
      product = 0;
    result.low = std::min(result.low, product);
    result.high = std::max(result.high, product);
  }
  return result;
}

static Range divide(Range x, Range y, bool isInteger) {
  if (!(y.low > 0))
    return {};
  Range result = multiply(x, {1 / y.high, 1 / y.low});
  // Integers are divided towards 0, and the factors above are rounded.
  if (isInteger)
    return {std::trunc(result.low - 1e-6), std::trunc(result.high + 1e-6)};
  return result;
}

Range ElementFinder::combine(const Node &node, Dims index, unsigned depth) {
  auto get = [&](unsigned operand) {
    return findRange(getBroadcast(node.getOperand(operand), index), depth + 1);
  };
  switch (node.getKind()) {
  case NodeKind::Add: {
    Range x = get(0), y = get(1);
    return {x.low + y.low, x.high + y.high};
  }
  case NodeKind::Sub: {
    Range x = get(0), y = get(1);
    return {x.low - y.high, x.high - y.low};
  }
  case NodeKind::Mul:
    return multiply(get(0), get(1));
  case NodeKind::Div:
    return divide(get(0), get(1), isIntegerKind(node.getType().getKind()));
  case NodeKind::Max: {
    Range x = get(0), y = get(1);
    return {std::max(x.low, y.low), std::max(x.high, y.high)};
  }
  case NodeKind::Min: {
    Range x = get(0), y = get(1);
    return {std::min(x.low, y.low), std::min(x.high, y.high)};
  }
  case NodeKind::Clip: {
    auto &clip = llvm::cast<ClipNode>(node);
    Range x = get(0);
    return {std::clamp(x.low, clip.getLow(), clip.getHigh()),
            std::clamp(x.high, clip.getLow(), clip.getHigh())};
  }
  case NodeKind::Select: {
    Range x = get(1), y = get(2);
    return {std::min(x.low, y.low), std::max(x.high, y.high)};
  }
  case NodeKind::Neg: {
    Range x = get(0);
    return {-x.high, -x.low};
  }
  case NodeKind::Floor: {
    Range x = get(0);
    return {std::floor(x.low), std::floor(x.high)};
  }
  case NodeKind::Ceil: {
    Range x = get(0);
    return {std::ceil(x.low), std::ceil(x.high)};
  }
  case NodeKind::Cast: {
    Range x = get(0);
    return {std::floor(x.low), std::ceil(x.high)};
  }
  default:
    return {};
  }
}

/// Whether a number of \p kind can be outside of \p range for another reason
/// than that one before it was: an overflow.
static bool canOverflow(ElemKind kind, Range range) {
  double most = kind == ElemKind::Int64   ? 9e15
                : kind == ElemKind::Int32 ? 2147483647
                                          : 0;
  if (isFloatKind(kind))
    return false;
  return range.low < -most || range.high > most;
}

Range ElementFinder::findRange(Element element, unsigned depth) {
  constexpr unsigned maxDepth = 64;
  element = findSource(element);
  if (depth > maxDepth || steps == 0 ||
      element.value.getType().getNumElements() == 0)
    return {};
  if (auto *constant = element.value.getNodeAs<Constant>()) {
    double value = constant->getTensor().getAsDouble(element.position);
    return std::isnan(value) ? Range() : Range{value, value};
  }
  if (std::optional<int64_t> bound = op.findBound(element.value))
    return {0, double(*bound)};
  Node *node = element.value.node;
  if (node->getNumResults() != 1 || node->getNumOperands() == 0)
    return {};
  Range range = combine(*node, getIndex(element), depth);
  return canOverflow(node->getType().getKind(), range) ? Range() : range;
}

/// \p element as a scalar.
static NodeValue takeElement(Composer &c, Element element) {
  int64_t count = element.value.getType().getNumElements();
  NodeValue flat = c.reshape(element.value, {count});
  return c.reshape(c.slice(flat, 0, element.position, 1), {});
}

static ShapeInt readElement(OpContext &op, Composer &c, Element element) {
  ElementFinder finder(op);
  Element source = finder.findSource(element);
  Range range = finder.findRange(source);
  if (range.low == range.high)
    return {{}, range.low, range.high, {}, 0};
  NodeValue value =
      source.value.getShape().empty() ? source.value : takeElement(c, source);
  return {c.cast(value, ElemKind::Int64), range.low, range.high, source.value,
          source.position};
}

llvm::Expected<std::vector<ShapeInt>>
glowish::readShapeInts(OpContext &op, Composer &c, unsigned index) {
  GLOWISH_TRY(NodeValue value, op.getInput(index));
  if (!isIntegerKind(value.getElemKind()) || value.getShape().size() > 1)
    return makeError("input {0} is {1}; accepted: a list of integers", index,
                     value.getType().str());
  // More than any rank: a list of this length is not meant as such.
  constexpr int64_t most = 64;
  if (value.getType().getNumElements() > most)
    return makeError("input {0} has {1} elements; accepted: at most {2}", index,
                     value.getType().getNumElements(), most);
  std::vector<ShapeInt> ints;
  for (int64_t i = 0; i < value.getType().getNumElements(); ++i)
    ints.push_back(readElement(op, c, {value, i}));
  return ints;
}

llvm::Expected<std::vector<ShapeInt>>
glowish::readShapeInts(OpContext &op, Composer &c, llvm::StringRef name,
                       unsigned index) {
  if (op.hasInput(index))
    return readShapeInts(op, c, index);
  GLOWISH_TRY(std::vector<int64_t> values, op.getRequiredInts(name, index));
  std::vector<ShapeInt> ints;
  for (int64_t value : values)
    ints.push_back(makeShapeInt(value));
  return ints;
}

llvm::Expected<ShapeInt> glowish::readShapeInt(OpContext &op, Composer &c,
                                               unsigned index) {
  GLOWISH_TRY(NodeValue value, op.getInput(index));
  if (value.getType().getNumElements() != 1)
    return makeError("input {0} is {1}; accepted: one number", index,
                     value.getType().str());
  return readElement(op, c, {value, 0});
}
