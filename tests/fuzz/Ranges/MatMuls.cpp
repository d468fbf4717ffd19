//===- MatMuls.cpp - Random operators that multiply and add ---------------===//

#include "Operators.h"
#include "glowish/Importer/ONNX.h"

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

/// A convolution or pooling of a ranged batch.
static bool addImage(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed([](const ModelValue &value) {
    return value.kind == ElemKind::Float &&
           (value.getRank() == 3 || value.getRank() == 4) &&
           isConstant(Shape(value.shape.begin() + 1, value.shape.end()));
  });
  if (!x)
    return false;
  if (llvm::is_contained(x->largest, 0))
    return false;
  std::vector<int64_t> window;
  for (unsigned d = 2; d < x->getRank(); ++d)
    window.push_back(b.pickFrom(1, std::min<int64_t>(3, x->largest[d])));
  if (b.chance(30)) {
    b.addNode(b.pickOne({"MaxPool", "AveragePool"}), {x->name},
              {makeAttr("kernel_shape", window)});
    return true;
  }
  Dims filter = {b.pickFrom(1, 9), x->largest[1]};
  filter.append(window.begin(), window.end());
  std::vector<std::string> inputs = {x->name,
                                     b.addConstant(ElemKind::Float, filter)};
  if (b.chance(50))
    inputs.push_back(b.addConstant(ElemKind::Float, {filter[0]}));
  b.addNode("Conv", inputs);
  return true;
}

//===- Quantized ----------------------------------------------------------===//

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

/// To bytes and back. The reference takes a zero point that is added for a
/// rounding, so that bytes with one are not compared: few have one.
static bool addQuantized(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed(
      [](const ModelValue &value) { return value.kind == ElemKind::Float; });
  if (!x)
    return false;
  bool isSigned = b.chance(50);
  ElemKind kind = isSigned ? ElemKind::Int8 : ElemKind::UInt8;
  std::string scale = addScale(b, b.random.uniform(0.01f, 0.1f));
  std::string zero = addZeroPoint(
      b, kind, b.chance(85) ? 0 : b.pickFrom(0, isSigned ? 20 : 200));
  std::string bytes = b.addNode("QuantizeLinear", {x->name, scale, zero});
  if (b.chance(70))
    b.addNode("DequantizeLinear", {bytes, scale, zero});
  return true;
}

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

/// A matmul of quantized activations and weights.
static bool addQuantizedMatMul(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed([](const ModelValue &value) {
    return value.kind == ElemKind::Float && value.getRank() >= 2 &&
           isConstant(value.shape.back()) && value.largest.back() > 0;
  });
  if (!x)
    return false;
  int64_t inner = x->largest.back(), columns = b.pickFrom(1, 20);
  std::string weights = b.addConstant(ElemKind::Int8, {inner, columns});
  std::string zero = addZeroPoint(b, ElemKind::Int8, 0);
  if (b.chance(40)) {
    // The range of all of x decides how it is quantized.
    std::vector<std::string> own =
        b.addNode("DynamicQuantizeLinear", {x->name}, {}, 3);
    std::string sums =
        b.addNode("MatMulInteger", {own[0], weights, own[2], zero});
    std::string floats =
        b.addNode("Cast", {sums},
                  {makeAttr("to", int64_t(*getOnnxDataType(ElemKind::Float)))});
    b.addNode("Mul", {floats, own[1]});
    return true;
  }
  std::string scale = addScale(b, 0.02);
  std::string bytes = b.addNode("QuantizeLinear", {x->name, scale, zero});
  std::string floats = b.addNode("DequantizeLinear", {bytes, scale, zero});
  std::string matmul = b.addNode(
      "MatMul",
      {floats, b.addNode("DequantizeLinear", {weights, scale, zero})});
  if (b.chance(50))
    b.addNode("QuantizeLinear", {matmul, addScale(b, 0.05), zero});
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

llvm::ArrayRef<OperatorFamily> fuzz::getMatMulFamilies() {
  static const OperatorFamily families[] = {
      {addMatMul, 6}, {addSelfMatMul, 3},      {addGemm, 3},
      {addEinsum, 1}, {addImage, 2},           {addQuantized, 1},
      {addNBits, 2},  {addQuantizedMatMul, 1}, {addIntegerMatMul, 2}};
  return families;
}
