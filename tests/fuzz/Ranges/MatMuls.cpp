//===- MatMuls.cpp - Random operators that multiply and add ---------------===//

#include "Operators.h"

using namespace glowish;
using namespace glowish::fuzz;

/// \p x with its last two dimensions swapped.
static std::string swapLast(ModelBuilder &b, const ModelValue &x) {
  std::vector<int64_t> perm;
  for (int64_t d = 0; d < x.getRank(); ++d)
    perm.push_back(d);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return b.addNode("Transpose", {x.name}, {makeAttr("perm", perm)});
}

/// Weights, or a value, for the right-hand side of a matmul with \p x.
static std::optional<ModelValue> findFactor(ModelBuilder &b,
                                            const ModelValue &x) {
  const ExtentPoints &inner = x.shape.back();
  if (b.chance(40))
    if (const ModelValue *found = b.pickFixed([&](const ModelValue &value) {
          if (value.kind != x.kind || value.getRank() < 2 ||
              value.shape[value.getRank() - 2] != inner)
            return false;
          ModelValue own = x, other = value;
          for (ModelValue *each : {&own, &other}) {
            size_t kept = each->getRank() > 2 ? each->getRank() - 2 : 0;
            each->shape.resize(kept);
            each->largest.resize(kept);
          }
          return broadcasts(own, other);
        }))
      return *found;
  Shape shape = {inner, b.pickExtent()};
  if (x.getRank() > 2 && b.chance(40))
    shape.insert(shape.begin(), x.shape.begin(), x.shape.end() - 2);
  return b.findOperand(x.kind, shape);
}

static bool addMatMul(ModelBuilder &b) {
  const ModelValue *x = b.pickFloats(1);
  if (!x)
    return false;
  std::optional<ModelValue> y = findFactor(b, *x);
  if (!y)
    return false;
  b.addNode("MatMul", {x->name, y->name});
  return true;
}

/// Scores of each row with each, and sums over all rows.
static bool addSelfMatMul(ModelBuilder &b) {
  const ModelValue *x = b.pickFloats(2);
  if (!x)
    return false;
  std::string swapped = swapLast(b, *x);
  b.addNode("MatMul", b.chance(50) ? std::vector{x->name, swapped}
                                   : std::vector{swapped, x->name});
  return true;
}

static bool addGemm(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed([](const ModelValue &value) {
    return value.isFloat() && value.getRank() == 2;
  });
  if (!x)
    return false;
  bool swapsX = b.chance(30), swapsY = b.chance(50);
  ExtentPoints rows = x->shape[swapsX], inner = x->shape[!swapsX],
               columns = b.pickExtent();
  std::optional<ModelValue> y = b.findOperand(
      x->kind, swapsY ? Shape{columns, inner} : Shape{inner, columns});
  if (!y)
    return false;
  std::vector<std::string> inputs = {x->name, y->name};
  if (b.chance(50)) {
    std::optional<ModelValue> bias =
        b.findOperand(x->kind, b.chance(70)   ? Shape{columns}
                               : b.chance(50) ? Shape{rows, columns}
                                              : Shape{rows, b.makeExtent(1)});
    if (!bias)
      return false;
    inputs.push_back(bias->name);
  }
  b.addNode("Gemm", inputs,
            {makeAttr("transA", int64_t(swapsX)),
             makeAttr("transB", int64_t(swapsY))});
  return true;
}

static bool addEinsum(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed([](const ModelValue &value) {
    return value.isFloat() && value.getRank() == 3;
  });
  if (!x)
    return false;
  std::optional<ModelValue> y = b.findOperand(
      x->kind, {x->shape[0], x->shape[2], b.makeExtent(b.pickFrom(1, 5))});
  // Not of ranged dimensions.
  if (!y || (!isConstant(x->shape) && !b.chance(5)))
    return false;
  b.addNode("Einsum", {x->name, y->name},
            {makeAttr("equation", b.pickOne({"abc,acd->abd", "abc,acd->ad",
                                             "abc,acd->b"}))});
  return true;
}

llvm::ArrayRef<OperatorFamily> fuzz::getMatMulFamilies() {
  static const OperatorFamily families[] = {
      {addMatMul, 6}, {addSelfMatMul, 3}, {addGemm, 3}, {addEinsum, 1}};
  return families;
}
