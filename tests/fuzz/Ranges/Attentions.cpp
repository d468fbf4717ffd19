//===- Attentions.cpp - Random attention and what belongs to it -----------===//

#include "Operators.h"
#include "glowish/Importer/ONNX.h"

using namespace glowish;
using namespace glowish::fuzz;

/// Batch, number of heads or a group's, length and size of a head.
namespace {
struct Heads {
  ExtentPoints batch, length;
  int64_t numQueries, numKeys, size;
};
} // namespace

static Heads pickHeads(ModelBuilder &b) {
  Heads heads;
  heads.batch = b.chance(70) ? b.makeExtent(b.pickFrom(1, 2)) : b.pickRanged();
  heads.length = b.chance(85) ? b.pickRanged() : b.makeExtent(b.pickFrom(1, 4));
  heads.numKeys = b.pickFrom(1, 2);
  heads.numQueries = heads.numKeys * b.pickFrom(1, 2);
  heads.size = b.pickOne({2, 4, 8, 16});
  return heads;
}

/// A mask that broadcasts to the scores.
static std::optional<ModelValue> findMask(ModelBuilder &b, const Heads &heads,
                                          const ExtentPoints &keys,
                                          ElemKind kind) {
  // A row that hides all keys is NaN, and tells nothing of others.
  if (b.chance(5))
    kind = ElemKind::Bool;
  if (b.chance(70))
    return b.findOperand(kind, {heads.length, keys});
  return b.findOperand(kind, {b.chance(50) ? heads.batch : b.makeExtent(1),
                              b.makeExtent(1), heads.length, keys});
}

/// Attention of ONNX, with heads of their own or side by side, and with a past
/// now and then.
static bool addAttention(ModelBuilder &b) {
  Heads heads = pickHeads(b);
  bool isFlat = b.chance(40), hasPast = b.chance(40), isCausal = b.chance(40);
  ExtentPoints keys = hasPast || b.chance(60) ? heads.length : b.pickRanged();
  auto find = [&](int64_t count, const ExtentPoints &length) {
    return b.findOperand(
        ElemKind::Float,
        isFlat ? Shape{heads.batch, length, b.makeExtent(count * heads.size)}
               : Shape{heads.batch, b.makeExtent(count), length,
                       b.makeExtent(heads.size)});
  };
  std::vector<std::string> inputs;
  for (auto [count, length] : {std::pair(heads.numQueries, heads.length),
                               {heads.numKeys, keys},
                               {heads.numKeys, keys}}) {
    std::optional<ModelValue> operand = find(count, length);
    if (!operand)
      return false;
    inputs.push_back(operand->name);
  }
  // The first of more queries than keys would see none.
  if (keys != heads.length)
    isCausal = false;
  ExtentPoints past = b.pickRanged();
  if (hasPast)
    for (auto [own, before] : llvm::zip_equal(keys, past))
      own += before;
  if (b.chance(50)) {
    std::optional<ModelValue> mask = findMask(b, heads, keys, ElemKind::Float);
    if (!mask)
      return false;
    inputs.push_back(mask->name);
  }
  if (hasPast) {
    inputs.resize(4);
    for (unsigned i = 0; i < 2; ++i) {
      std::optional<ModelValue> state =
          b.addInput(ElemKind::Float, {heads.batch, b.makeExtent(heads.numKeys),
                                       past, b.makeExtent(heads.size)});
      if (!state)
        return false;
      inputs.push_back(state->name);
    }
  }
  std::vector<onnx::AttributeProto> attrs = {
      makeAttr("is_causal", int64_t(isCausal))};
  if (isFlat) {
    attrs.push_back(makeAttr("q_num_heads", heads.numQueries));
    attrs.push_back(makeAttr("kv_num_heads", heads.numKeys));
  }
  if (b.chance(20))
    attrs.push_back(makeAttr("softcap", 2.0));
  std::vector<std::string> outputs =
      b.addNode("Attention", inputs, attrs, hasPast ? 3 : 1);
  if (hasPast && isConstant(heads.batch) && b.chance(70))
    for (unsigned i = 0; i < 2; ++i)
      b.addState(inputs[4 + i], outputs[1 + i]);
  return true;
}

/// Attention of which the nodes are one by one, as exporters write it.
static bool addComposedAttention(ModelBuilder &b) {
  Heads heads = pickHeads(b);
  ExtentPoints keys = b.chance(60) ? heads.length : b.pickRanged();
  ExtentPoints count = b.makeExtent(heads.numQueries),
               size = b.makeExtent(heads.size);
  std::optional<ModelValue> query =
      b.findOperand(ElemKind::Float, {heads.batch, count, heads.length, size});
  std::optional<ModelValue> key =
      b.findOperand(ElemKind::Float, {heads.batch, count, keys, size});
  std::optional<ModelValue> value =
      b.findOperand(ElemKind::Float, {heads.batch, count, keys, size});
  if (!query || !key || !value)
    return false;
  std::string turned =
      b.addNode("Transpose", {key->name},
                {makeAttr("perm", std::vector<int64_t>{0, 1, 3, 2})});
  std::string scores = b.addNode("MatMul", {query->name, turned});
  Tensor scale(Type(ElemKind::Float, {}));
  scale.setFromDouble(0, 0.5);
  if (b.chance(60))
    scores = b.addNode("Mul", {scores, b.addConstant(scale)});
  if (b.chance(60)) {
    std::optional<ModelValue> mask = findMask(b, heads, keys, ElemKind::Float);
    if (!mask)
      return false;
    Tensor least(Type(ElemKind::Float, {}));
    least.setFromDouble(0, b.chance(50) ? -1e9 : -3);
    scores =
        mask->kind == ElemKind::Bool
            ? b.addNode("Where", {mask->name, scores, b.addConstant(least)})
            : b.addNode("Add", {scores, mask->name});
  }
  std::string weights =
      b.addNode("Softmax", {scores}, {makeAttr("axis", int64_t(-1))});
  std::string result = b.addNode("MatMul", {weights, value->name});
  if (b.chance(50)) {
    std::string joined =
        b.addNode("Transpose", {result},
                  {makeAttr("perm", std::vector<int64_t>{0, 2, 1, 3})});
    b.addNode("Reshape",
              {joined, b.addInts({0, 0, heads.numQueries * heads.size})});
  }
  return true;
}

static bool addRotary(ModelBuilder &b) {
  Heads heads = pickHeads(b);
  bool isFlat = b.chance(40);
  ExtentPoints count = b.makeExtent(heads.numQueries);
  std::optional<ModelValue> x =
      b.findOperand(ElemKind::Float,
                    isFlat ? Shape{heads.batch, heads.length,
                                   b.makeExtent(heads.numQueries * heads.size)}
                           : Shape{heads.batch, count, heads.length,
                                   b.makeExtent(heads.size)});
  if (!x)
    return false;
  std::vector<std::string> inputs = {x->name};
  constexpr int64_t numRows = 7;
  bool hasPositions = b.chance(50);
  for (unsigned i = 0; i < 2; ++i) {
    ExtentPoints half = b.makeExtent(heads.size / 2);
    std::optional<ModelValue> cache = b.findOperand(
        ElemKind::Float, hasPositions ? Shape{b.makeExtent(numRows), half}
                                      : Shape{heads.batch, heads.length, half});
    if (!cache)
      return false;
    inputs.push_back(cache->name);
  }
  if (hasPositions) {
    std::optional<ModelValue> numbers =
        b.findOperand(ElemKind::Int64, {heads.batch, heads.length});
    if (!numbers)
      return false;
    inputs.push_back(b.addNode("Mod", {numbers->name, b.addInt(numRows)}));
  }
  std::vector<onnx::AttributeProto> attrs = {
      makeAttr("interleaved", int64_t(b.random.below(2)))};
  if (isFlat)
    attrs.push_back(makeAttr("num_heads", heads.numQueries));
  b.addNode("RotaryEmbedding", inputs, attrs);
  return true;
}

/// The caches that angles are read from.
static void addAngles(ModelBuilder &b, std::vector<std::string> &inputs,
                      int64_t half) {
  constexpr int64_t numRows = 64;
  for (unsigned i = 0; i < 2; ++i)
    inputs.push_back(b.addConstant(ElemKind::Float, {numRows, half}));
}

/// Attention of ONNX Runtime, with a past.
static bool addGroupQuery(ModelBuilder &b) {
  Heads heads = pickHeads(b);
  heads.size = 16; // what it takes for its angles
  ExtentPoints one = b.makeExtent(1), past = b.pickRanged();
  auto find = [&](int64_t count) {
    return b.findOperand(ElemKind::Float,
                         {one, heads.length, b.makeExtent(count * heads.size)});
  };
  std::optional<ModelValue> query = find(heads.numQueries),
                            key = find(heads.numKeys),
                            value = find(heads.numKeys);
  if (!query || !key || !value)
    return false;
  std::vector<std::string> inputs = {query->name, key->name, value->name};
  std::optional<ModelValue> state;
  for (unsigned i = 0; i < 2; ++i) {
    state = b.addInput(ElemKind::Float, {one, b.makeExtent(heads.numKeys), past,
                                         b.makeExtent(heads.size)});
    if (!state)
      return false;
    inputs.push_back(state->name);
  }
  std::string total = b.addNode(
      "Cast",
      {b.addNode("Add", {b.addExtent(*state, 2), b.addExtent(*query, 1)})},
      {makeAttr("to", int64_t(*getOnnxDataType(ElemKind::Int32)))});
  Tensor number(Type(ElemKind::Int32, {1}));
  number.setFromDouble(0, 1);
  inputs.push_back(b.addNode("Sub", {total, b.addConstant(number)}));
  inputs.push_back(b.addNode("Squeeze", {total}));
  bool isRotary = b.chance(50);
  if (isRotary)
    addAngles(b, inputs, heads.size / 2);
  std::vector<onnx::AttributeProto> attrs = {
      makeAttr("num_heads", heads.numQueries),
      makeAttr("kv_num_heads", heads.numKeys),
      makeAttr("do_rotary", int64_t(isRotary))};
  if (b.chance(30))
    attrs.push_back(makeAttr("local_window_size", b.pickFrom(1, 6)));
  std::vector<std::string> outputs =
      b.addNode("GroupQueryAttention", inputs, attrs, 3, "com.microsoft");
  if (b.chance(70))
    for (unsigned i = 0; i < 2; ++i)
      b.addState(inputs[3 + i], outputs[1 + i]);
  return true;
}

/// Attention of ONNX Runtime of projections side by side, with a mask of keys
/// and a past now and then.
static bool addMultiHead(ModelBuilder &b) {
  Heads heads = pickHeads(b);
  bool hasPast = b.chance(40);
  ExtentPoints width = b.makeExtent(heads.numQueries * heads.size);
  ExtentPoints keys = hasPast || b.chance(60) ? heads.length : b.pickRanged();
  bool isCausal = keys == heads.length && b.chance(40);
  std::vector<std::string> inputs;
  for (const ExtentPoints &length : {heads.length, keys, keys}) {
    std::optional<ModelValue> operand =
        b.findOperand(ElemKind::Float, {heads.batch, length, width});
    if (!operand)
      return false;
    inputs.push_back(operand->name);
  }
  ExtentPoints past = b.pickRanged();
  if (hasPast)
    for (auto [own, before] : llvm::zip_equal(keys, past))
      own += before;
  inputs.push_back(
      b.chance(50)
          ? b.addConstant(ElemKind::Float, {3 * heads.numQueries * heads.size})
          : "");
  std::optional<ModelValue> mask;
  if (b.chance(50))
    mask = b.findOperand(ElemKind::Bool, {heads.batch, keys});
  inputs.push_back(mask ? mask->name : "");
  inputs.push_back("");
  for (unsigned i = 0; hasPast && i < 2; ++i) {
    std::optional<ModelValue> state = b.addInput(
        ElemKind::Float, {heads.batch, b.makeExtent(heads.numQueries), past,
                          b.makeExtent(heads.size)});
    if (!state)
      return false;
    inputs.push_back(state->name);
  }
  std::vector<std::string> outputs =
      b.addNode("MultiHeadAttention", inputs,
                {makeAttr("num_heads", heads.numQueries),
                 makeAttr("unidirectional", int64_t(isCausal))},
                hasPast ? 3 : 1, "com.microsoft");
  if (hasPast && isConstant(heads.batch) && b.chance(70))
    for (unsigned i = 0; i < 2; ++i)
      b.addState(inputs[6 + i], outputs[1 + i]);
  return true;
}

llvm::ArrayRef<OperatorFamily> fuzz::getAttentionFamilies() {
  static const OperatorFamily families[] = {{addAttention, 3},
                                            {addComposedAttention, 2},
                                            {addRotary, 1},
                                            {addGroupQuery, 2},
                                            {addMultiHead, 1}};
  return families;
}
