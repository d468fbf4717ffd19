//===- QuantizedOperators.cpp - Random operators of bytes -----------------===//

#include "Operators.h"
#include "glowish/Importer/ONNX.h"

using namespace glowish;
using namespace glowish::fuzz;

static std::string addScale(ModelBuilder &b, double value) {
  Tensor scale(Type(ElemKind::Float, {}));
  scale.setFromDouble(0, value);
  return b.addConstant(scale);
}

static std::string addZeroPoint(ModelBuilder &b, ElemKind kind, int64_t value) {
  Tensor zero(Type(kind, {}));
  zero.setFromDouble(0, double(value));
  return b.addConstant(zero);
}

//===- Pairs --------------------------------------------------------------===//

namespace {

/// The bytes of floats.
struct Steps {
  ElemKind kind;
  double size;
  std::string scale, zero;
};

} // namespace

/// Steps that most of what models compute fits into.
static Steps pickSteps(ModelBuilder &b) {
  bool isSigned = b.chance(50);
  Steps steps{isSigned ? ElemKind::Int8 : ElemKind::UInt8,
              double(b.random.uniform(0.01f, 0.1f)), "", ""};
  steps.scale = addScale(b, steps.size);
  int64_t zero = isSigned ? b.pickFrom(-20, 20) : b.pickFrom(60, 180);
  steps.zero = addZeroPoint(b, steps.kind, b.chance(30) ? 0 : zero);
  return steps;
}

static std::string quantize(ModelBuilder &b, const std::string &x,
                            const Steps &steps) {
  return b.addNode("QuantizeLinear", {x, steps.scale, steps.zero});
}

/// To bytes and back.
static std::string addPair(ModelBuilder &b, const std::string &x,
                           const Steps &steps) {
  return b.addNode("DequantizeLinear",
                   {quantize(b, x, steps), steps.scale, steps.zero});
}

/// The result of an operator on pairs: bytes, or a pair.
static void addResult(ModelBuilder &b, const std::string &x) {
  if (b.chance(70))
    addPair(b, x, pickSteps(b));
  else
    quantize(b, x, pickSteps(b));
}

static bool isPlainFloat(const ModelValue &value) {
  return value.kind == ElemKind::Float;
}

static bool addQuantized(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed(isPlainFloat);
  if (!x)
    return false;
  addResult(b, x->name);
  return true;
}

/// Weights of bytes, and perhaps a bias: with a scale for all, or for each
/// index of dimension \p axis. The bias has that of the sums, of which
/// \p input is one factor.
static std::vector<std::string> addWeights(ModelBuilder &b, DimsRef shape,
                                           int64_t axis, bool hasBias,
                                           double input) {
  int64_t channels = shape[size_t(axis)];
  bool isEach = b.chance(50);
  Dims scaleShape;
  if (isEach)
    scaleShape.push_back(channels);
  Tensor scale(Type(ElemKind::Float, scaleShape)),
      sumScale(Type(ElemKind::Float, scaleShape));
  for (int64_t i = 0; i < scale.getNumElements(); ++i) {
    scale.setFromDouble(i, double(b.random.uniform(0.005f, 0.05f)));
    sumScale.setFromDouble(i, float(scale.getAsDouble(i)) * float(input));
  }
  auto dequantize = [&](const Tensor &bytes, const Tensor &own, int64_t dim) {
    std::vector<onnx::AttributeProto> attrs;
    if (isEach)
      attrs.push_back(makeAttr("axis", dim));
    Tensor zero(own.getType().withKind(bytes.getType().getKind()));
    return b.addNode(
        "DequantizeLinear",
        {b.addConstant(bytes), b.addConstant(own), b.addConstant(zero)}, attrs);
  };
  auto fill = [&](ElemKind kind, DimsRef dims, int64_t most) {
    Tensor bytes(Type(kind, dims));
    for (int64_t i = 0; i < bytes.getNumElements(); ++i)
      bytes.setFromDouble(i, double(b.pickFrom(-most, most)));
    return bytes;
  };
  std::vector<std::string> inputs = {
      dequantize(fill(ElemKind::Int8, shape, 127), scale, axis)};
  if (hasBias)
    inputs.push_back(
        dequantize(fill(ElemKind::Int32, {channels}, 2000), sumScale, 0));
  return inputs;
}

/// A matmul of pairs, with weights or of two values.
static bool addQuantizedMatMul(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed([](const ModelValue &value) {
    return isPlainFloat(value) && value.getRank() >= 2 &&
           isConstant(value.shape.back()) && value.largest.back() > 0;
  });
  if (!x)
    return false;
  Steps steps = pickSteps(b);
  std::string floats = addPair(b, x->name, steps);
  int64_t inner = x->largest.back(), columns = b.pickFrom(1, 20);
  if (x->getRank() == 2 && b.chance(50)) {
    bool swaps = b.chance(60);
    Dims shape = swaps ? Dims{columns, inner} : Dims{inner, columns};
    std::vector<std::string> inputs =
        addWeights(b, shape, swaps ? 0 : 1, b.chance(60), steps.size);
    inputs.insert(inputs.begin(), floats);
    addResult(b,
              b.addNode("Gemm", inputs, {makeAttr("transB", int64_t(swaps))}));
    return true;
  }
  std::string other;
  if (b.chance(60)) {
    other = addWeights(b, {inner, columns}, 1, false, steps.size)[0];
  } else {
    std::optional<ModelValue> y =
        b.findOperand(ElemKind::Float, {x->shape.back(), b.pickExtent()});
    if (!y)
      return false;
    other = addPair(b, y->name, pickSteps(b));
  }
  addResult(b, b.addNode("MatMul", {floats, other}));
  return true;
}

static bool addQuantizedConv(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed(isImages);
  if (!x)
    return false;
  Steps steps = pickSteps(b);
  auto makeFilter = [&](DimsRef filter) {
    return addWeights(b, filter, 0, b.chance(60), steps.size);
  };
  auto sums = addConv(b, *x, addPair(b, x->name, steps), makeFilter);
  if (!sums)
    return false;
  addResult(b, b.chance(40) ? b.addNode("Relu", {*sums}) : *sums);
  return true;
}

static bool addQuantizedPool(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed(isImages);
  if (!x)
    return false;
  Steps steps = pickSteps(b);
  std::string pair = addPair(b, x->name, steps);
  auto pooled = b.chance(40) ? std::optional(addNearest(b, *x, pair))
                             : addPool(b, *x, pair);
  if (!pooled)
    return false;
  // What moves bytes has the same steps on both sides mostly.
  if (b.chance(60))
    addPair(b, *pooled, steps);
  else
    addResult(b, *pooled);
  return true;
}

/// A sum or product of pairs, or both side by side.
static bool addQuantizedBinary(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed(isPlainFloat);
  if (!x)
    return false;
  bool isConcat = b.chance(30) && x->getRank() > 0;
  std::optional<ModelValue> y = isConcat ? b.findOperand(x->kind, x->shape)
                                         : findBroadcast(b, x->kind, *x);
  if (!y)
    return false;
  std::vector<std::string> pairs = {addPair(b, x->name, pickSteps(b)),
                                    addPair(b, y->name, pickSteps(b))};
  addResult(b, isConcat ? b.addNode("Concat", pairs,
                                    {makeAttr("axis", pickAxis(b, *x))})
                        : b.addNode(b.pickOne({"Add", "Mul", "Sub"}), pairs));
  return true;
}

/// A function of a pair.
static bool addQuantizedUnary(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed([](const ModelValue &value) {
    return isPlainFloat(value) && value.getRank() > 0;
  });
  if (!x)
    return false;
  Steps steps = pickSteps(b);
  std::string pair = addPair(b, x->name, steps);
  const char *op = b.chance(50)
                       ? b.pickOne({"Relu", "Sigmoid", "Tanh"})
                       : b.pickOne({"Softmax", "Transpose", "ReduceMean"});
  std::vector<onnx::AttributeProto> attrs;
  std::vector<std::string> inputs = {pair};
  if (op == llvm::StringRef("Softmax"))
    attrs.push_back(makeAttr("axis", pickAxis(b, *x)));
  if (op == llvm::StringRef("ReduceMean"))
    inputs.push_back(b.addInts({pickAxis(b, *x)}));
  addResult(b, b.addNode(op, inputs, attrs));
  return true;
}

//===- Integers -----------------------------------------------------------===//

/// A matmul of bytes that are an input.
static bool addIntegerMatMul(ModelBuilder &b) {
  ExtentPoints inner = b.makeExtent(b.pickFrom(1, 40));
  ElemKind kind = b.pickOne({ElemKind::UInt8, ElemKind::Int8});
  Shape shape = {b.pickRanged(), inner};
  if (b.chance(30))
    shape.insert(shape.begin(), b.pickExtent());
  std::optional<ModelValue> x = b.findOperand(kind, shape);
  if (!x)
    return false;
  std::string weights =
      b.addConstant(ElemKind::Int8, {inner[0], b.pickFrom(1, 20)});
  std::vector<std::string> inputs = {x->name, weights};
  if (b.chance(50))
    inputs.push_back(addZeroPoint(b, kind, b.pickFrom(0, 20)));
  b.addNode("MatMulInteger", inputs);
  return true;
}

/// A matmul of activations whose range decides how they are quantized.
static bool addDynamicMatMul(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed([](const ModelValue &value) {
    return isPlainFloat(value) && value.getRank() >= 2 &&
           isConstant(value.shape.back()) && value.largest.back() > 0;
  });
  if (!x)
    return false;
  std::string weights =
      b.addConstant(ElemKind::Int8, {x->largest.back(), b.pickFrom(1, 20)});
  std::vector<std::string> own =
      b.addNode("DynamicQuantizeLinear", {x->name}, {}, 3);
  std::string sums =
      b.addNode("MatMulInteger",
                {own[0], weights, own[2], addZeroPoint(b, ElemKind::Int8, 0)});
  std::string floats =
      b.addNode("Cast", {sums},
                {makeAttr("to", int64_t(*getOnnxDataType(ElemKind::Float)))});
  b.addNode("Mul", {floats, own[1]});
  return true;
}

static bool addNBits(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed([](const ModelValue &value) {
    return value.kind == ElemKind::Float && value.getRank() >= 2 &&
           isConstant(value.shape.back()) && value.largest.back() > 0;
  });
  if (!x)
    return false;
  int64_t inner = x->largest.back(), columns = b.pickFrom(1, 24), block = 16;
  int64_t blocks = (inner + block - 1) / block;
  Tensor bytes(Type(ElemKind::UInt8, {columns, blocks, block / 2}));
  for (uint8_t &byte : bytes.data<uint8_t>())
    byte = uint8_t(b.random.below(256));
  std::vector<std::string> inputs = {
      x->name, b.addConstant(bytes),
      b.addConstant(ElemKind::Float, {columns, blocks})};
  b.addNode("MatMulNBits", inputs,
            {makeAttr("K", inner), makeAttr("N", columns),
             makeAttr("bits", int64_t(4)), makeAttr("block_size", block)},
            "com.microsoft");
  return true;
}

llvm::ArrayRef<OperatorFamily> fuzz::getQuantizedFamilies() {
  static const OperatorFamily families[] = {
      {addQuantized, 1},     {addQuantizedMatMul, 3}, {addQuantizedConv, 2},
      {addQuantizedPool, 1}, {addQuantizedBinary, 2}, {addQuantizedUnary, 2},
      {addIntegerMatMul, 2}, {addDynamicMatMul, 1},   {addNBits, 2}};
  return families;
}
