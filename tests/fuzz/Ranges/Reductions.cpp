//===- Reductions.cpp - Random operators along axes -----------------------===//

#include "Operators.h"

using namespace glowish;
using namespace glowish::fuzz;

/// Some of the axes of \p value, at least one.
static std::vector<int64_t> pickAxes(ModelBuilder &b, const ModelValue &value) {
  std::vector<int64_t> axes;
  int64_t first = pickAxis(b, value);
  for (int64_t d = 0; d < value.getRank(); ++d)
    if (d == first || b.chance(25))
      axes.push_back(countFromEither(b, d, value.getRank()));
  return axes;
}

static bool addReduce(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed([](const ModelValue &value) {
    return value.getRank() > 0 && value.kind != ElemKind::Bool;
  });
  if (!x)
    return false;
  const char *op =
      b.pickOne({"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin",
                 "ReduceProd", "ReduceSumSquare", "ReduceL1", "ReduceL2",
                 "ReduceLogSumExp", "ReduceLogSum"});
  std::vector<std::string> inputs = {x->name};
  if (llvm::StringRef(op) == "ReduceLogSum" && x->isFloat())
    inputs = {b.addNode("Abs", {x->name})};
  if (b.chance(85))
    inputs.push_back(b.addInts(pickAxes(b, *x)));
  b.addNode(op, inputs, {makeAttr("keepdims", int64_t(b.random.below(2)))});
  return true;
}

static bool addArg(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed([](const ModelValue &value) {
    return value.getRank() > 0 && value.kind != ElemKind::Bool;
  });
  if (!x)
    return false;
  int64_t axis = pickAxis(b, *x);
  // What the maximum of nothing is, nothing says.
  if (getLeast(x->shape[axis]) < 1)
    return false;
  b.addNode(b.pickOne({"ArgMax", "ArgMin"}), {x->name},
            {makeAttr("axis", countFromEither(b, axis, x->getRank())),
             makeAttr("keepdims", int64_t(b.random.below(2))),
             makeAttr("select_last_index", int64_t(b.random.below(2)))});
  return true;
}

static bool addSoftmax(ModelBuilder &b) {
  const ModelValue *x = b.pickFloats(1);
  if (!x)
    return false;
  b.addNode(
      b.pickOne({"Softmax", "Softmax", "LogSoftmax", "Hardmax"}), {x->name},
      {makeAttr("axis", countFromEither(b, pickAxis(b, *x), x->getRank()))});
  return true;
}

static bool addLayerNorm(ModelBuilder &b) {
  const ModelValue *x = b.pickFloats(1);
  if (!x)
    return false;
  int64_t axis = int64_t(x->getRank()) - 1;
  while (axis > 0 && b.chance(25))
    --axis;
  Shape shape(x->shape.begin() + axis, x->shape.end());
  // Only what is constant can be normalized, and one element is its mean.
  if (!isConstant(shape) || x->largest.back() < 2)
    return false;
  std::optional<ModelValue> scale = b.findOperand(x->kind, shape);
  if (!scale)
    return false;
  std::vector<std::string> inputs = {x->name, scale->name};
  bool hasMean = b.chance(60);
  if (hasMean && b.chance(50)) {
    std::optional<ModelValue> bias = b.findOperand(x->kind, shape);
    if (!bias)
      return false;
    inputs.push_back(bias->name);
  }
  b.addNode(hasMean ? "LayerNormalization" : "RMSNormalization", inputs,
            {makeAttr("axis", axis)});
  return true;
}

static bool addSkipLayerNorm(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed([](const ModelValue &value) {
    return value.kind == ElemKind::Float && value.getRank() == 3 &&
           isConstant(value.shape[2]);
  });
  if (!x)
    return false;
  std::optional<ModelValue> skip = b.findOperand(x->kind, x->shape),
                            gamma = b.findOperand(x->kind, {x->shape[2]});
  if (!skip || !gamma)
    return false;
  b.addNode(
      b.pickOne({"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"}),
      {x->name, skip->name, gamma->name}, {}, "com.microsoft");
  return true;
}

static bool addCumSum(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed([](const ModelValue &value) {
    return value.getRank() > 0 &&
           (value.isFloat() || value.kind == ElemKind::Int64 ||
            value.kind == ElemKind::Int32);
  });
  if (!x)
    return false;
  int64_t axis = countFromEither(b, pickAxis(b, *x), x->getRank());
  b.addNode("CumSum", {x->name, b.addInt(axis)},
            {makeAttr("exclusive", int64_t(b.random.below(2))),
             makeAttr("reverse", int64_t(b.random.below(2)))});
  return true;
}

static bool addTopK(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed([](const ModelValue &value) {
    return value.getRank() > 0 && value.kind != ElemKind::Bool;
  });
  if (!x)
    return false;
  int64_t axis = pickAxis(b, *x), least = getLeast(x->shape[axis]);
  std::string count = !isConstant(x->shape[axis]) && b.chance(30)
                          ? b.addExtent(*x, unsigned(axis))
                          : b.addInts({b.pickFrom(0, least)});
  b.addNode("TopK", {x->name, count},
            {makeAttr("axis", countFromEither(b, axis, x->getRank())),
             makeAttr("largest", int64_t(b.random.below(2)))},
            2);
  return true;
}

static bool addNormalization(ModelBuilder &b) {
  const ModelValue *x = b.pickFloats(2);
  // Not of ranged dimensions.
  if (!x || (!isConstant(x->shape) && !b.chance(5)))
    return false;
  b.addNode("LpNormalization", {x->name},
            {makeAttr("axis", pickAxis(b, *x)),
             makeAttr("p", int64_t(1 + b.random.below(2)))});
  return true;
}

static bool addImageNorm(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed([](const ModelValue &value) {
    return value.kind == ElemKind::Float && value.getRank() >= 3 &&
           isConstant(Shape(value.shape.begin() + 1, value.shape.end()));
  });
  if (!x)
    return false;
  std::optional<ModelValue> scale = b.findOperand(x->kind, {x->shape[1]}),
                            bias = b.findOperand(x->kind, {x->shape[1]});
  if (!scale || !bias)
    return false;
  if (b.chance(50))
    b.addNode("InstanceNormalization", {x->name, scale->name, bias->name});
  else
    b.addNode("GroupNormalization", {x->name, scale->name, bias->name},
              {makeAttr("num_groups", int64_t(1))});
  return true;
}

llvm::ArrayRef<OperatorFamily> fuzz::getReductionFamilies() {
  static const OperatorFamily families[] = {
      {addReduce, 7},        {addArg, 3},           {addSoftmax, 4},
      {addLayerNorm, 3},     {addCumSum, 3},        {addTopK, 2},
      {addSkipLayerNorm, 1}, {addNormalization, 1}, {addImageNorm, 1}};
  return families;
}
