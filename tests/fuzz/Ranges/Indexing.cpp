//===- Indexing.cpp - Random operators with indices -----------------------===//

#include "Operators.h"

using namespace glowish;
using namespace glowish::fuzz;

/// An index of each element is the element modulo the extent of dimension
/// \p axis of \p x.
static std::string addWrapped(ModelBuilder &b, const std::string &numbers,
                              const ModelValue &x, int64_t axis) {
  return b.addNode("Mod", {numbers, b.addExtent(x, unsigned(axis))});
}

/// Indices of \p shape in range of dimension \p axis of \p x, which has
/// elements in every run.
static std::optional<std::string> addIndices(ModelBuilder &b,
                                             const ModelValue &x, int64_t axis,
                                             const Shape &shape) {
  int64_t least = getLeast(x.shape[axis]);
  if (least < 1)
    return std::nullopt;
  if (isConstant(shape) && b.chance(50)) {
    Dims dims;
    for (const ExtentPoints &extent : shape)
      dims.push_back(extent[0]);
    Tensor indices(Type(ElemKind::Int64, dims));
    for (int64_t &index : indices.data<int64_t>())
      index = b.pickFrom(-least, least - 1);
    return b.addConstant(indices);
  }
  std::optional<ModelValue> numbers = b.findOperand(ElemKind::Int64, shape);
  if (!numbers)
    return std::nullopt;
  return addWrapped(b, numbers->name, x, axis);
}

static bool addGather(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed(hasDims);
  if (!x)
    return false;
  int64_t axis = pickAxis(b, *x);
  Shape shape;
  for (int64_t rank = b.pickFrom(0, 2); rank > 0; --rank)
    shape.push_back(b.pickExtent());
  std::optional<std::string> indices = addIndices(b, *x, axis, shape);
  if (!indices)
    return false;
  b.addNode("Gather", {x->name, *indices},
            {makeAttr("axis", countFromEither(b, axis, x->getRank()))});
  return true;
}

/// Rows in the opposite order.
static bool addReverse(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed(hasDims);
  if (!x)
    return false;
  int64_t axis = pickAxis(b, *x);
  std::string extent = b.addNode("Squeeze", {b.addExtent(*x, unsigned(axis))});
  std::string last = b.addNode("Sub", {extent, b.addInt(1)});
  std::string indices =
      b.chance(50)
          ? b.addNode("Range", {last, b.addInt(-1), b.addInt(-1)})
          : b.addNode("Sub", {last, b.addNode("Range", {b.addInt(0), extent,
                                                        b.addInt(1)})});
  b.addNode("Gather", {x->name, indices}, {makeAttr("axis", axis)});
  return true;
}

static bool addGatherElements(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed(hasDims);
  if (!x)
    return false;
  int64_t axis = pickAxis(b, *x);
  Shape shape = x->shape;
  if (b.chance(60))
    shape[axis] = b.pickExtent();
  std::optional<std::string> indices = addIndices(b, *x, axis, shape);
  if (!indices)
    return false;
  b.addNode("GatherElements", {x->name, *indices},
            {makeAttr("axis", countFromEither(b, axis, x->getRank()))});
  return true;
}

static bool addScatterElements(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed([](const ModelValue &value) {
    return value.getRank() > 0 && value.kind != ElemKind::Bool;
  });
  if (!x)
    return false;
  int64_t axis = pickAxis(b, *x), least = getLeast(x->shape[axis]);
  // With all of a row, or one element of each: no place comes twice.
  if (least < 1)
    return false;
  Shape shape = x->shape;
  shape[axis] = b.makeExtent(1);
  std::optional<std::string> indices = addIndices(b, *x, axis, shape);
  std::optional<ModelValue> updates = b.findOperand(x->kind, shape);
  if (!indices || !updates)
    return false;
  b.addNode("ScatterElements", {x->name, *indices, updates->name},
            {makeAttr("axis", axis),
             makeAttr("reduction", b.pickOne({"none", "add", "max"}))});
  return true;
}

static bool addGatherND(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed(hasDims);
  if (!x)
    return false;
  Shape shape = {b.pickExtent(), b.makeExtent(1)};
  std::optional<std::string> indices = addIndices(b, *x, 0, shape);
  if (!indices)
    return false;
  b.addNode("GatherND", {x->name, *indices});
  return true;
}

static bool addScatterND(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed([](const ModelValue &value) {
    return value.getRank() > 0 && value.kind != ElemKind::Bool;
  });
  if (!x)
    return false;
  Shape shape = {b.makeExtent(1), b.makeExtent(1)};
  std::optional<std::string> indices = addIndices(b, *x, 0, shape);
  Shape updated = x->shape;
  updated[0] = b.makeExtent(1);
  std::optional<ModelValue> updates = b.findOperand(x->kind, updated);
  if (!indices || !updates)
    return false;
  b.addNode("ScatterND", {x->name, *indices, updates->name});
  return true;
}

static bool addOneHot(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed([](const ModelValue &value) {
    return value.kind == ElemKind::Int64 && value.getRank() < 3;
  });
  if (!x)
    return false;
  int64_t depth = b.pickFrom(1, 6);
  b.addNode("OneHot",
            {x->name, b.addInt(depth), b.addConstant(ElemKind::Float, {2})},
            {makeAttr("axis", b.pickFrom(-1, x->getRank()))});
  return true;
}

/// What depends on data is in the extents of the result.
static bool addSelected(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed(hasDims);
  if (!x)
    return false;
  if (b.chance(50)) {
    b.addNode("NonZero", {x->name});
    return true;
  }
  int64_t axis = pickAxis(b, *x);
  std::optional<ModelValue> condition =
      b.findOperand(ElemKind::Bool, {x->shape[axis]});
  if (!condition)
    return false;
  b.addNode("Compress", {x->name, condition->name}, {makeAttr("axis", axis)});
  return true;
}

static bool addUnique(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed([](const ModelValue &value) {
    // Roundings of computed floats decide how many there are.
    bool isExact = isIntegerKind(value.kind) || value.name[0] != 'v';
    return isExact && value.getRank() > 0 && value.kind != ElemKind::Bool;
  });
  if (!x)
    return false;
  b.addNode("Unique", {x->name}, {}, 4);
  return true;
}

llvm::ArrayRef<OperatorFamily> fuzz::getIndexingFamilies() {
  static const OperatorFamily families[] = {
      {addGather, 4},   {addReverse, 1},   {addGatherElements, 2},
      {addGatherND, 1}, {addScatterND, 1}, {addScatterElements, 1},
      {addOneHot, 1},   {addSelected, 1},  {addUnique, 1}};
  return families;
}
