//===- ElementWise.cpp - Random element-wise operators --------------------===//

#include "Operators.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Importer/ONNX.h"

using namespace glowish;
using namespace glowish::fuzz;

//===- Broadcasting -------------------------------------------------------===//

/// Whether dimension \p dim of \p value has one element in every run, as the
/// importer sees it.
static bool isOne(const ModelValue &value, unsigned dim) {
  return value.largest[dim] == 1 && getLeast(value.shape[dim]) == 1 &&
         !value.dynamicDims.count(dim);
}

bool fuzz::broadcasts(const ModelValue &a, const ModelValue &b) {
  for (unsigned i = 1; i <= std::min(a.getRank(), b.getRank()); ++i) {
    unsigned x = a.getRank() - i, y = b.getRank() - i;
    if (a.shape[x] != b.shape[y] && !isOne(a, x) && !isOne(b, y))
      return false;
  }
  return true;
}

std::optional<ModelValue> fuzz::findBroadcast(ModelBuilder &b, ElemKind kind,
                                              const ModelValue &value) {
  if (b.chance(60))
    if (const ModelValue *found = b.pickFixed([&](const ModelValue &other) {
          return other.kind == kind && broadcasts(other, value);
        }))
      return *found;
  Shape shape = value.shape;
  for (ExtentPoints &extent : shape)
    if (b.chance(30))
      extent = b.makeExtent(1);
  if (b.chance(40))
    shape.erase(shape.begin(),
                shape.begin() + b.pickFrom(0, int64_t(shape.size())));
  return b.findOperand(kind, shape);
}

//===- Families -----------------------------------------------------------===//

/// The operators of ONNX that are element-wise nodes of \p numOperands
/// operands, by their records.
static std::vector<std::string> findOperators(unsigned numOperands) {
  std::set<std::string> imported;
  for (const auto &[name, opsets] : listOnnxOperators())
    imported.insert(name);
  std::vector<std::string> found;
  for (const OpInfo &info : getNodeTable())
    if (info.scalarOp && info.operands.size() == numOperands &&
        imported.count(info.name.str()))
      found.push_back(info.name.str());
  return found;
}

/// What the importer composes, and what leaves elements as they are.
static const char *pickComposed(ModelBuilder &b) {
  return b.pickOne({"Softplus", "Softsign", "Mish", "Celu", "IsNaN", "Identity",
                    "Shrink", "ThresholdedRelu"});
}

static bool addUnary(ModelBuilder &b) {
  static const std::vector<std::string> operators = findOperators(1);
  const ModelValue *x = b.pick([](const ModelValue &) { return true; });
  if (!x)
    return false;
  std::string op = b.chance(15) ? pickComposed(b)
                                : operators[b.random.below(operators.size())];
  std::string operand = x->name;
  // Many of these functions are NaN beyond 0 to 1, which says little.
  bool isPartial = op == "Sqrt" || op == "Log" || (op[0] == 'A' && op != "Abs");
  if (isPartial && b.chance(90))
    operand = b.addNode("Sigmoid", {operand});
  b.addNode(op.c_str(), {operand});
  return true;
}

/// Two operands, the second of which broadcasts to the first; none if there are
/// no such values.
static std::optional<std::pair<ModelValue, ModelValue>>
pickPair(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed([](const ModelValue &) { return true; });
  if (!x)
    return std::nullopt;
  std::optional<ModelValue> y = findBroadcast(b, x->kind, *x);
  return y ? std::optional(std::pair(*x, *y)) : std::nullopt;
}

static bool addBinary(ModelBuilder &b) {
  static const std::vector<std::string> operators = findOperators(2);
  auto pair = pickPair(b);
  if (!pair)
    return false;
  const auto &[x, y] = *pair;
  const std::string &op = operators[b.random.below(operators.size())];
  if (op == "Pow" && b.chance(90))
    return false;
  b.addNode(op.c_str(), b.chance(50) ? std::vector{y.name, x.name}
                                     : std::vector{x.name, y.name});
  return true;
}

static bool addWhere(ModelBuilder &b) {
  auto pair = pickPair(b);
  if (!pair)
    return false;
  const auto &[x, y] = *pair;
  std::optional<ModelValue> condition = findBroadcast(b, ElemKind::Bool, x);
  if (!condition || !broadcasts(*condition, y))
    return false;
  b.addNode("Where", {condition->name, x.name, y.name});
  return true;
}

static bool addClip(ModelBuilder &b) {
  const ModelValue *x = b.pickFloats();
  if (!x)
    return false;
  b.addNode("Clip", {x->name, b.addConstant(x->kind, {})});
  return true;
}

static bool addCast(ModelBuilder &b) {
  const ModelValue *x = b.pick([](const ModelValue &) { return true; });
  if (!x)
    return false;
  ElemKind kind = b.pickOne({ElemKind::Float, ElemKind::Float, ElemKind::Float,
                             ElemKind::Float16, ElemKind::Int64,
                             ElemKind::Int32, ElemKind::UInt8, ElemKind::Int8,
                             ElemKind::Bool, ElemKind::Double});
  b.addNode("Cast", {x->name},
            {makeAttr("to", int64_t(*getOnnxDataType(kind)))});
  return true;
}

llvm::ArrayRef<OperatorFamily> fuzz::getElementWiseFamilies() {
  static const OperatorFamily families[] = {
      {addUnary, 6}, {addBinary, 9}, {addWhere, 3}, {addClip, 1}, {addCast, 4}};
  return families;
}
