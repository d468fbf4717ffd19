//===- Losses.cpp - Loss functions ----------------------------------------===//

#include "Losses.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/Sequence.h"

using namespace glowish;

/// The names in the record, in the order of LossKind.
static llvm::ArrayRef<llvm::StringRef> getNames() {
  return getNodeInfo(NodeKind::Loss).attrs[LossNode::lossAttr].allowed;
}

std::vector<llvm::StringRef> glowish::getLossNames() { return getNames(); }

llvm::StringRef glowish::getLossName(LossKind kind) {
  return getNames()[unsigned(kind)];
}

std::optional<LossKind> glowish::parseLoss(llvm::StringRef name) {
  auto found = llvm::find(getNames(), name);
  if (found == getNames().end())
    return std::nullopt;
  return LossKind(found - getNames().begin());
}

static Dims dropDim(DimsRef shape, size_t dim) {
  Dims result(shape);
  result.erase(result.begin() + dim);
  return result;
}

llvm::Expected<Type> glowish::getLabelType(const Type &type,
                                           const TrainingConfig &config) {
  DimsRef shape = type.getShape();
  if (!isFloatKind(type.getKind()) || type.getNumElements() == 0)
    return makeError("it is {0}; accepted: a float kind and at least one "
                     "element",
                     type.str());
  bool hasIndices = config.loss == LossKind::SoftmaxCrossEntropy &&
                    isIntegerKind(config.labelKind);
  if (config.loss == LossKind::SoftmaxCrossEntropy && shape.empty())
    return makeError("it is {0}; accepted: rank 1 or more, of which the last "
                     "are the classes",
                     type.str());
  if (!hasIndices) {
    if (config.labelShape && DimsRef(*config.labelShape) != shape)
      return makeError("it is {0}, and the labels have the shape {1}; "
                       "accepted: equal shapes",
                       type.str(), formatShape(*config.labelShape));
    return type;
  }
  if (config.labelKind != ElemKind::Int32 &&
      config.labelKind != ElemKind::Int64)
    return makeError("class indices are {0}; accepted: int32, int64",
                     getElemKindName(config.labelKind));
  Dims byLast = dropDim(shape, shape.size() - 1);
  Dims given = config.labelShape.value_or(byLast);
  bool isBySecond = shape.size() > 2 && given == dropDim(shape, 1);
  if (given != byLast && !isBySecond)
    return makeError("it is {0}, and the class indices have the shape {1}; "
                     "accepted: the shape without the classes, {2}",
                     type.str(), formatShape(given), formatShape(byLast));
  return Type(config.labelKind, given);
}

/// Mean over the dimensions from \p firstAxis on.
static NodeValue mean(NodeBuilder &b, NodeValue value, size_t firstAxis) {
  if (!value || (firstAxis && value.getShape().size() <= firstAxis))
    return value;
  auto axes = llvm::to_vector(
      llvm::seq<int64_t>(firstAxis, int64_t(value.getShape().size())));
  return b.reduce(value, "mean", axes, /*keepDims=*/false);
}

/// The result has no class dimension. The loss of an index that is no class is
/// 0.
static NodeValue makeCrossEntropy(NodeBuilder &b, NodeValue prediction,
                                  NodeValue label) {
  DimsRef shape = prediction.getShape();
  int64_t rank = int64_t(shape.size()), axis = rank - 1;
  bool hasIndices = isIntegerKind(label.getElemKind());
  if (hasIndices && label.getShape() != DimsRef(dropDim(shape, rank - 1)))
    axis = 1;
  NodeValue logs = b.make<LogSoftmaxNode>(prediction, axis);
  NodeValue picked;
  if (hasIndices) {
    NodeValue classes =
        b.iota(label.getElemKind(), unsigned(rank), axis, shape[axis]);
    NodeValue isLabel = b.equal(b.unsqueeze(label, axis), classes);
    picked = logs ? b.select(isLabel, logs, b.number(logs, 0)) : logs;
  } else {
    picked = b.mul(logs, label);
  }
  return b.sub(0, b.reduce(picked, "sum", {axis}, false));
}

/// max(x, 0) - x y + log(1 + e^-|x|), which does not overflow. Its gradient at
/// x = 0 is right, too: max(x, 0) contributes 1/2 and |x| contributes 0.
static NodeValue makeBinaryCrossEntropy(NodeBuilder &b, NodeValue x,
                                        NodeValue y) {
  NodeValue small = b.unary<ExpNode>(b.sub(0, b.unary<AbsNode>(x)));
  NodeValue rest = b.unary<Log1pNode>(small);
  return b.add(b.sub(b.max(x, 0.0), b.mul(x, y)), rest);
}

/// The losses of all elements or samples, before the mean.
static NodeValue makeLosses(NodeBuilder &b, const LossNode &node) {
  NodeValue prediction = node.getInput(), expected = node.getExpected();
  double delta = node.getDelta();
  auto difference = [&] { return b.sub(prediction, expected); };
  switch (*parseLoss(node.getLoss())) {
  case LossKind::SoftmaxCrossEntropy:
    return makeCrossEntropy(b, prediction, expected);
  case LossKind::BinaryCrossEntropy:
    return makeBinaryCrossEntropy(b, prediction, expected);
  case LossKind::MeanSquaredError: {
    NodeValue d = difference();
    return b.mul(d, d);
  }
  case LossKind::L1:
    return b.unary<AbsNode>(difference());
  case LossKind::Huber: {
    NodeValue d = difference();
    NodeValue bounded = b.clip(d, -delta, delta);
    return b.mul(bounded, b.sub(d, b.mul(bounded, 0.5)));
  }
  }
  llvm_unreachable("not a loss");
}

NodeValue glowish::makeLoss(NodeBuilder &b, const LossNode &node) {
  return mean(b, makeLosses(b, node), /*firstAxis=*/0);
}

NodeValue glowish::makeSampleLosses(NodeBuilder &b, const LossNode &node) {
  return mean(b, makeLosses(b, node), /*firstAxis=*/1);
}
