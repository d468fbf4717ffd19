//===- Movement.cpp - Random operators that move elements -----------------===//

#include "Operators.h"

using namespace glowish;
using namespace glowish::fuzz;

static bool addTranspose(ModelBuilder &b) {
  const ModelValue *x =
      b.pickFixed([](const ModelValue &value) { return value.getRank() > 1; });
  if (!x)
    return false;
  std::vector<int64_t> perm;
  for (int64_t d = 0; d < x->getRank(); ++d)
    perm.insert(perm.begin() + b.pickFrom(0, d), d);
  b.addNode("Transpose", {x->name}, {makeAttr("perm", perm)});
  return true;
}

static bool addConcat(ModelBuilder &b) {
  const ModelValue *x =
      b.pickFixed([](const ModelValue &value) { return value.getRank() > 0; });
  if (!x)
    return false;
  int64_t axis = pickAxis(b, *x);
  std::vector<std::string> parts = {x->name};
  int64_t count = b.pickFrom(2, 4);
  while (int64_t(parts.size()) < count) {
    Shape shape = x->shape;
    const ModelValue *other =
        b.chance(60) ? b.pickFixed([&](const ModelValue &value) {
          if (value.kind != x->kind || value.getRank() != x->getRank())
            return false;
          for (int64_t d = 0; d < x->getRank(); ++d)
            if (d != axis && value.shape[d] != x->shape[d])
              return false;
          return true;
        })
                     : nullptr;
    if (other) {
      parts.push_back(other->name);
      continue;
    }
    shape[axis] = b.pickExtent();
    std::optional<ModelValue> made = b.findOperand(x->kind, shape);
    if (!made)
      return false;
    parts.push_back(made->name);
  }
  for (size_t i = parts.size(); i > 1; --i)
    std::swap(parts[i - 1], parts[b.random.below(i)]);
  b.addNode("Concat", parts, {makeAttr("axis", axis)});
  return true;
}

/// A start or end along an axis: a number, or an extent that is there.
static std::string addBound(ModelBuilder &b, const ModelValue &x,
                            int64_t axis) {
  int64_t largest = x.largest[axis];
  if (b.chance(25)) {
    const ModelValue *other = b.pickFixed(
        [](const ModelValue &value) { return value.getRank() > 0; });
    return b.addExtent(*other, unsigned(pickAxis(b, *other)));
  }
  if (b.chance(20))
    return b.addInts({INT64_MAX});
  return b.addInts({b.pickFrom(-largest - 1, largest + 1)});
}

static bool addSlice(ModelBuilder &b) {
  const ModelValue *x =
      b.pickFixed([](const ModelValue &value) { return value.getRank() > 0; });
  if (!x)
    return false;
  int64_t axis = pickAxis(b, *x);
  int64_t step = b.chance(60)   ? 1
                 : b.chance(50) ? b.pickFrom(2, 4)
                                : b.pickFrom(-3, -1);
  std::string start, end;
  if (step < 0) {
    start = b.addInts({b.chance(50) ? -1 : b.pickFrom(-3, x->largest[axis])});
    end = b.addInts({b.chance(50) ? INT64_MIN : b.pickFrom(-9, 2)});
  } else {
    start =
        b.chance(50) ? b.addInts({b.pickFrom(0, 2)}) : addBound(b, *x, axis);
    end = addBound(b, *x, axis);
  }
  b.addNode("Slice", {x->name, start, end,
                      b.addInts({countFromEither(b, axis, x->getRank())}),
                      b.addInts({step})});
  return true;
}

static bool addSplit(ModelBuilder &b) {
  const ModelValue *x =
      b.pickFixed([](const ModelValue &value) { return value.getRank() > 0; });
  if (!x)
    return false;
  int64_t axis = pickAxis(b, *x);
  const ExtentPoints &extent = x->shape[axis];
  // Only what is constant can be split.
  if (!isConstant(extent))
    return false;
  unsigned count = unsigned(b.pickFrom(2, 3));
  if (b.chance(50)) {
    b.addNode("Split", {x->name},
              {makeAttr("axis", axis), makeAttr("num_outputs", int64_t(count))},
              count);
    return true;
  }
  int64_t first = b.pickFrom(0, extent[0]);
  b.addNode("Split", {x->name, b.addInts({first, extent[0] - first})},
            {makeAttr("axis", axis)}, 2);
  return true;
}

static bool addPad(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed([](const ModelValue &value) {
    return value.getRank() > 0 && value.kind != ElemKind::Bool;
  });
  if (!x)
    return false;
  int64_t axis = pickAxis(b, *x);
  // Only what is constant can be padded.
  if (!isConstant(x->shape[axis]) && !b.chance(5))
    return false;
  const char *mode = b.pickOne({"constant", "constant", "edge", "reflect"});
  std::vector<int64_t> pads(2 * x->getRank(), 0);
  for (int64_t at : {axis, axis + int64_t(x->getRank())})
    pads[at] = b.pickFrom(0, 2);
  std::vector<std::string> inputs = {x->name, b.addInts(pads)};
  if (b.chance(50))
    inputs.push_back(b.addConstant(x->kind, {}));
  b.addNode("Pad", inputs, {makeAttr("mode", mode)});
  return true;
}

static bool addTrilu(ModelBuilder &b) {
  const ModelValue *x =
      b.pickFixed([](const ModelValue &value) { return value.getRank() > 1; });
  if (!x)
    return false;
  b.addNode("Trilu", {x->name, b.addInt(b.pickFrom(-3, 3))},
            {makeAttr("upper", int64_t(b.random.below(2)))});
  return true;
}

/// A past of which the next run reads the present.
static bool addState(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed([](const ModelValue &value) {
    return value.getRank() > 1 && value.kind != ElemKind::Bool &&
           !isConstant(value.shape);
  });
  if (!x)
    return false;
  int64_t axis = pickAxis(b, *x);
  Shape shape = x->shape;
  for (int64_t d = 0; d < x->getRank(); ++d)
    if (d != axis && !isConstant(shape[d]))
      return false;
  shape[axis] = b.pickRanged();
  std::optional<ModelValue> past = b.addInput(x->kind, shape);
  if (!past)
    return false;
  b.addState(past->name, b.addNode("Concat", {past->name, x->name},
                                   {makeAttr("axis", axis)}));
  return true;
}

llvm::ArrayRef<OperatorFamily> fuzz::getMovementFamilies() {
  static const OperatorFamily families[] = {
      {addTranspose, 3}, {addConcat, 5}, {addSlice, 5}, {addSplit, 2},
      {addPad, 2},       {addTrilu, 2},  {addState, 2}};
  return families;
}
