//===- ExporterQuantizationTest.cpp - Quantized values written as ONNX ----===//

#include "Rewritten.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/Graph/NodeBuilder.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::Contains;
using testing::ElementsAre;

static std::unique_ptr<Module> parse(llvm::StringRef text) {
  return llvm::cantFail(parseModule(text, "test", nullptr));
}

/// \p nodes that compute %y of float x of two rows and three columns.
static std::string makeText(llvm::StringRef nodes) {
  return llvm::formatv(R"(
module "m"
placeholder %x : float<2x3> input "x"
placeholder %y : float<2x3> output "y"
constant %s : float<> = [0.5]
constant %z : float<> = [3.0]
constant %wide : float<> = [300.0]
constant %half : float<> = [0.5]
constant %i : int32<> = [3]
constant %columns : float<3> = [0.5, 0.25, 1.0]
constant %rows : float<2x1> = [0.5, 2.0]
constant %offsets : int32<2x1> = [1, 3]
function "main" {{
  {0}
  Save(%r, %y)
})",
                       nodes);
}

static std::vector<std::string> writeOperators(llvm::StringRef nodes) {
  std::string text = makeText(nodes);
  checkRewritten(nodes.str(), [&] { return parse(text); });
  return getOperators(llvm::cantFail(writeOnnx(*parse(text))));
}

static constexpr llvm::StringLiteral toIntegers = R"(
  %d = Div(%x, %s) : float<2x3>
  %n = Round(%d) : float<2x3>
  %a = Add(%n, %z) : float<2x3>
  %q = Cast(%a) {to = uint8} : uint8<2x3>
)";
static constexpr llvm::StringLiteral toFloats = R"(
  %w = Cast(%q) {to = int32} : int32<2x3>
  %c = Sub(%w, %i) : int32<2x3>
  %f = Cast(%c) {to = float} : float<2x3>
  %r = Mul(%f, %s) : float<2x3>
)";

TEST(ExporterQuantization, OneScale) {
  EXPECT_THAT(writeOperators((toIntegers + toFloats).str()),
              ElementsAre("QuantizeLinear", "DequantizeLinear"));
}

TEST(ExporterQuantization, WithoutZeroPoint) {
  EXPECT_THAT(writeOperators(R"(
  %d = Div(%x, %s) : float<2x3>
  %n = Round(%d) : float<2x3>
  %q = Cast(%n) {to = int8} : int8<2x3>
  %f = Cast(%q) {to = float} : float<2x3>
  %r = Mul(%f, %s) : float<2x3>)"),
              ElementsAre("QuantizeLinear", "DequantizeLinear"));
}

TEST(ExporterQuantization, ScalesAndZeroPointsAlongAnAxis) {
  std::string text = makeText(R"(
  %d = Div(%x, %columns) : float<2x3>
  %n = Round(%d) : float<2x3>
  %a = Add(%n, %z) : float<2x3>
  %q = Cast(%a) {to = int8} : int8<2x3>
  %w = Cast(%q) {to = int32} : int32<2x3>
  %c = Sub(%w, %offsets) : int32<2x3>
  %f = Cast(%c) {to = float} : float<2x3>
  %r = Mul(%f, %rows) : float<2x3>)");
  checkRewritten("axes", [&] { return parse(text); });
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(llvm::cantFail(writeOnnx(*parse(text)))));
  ASSERT_EQ(model.graph().node_size(), 2);
  for (auto [node, axis] : {std::pair(0, 1), std::pair(1, 0)}) {
    ASSERT_EQ(model.graph().node(node).attribute_size(), 1);
    EXPECT_EQ(model.graph().node(node).attribute(0).i(), axis);
  }
}

/// A value in between that something else reads keeps what computes it.
TEST(ExporterQuantization, ReadInBetween) {
  EXPECT_THAT(writeOperators((toIntegers + R"(
  %w = Cast(%q) {to = float} : float<2x3>
  %m = Mul(%w, %s) : float<2x3>
  %r = Add(%m, %d) : float<2x3>)")
                                 .str()),
              ElementsAre("Div", "QuantizeLinear", "DequantizeLinear", "Add"));
}

/// Zero points that the kind does not have, parameters along two dimensions.
TEST(ExporterQuantization, OtherArithmetic) {
  for (std::string zero : {"%wide", "%half"})
    EXPECT_THAT(writeOperators(R"(
  %d = Div(%x, %s) : float<2x3>
  %n = Round(%d) : float<2x3>
  %a = Add(%n, )" + zero + R"() : float<2x3>
  %q = Cast(%a) {to = uint8} : uint8<2x3>)" +
                               toFloats.str()),
                testing::Not(Contains("QuantizeLinear")));
  EXPECT_THAT(writeOperators(R"(
  %d = Div(%x, %columns) : float<2x3>
  %n = Round(%d) : float<2x3>
  %a = Add(%n, %rows) : float<2x3>
  %q = Cast(%a) {to = uint8} : uint8<2x3>)" +
                             toFloats.str()),
              testing::Not(Contains("QuantizeLinear")));
}

namespace {
/// Builds quantized values as the quantizer composes them.
struct Composer {
  Composer(Function &function, Module &module)
      : b(function, "n"), module(module) {}

  NodeValue quantize(NodeValue x, double scale, double zero) {
    x = b.make<RoundNode>(b.make<DivNode>(x, number(scale)));
    x = b.make<CastNode>(b.make<AddNode>(x, number(zero)), ElemKind::UInt8);
    return dequantize(x, number(scale), int(zero));
  }
  NodeValue dequantize(NodeValue x, NodeValue scale, int zero) {
    x = b.make<CastNode>(x, ElemKind::Int32);
    x = b.make<SubNode>(x, b.createConstant(Tensor::fromValues<int32_t>(
                               Type(ElemKind::Int32, {}), {zero})));
    return b.make<MulNode>(b.make<CastNode>(x, ElemKind::Float), scale);
  }
  NodeValue number(double value) { return floats({}, {float(value)}); }
  NodeValue floats(DimsRef shape, llvm::ArrayRef<float> values) {
    return b.createConstant(
        Tensor::fromValues<float>(Type(ElemKind::Float, shape), values));
  }
  NodeValue bytes(DimsRef shape) {
    return b.createConstant(makeRandom(Type(ElemKind::Int8, shape), 3));
  }

  NodeBuilder b;
  Module &module;
};
} // namespace

/// The form that ONNX Runtime multiplies integers in: nothing between the
/// weights and Conv, and the bias as integers.
TEST(ExporterQuantization, Convolution) {
  auto make = [] {
    return buildModule([](Function &function, Module &module) {
      Composer c(function, module);
      NodeValue x = newInput(module, ElemKind::Float, {1, 2, 5, 5});
      x = c.quantize(x, 0.0078125, 128);
      x = c.b.make<TransposeNode>(x, llvm::ArrayRef<int64_t>{0, 2, 3, 1});
      NodeValue filter = c.dequantize(c.bytes({2, 3, 3, 2}),
                                      c.floats({2, 1, 1, 1}, {0.25, 0.5}), 0);
      // Multiples of the products of the scales.
      NodeValue bias = c.floats({2}, {0.0078125f * 0.25f * 77, -0.0078125f});
      x = c.b.make<ConvolutionNode>(
          x, filter, bias, llvm::ArrayRef<int64_t>{1, 1},
          llvm::ArrayRef<int64_t>{1, 1, 1, 1}, llvm::ArrayRef<int64_t>{1, 1},
          /*group=*/1);
      return c.quantize(c.b.make<ReluNode>(x), 0.5, 0);
    });
  };
  checkRewritten("convolution", make);
  onnx::ModelProto model;
  std::string bytes = llvm::cantFail(writeOnnx(*make()));
  ASSERT_TRUE(model.ParseFromString(bytes));
  std::map<std::string, std::string> makers;
  for (const onnx::NodeProto &node : model.graph().node()) {
    for (const std::string &input : node.input())
      if (node.op_type() == "Conv")
        EXPECT_EQ(makers[input], "DequantizeLinear") << input;
    makers[node.output(0)] = node.op_type();
  }
  EXPECT_THAT(getOperators(bytes),
              ElementsAre("QuantizeLinear", "DequantizeLinear",
                          "DequantizeLinear", "DequantizeLinear", "Conv",
                          "Relu", "QuantizeLinear", "DequantizeLinear",
                          "Transpose"));
}

/// A bias that is no multiple stays float.
TEST(ExporterQuantization, FullyConnected) {
  for (float bias : {0.75f, 0.7f}) {
    auto make = [bias] {
      return buildModule([bias](Function &function, Module &module) {
        Composer c(function, module);
        NodeValue x = newInput(module, ElemKind::Float, {2, 4});
        x = c.quantize(x, 0.5, 3);
        NodeValue weights = c.dequantize(c.bytes({4, 1}), c.number(0.25), 0);
        return NodeValue(
            c.b.make<FullyConnectedNode>(x, weights, c.floats({1}, {bias})));
      });
    };
    checkRewritten("fully connected", make);
    std::vector<std::string> operators =
        getOperators(llvm::cantFail(writeOnnx(*make())));
    EXPECT_EQ(llvm::count(operators, "DequantizeLinear"),
              bias == 0.75f ? 3 : 2);
  }
}

/// What is added to a matmul of three dimensions, where there is no Gemm.
TEST(ExporterQuantization, SumBehindMatMul) {
  for (bool isFirst : {true, false}) {
    auto make = [isFirst] {
      return buildModule([isFirst](Function &function, Module &module) {
        Composer c(function, module);
        NodeValue x = newInput(module, ElemKind::Float, {2, 3, 4});
        x = c.quantize(x, 0.5, 3);
        NodeValue weights =
            c.dequantize(c.bytes({4, 2}), c.floats({1, 2}, {0.25, 0.5}), 0);
        NodeValue bias = c.floats({2}, {0.375f, -2.5f});
        x = c.b.matMul(x, weights);
        return isFirst ? c.b.add(bias, x) : c.b.add(x, bias);
      });
    };
    checkRewritten("matmul", make);
    EXPECT_EQ(llvm::count(getOperators(llvm::cantFail(writeOnnx(*make()))),
                          "DequantizeLinear"),
              3);
  }
}

//===- Weights of matmuls -------------------------------------------------===//

/// A matmul of float x [2, 40] and weights of \p kind with parameters of blocks
/// of \p block rows, as a node.
static std::unique_ptr<Module> makeNBits(ElemKind kind, int64_t block,
                                         bool hasZeroPoints,
                                         ElemKind lhsKind = ElemKind::Float) {
  auto module = std::make_unique<Module>("m");
  NodeBuilder b(*module->createFunction("main"), "node");
  int64_t count = (40 + block - 1) / block;
  auto weights = [&](ElemKind each, Dims shape) {
    return b.table(each, shape, [&](DimsRef index) {
      int64_t i = index[0] * 7 + index[1] * 3;
      return each == ElemKind::Float ? 0.25 + double(i % 5) : double(i % 7);
    });
  };
  NodeValue x(module->createPlaceholder("x", Type(lhsKind, {2, 40}),
                                        /*isInput=*/true, /*isOutput=*/false));
  NodeValue result = b.make<MatMulNBitsNode>(
      x, weights(kind, {40, 3}), weights(ElemKind::Float, {count, 3}),
      hasZeroPoints ? weights(kind, {count, 3}) : NodeValue(),
      /*lhsScales=*/NodeValue(), block);
  auto *y = module->createPlaceholder("y", result.getType(), /*isInput=*/false,
                                      /*isOutput=*/true);
  b.getFunction().create<SaveNode>("save", result, NodeValue(y));
  return module;
}

TEST(ExporterQuantization, MatMulNBits) {
  struct Case {
    ElemKind kind;
    int64_t block;
    bool hasZeroPoints;
    std::vector<std::string> operators;
  };
  const std::vector<std::string> nBits = {"MatMulNBits"},
                                 others = {"DequantizeLinear", "MatMul"};
  const Case cases[] = {
      {ElemKind::Int4, 16, false, nBits},  {ElemKind::UInt4, 16, true, nBits},
      {ElemKind::Int4, 40, true, nBits},   {ElemKind::UInt4, 32, false, nBits},
      {ElemKind::Int8, 16, true, nBits},   {ElemKind::UInt8, 32, true, nBits},
      {ElemKind::Int8, 40, false, others}, {ElemKind::UInt8, 40, true, others},
      {ElemKind::Int4, 12, true, others},  {ElemKind::UInt4, 7, true, others},
      {ElemKind::Int8, 5, true, others}};
  for (const Case &each : cases) {
    auto build = [&] {
      return makeNBits(each.kind, each.block, each.hasZeroPoints);
    };
    std::string name = getElemKindName(each.kind).str() + " in blocks of " +
                       std::to_string(each.block);
    checkRewritten(name, build);
    EXPECT_EQ(getOperators(llvm::cantFail(writeOnnx(*build()))), each.operators)
        << name;
  }
}

TEST(ExporterQuantization, MatMulNBitsOfHalfPrecision) {
  auto build = [] {
    return makeNBits(ElemKind::Int4, 16, /*hasZeroPoints=*/false,
                     ElemKind::Float16);
  };
  checkRewritten("float16", build);
  EXPECT_THAT(getOperators(llvm::cantFail(writeOnnx(*build()))),
              ElementsAre("Cast", "MatMulNBits", "Cast"));
}
