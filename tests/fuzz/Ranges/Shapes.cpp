//===- Shapes.cpp - Random operators that compute shapes ------------------===//

#include "Operators.h"
#include "glowish/Importer/ONNX.h"

using namespace glowish;
using namespace glowish::fuzz;

static bool isAny(const ModelValue &) { return true; }

static ExtentPoints multiply(const ExtentPoints &a, const ExtentPoints &b) {
  ExtentPoints result = a;
  for (auto [x, y] : llvm::zip_equal(result, b))
    x *= y;
  return result;
}

/// A one-element int64 vector: how many elements dimensions \p first up to
/// \p last of \p x have.
static std::string addJoined(ModelBuilder &b, const ModelValue &x,
                             unsigned first, unsigned last) {
  std::string count = b.addExtent(x, first);
  for (unsigned d = first + 1; d < last; ++d)
    count = b.addNode("Mul", {count, b.addExtent(x, d)});
  return count;
}

/// A shape with a computed 0 copies a dimension of the input, which depends on
/// the run: shapes of what may have no elements have no such zeros.
static bool mayBeEmpty(const ModelValue &x) {
  return llvm::any_of(x.shape, [](const ExtentPoints &extent) {
    return getLeast(extent) == 0;
  });
}

/// Joins dimensions next to each other.
static bool addJoin(ModelBuilder &b) {
  const ModelValue *x =
      b.pickFixed([](const ModelValue &value) { return value.getRank() > 1; });
  if (!x)
    return false;
  unsigned first = unsigned(b.pickFrom(0, x->getRank() - 2));
  unsigned last = unsigned(b.pickFrom(first + 2, x->getRank()));
  bool isEmpty = mayBeEmpty(*x);
  bool usesZeros = !isEmpty && b.chance(40), hasOpen = isEmpty;
  std::vector<std::string> parts;
  for (unsigned d = 0; d < x->getRank(); ++d) {
    bool isJoined = d == first;
    if (d > first && d < last)
      continue;
    if (isJoined && !hasOpen && b.chance(50)) {
      parts.push_back(b.addInts({-1}));
      hasOpen = true;
    } else if (isJoined) {
      parts.push_back(addJoined(b, *x, first, last));
    } else if (usesZeros && d < first) {
      parts.push_back(b.addInts({0}));
    } else if (isConstant(x->shape[d])) {
      parts.push_back(b.addInts({x->shape[d][0]}));
    } else {
      parts.push_back(b.addExtent(*x, d));
    }
  }
  std::string shape =
      parts.size() == 1
          ? parts[0]
          : b.addNode("Concat", parts, {makeAttr("axis", int64_t(0))});
  b.addNode("Reshape", {x->name, shape},
            {makeAttr("allowzero", int64_t(isEmpty))});
  return true;
}

/// Divides a constant dimension, or one of which a factor is known.
static bool addDivide(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed(hasDims);
  if (!x)
    return false;
  int64_t axis = pickAxis(b, *x);
  int64_t factor = b.pickFrom(1, 4);
  for (int64_t extent : x->shape[axis])
    if (extent % factor)
      return false;
  bool isInner = b.chance(50), isEmpty = mayBeEmpty(*x);
  std::vector<std::string> parts;
  for (unsigned d = 0; d < x->getRank(); ++d) {
    if (d != axis) {
      parts.push_back(isConstant(x->shape[d]) ? b.addInts({x->shape[d][0]})
                                              : b.addExtent(*x, d));
      continue;
    }
    std::string rest = b.addInts({-1});
    if (isConstant(x->shape[d]))
      rest = b.addInts({x->shape[d][0] / factor});
    else if (isEmpty || b.chance(50))
      rest = b.addNode("Div", {b.addExtent(*x, d), b.addInts({factor})});
    std::string known = b.addInts({factor});
    parts.push_back(isInner ? rest : known);
    parts.push_back(isInner ? known : rest);
  }
  b.addNode(
      "Reshape",
      {x->name, b.addNode("Concat", parts, {makeAttr("axis", int64_t(0))})},
      {makeAttr("allowzero", int64_t(isEmpty))});
  return true;
}

/// To the shape of another value.
static bool addReshapeLike(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed(hasDims), *y = nullptr;
  if (!x)
    return false;
  auto count = [&](const ModelValue &value) {
    ExtentPoints all = b.makeExtent(1);
    for (const ExtentPoints &extent : value.shape)
      all = multiply(all, extent);
    return all;
  };
  y = b.pickFixed([&](const ModelValue &value) {
    return value.shape != x->shape && count(value) == count(*x);
  });
  if (!y)
    return false;
  b.addNode("Reshape", {x->name, b.addNode("Shape", {y->name})},
            {makeAttr("allowzero", int64_t(1))});
  return true;
}

static bool addFlatten(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed(hasDims);
  if (!x)
    return false;
  b.addNode("Flatten", {x->name},
            {makeAttr("axis", b.pickFrom(0, x->getRank()))});
  return true;
}

static bool addUnsqueeze(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed(isAny);
  if (!x)
    return false;
  int64_t axis = b.pickFrom(0, x->getRank());
  b.addNode("Unsqueeze",
            {x->name, b.addInts({countFromEither(b, axis, x->getRank() + 1)})});
  return true;
}

static bool addSqueeze(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed([](const ModelValue &value) {
    return llvm::is_contained(value.largest, 1);
  });
  if (!x)
    return false;
  int64_t axis = llvm::find(x->largest, 1) - x->largest.begin();
  b.addNode("Squeeze",
            {x->name, b.addInts({countFromEither(b, axis, x->getRank())})});
  return true;
}

static bool addExpand(ModelBuilder &b) {
  const ModelValue *y = b.pickFixed(hasDims);
  if (!y)
    return false;
  ElemKind kind = b.pickOne({ElemKind::Float, ElemKind::Int64, ElemKind::Bool});
  std::optional<ModelValue> x = findBroadcast(b, kind, *y);
  if (!x || !broadcasts(*x, *y))
    return false;
  b.addNode("Expand", {x->name, b.addNode("Shape", {y->name})});
  return true;
}

static bool addTile(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed(hasDims);
  if (!x)
    return false;
  int64_t axis = pickAxis(b, *x);
  std::vector<std::string> repeats;
  for (int64_t d = 0; d < x->getRank(); ++d) {
    const ModelValue *other =
        d == axis && b.chance(40) ? b.pickFixed(hasDims) : nullptr;
    repeats.push_back(other ? b.addExtent(*other, unsigned(pickAxis(b, *other)))
                            : b.addInts({d == axis ? b.pickFrom(0, 3) : 1}));
  }
  b.addNode("Tile", {x->name, repeats.size() == 1
                                  ? repeats[0]
                                  : b.addNode("Concat", repeats,
                                              {makeAttr("axis", int64_t(0))})});
  return true;
}

/// The positions along a dimension.
static bool addRange(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed(hasDims);
  if (!x)
    return false;
  auto pickScalar = [&](const ModelValue &value) {
    return b.addNode("Squeeze",
                     {b.addExtent(value, unsigned(pickAxis(b, value)))});
  };
  std::string start = b.addInt(b.chance(70) ? 0 : b.pickFrom(-2, 3));
  if (const ModelValue *other = b.chance(20) ? b.pickFixed(hasDims) : nullptr)
    start = pickScalar(*other);
  std::string end = pickScalar(*x);
  if (b.chance(20))
    end = b.addNode("Add", {end, start});
  std::string step = b.addInt(b.chance(80) ? 1 : b.pickFrom(2, 3));
  std::string range = b.addNode("Range", {start, end, step});
  if (b.chance(50))
    b.addNode("Cast", {range},
              {makeAttr("to", int64_t(*getOnnxDataType(ElemKind::Float)))});
  return true;
}

static bool addFill(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed(isAny);
  if (!x)
    return false;
  b.addNode("ConstantOfShape", {b.addNode("Shape", {x->name})});
  return true;
}

static bool addShapeItself(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed(isAny);
  if (!x)
    return false;
  b.addNode(b.pickOne({"Shape", "Size"}), {x->name});
  return true;
}

static bool addEye(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed([](const ModelValue &value) {
    return value.getRank() == 2 && value.kind != ElemKind::Bool;
  });
  if (!x)
    return false;
  b.addNode("EyeLike", {x->name}, {makeAttr("k", b.pickFrom(-2, 2))});
  return true;
}

llvm::ArrayRef<OperatorFamily> fuzz::getShapeFamilies() {
  static const OperatorFamily families[] = {
      {addJoin, 3},      {addDivide, 3},  {addReshapeLike, 1}, {addFlatten, 1},
      {addUnsqueeze, 2}, {addSqueeze, 1}, {addExpand, 3},      {addTile, 2},
      {addRange, 3},     {addFill, 1},    {addShapeItself, 1}, {addEye, 1}};
  return families;
}
