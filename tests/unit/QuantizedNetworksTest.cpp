//===- QuantizedNetworksTest.cpp - Networks of quantized values -----------===//
//
// What the optimizer makes of ONNX models with quantized values: the nodes that
// are left, and their results against those of the graph as it was imported.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include "OnnxText.h"

using namespace glowish;

namespace {

constexpr int uint8 = 2, int8 = 3, int32 = 6;

/// A float initializer of numbers that may be small.
std::string smallFloats(const std::string &name, std::vector<int64_t> shape,
                        const std::vector<float> &values) {
  std::string text = "initializer { name: \"" + name + "\" data_type: 1 ";
  for (int64_t dim : shape)
    text += llvm::formatv("dims: {0} ", dim);
  for (float value : values)
    text += llvm::formatv("float_data: {0:e9} ", value);
  return text + "} ";
}

/// A model with the float input x, of values in [-1, 1], and the output y.
struct Net {
  explicit Net(std::vector<int64_t> shape) {
    model.opset = 21;
    model.inputs = {{"x", std::move(shape)}};
  }

  Net &node(const char *type, std::vector<std::string> inputs,
            const char *output, const std::string &attributes = "") {
    model.body += onnxNode(type, std::move(inputs), attributes, output);
    return *this;
  }
  /// Initializers NAME_s and NAME_z, the latter where there are zero points.
  Net &parameters(const std::string &name, int type, std::vector<float> scales,
                  std::vector<int64_t> zeros, bool isScalar = true) {
    auto getShape = [&](size_t count) {
      return isScalar ? std::vector<int64_t>()
                      : std::vector<int64_t>{int64_t(count)};
    };
    model.body += smallFloats(name + "_s", getShape(scales.size()), scales);
    if (!zeros.empty())
      model.body += integers(name + "_z", type, getShape(zeros.size()), zeros);
    hasZero[name] = !zeros.empty();
    return *this;
  }
  /// TO = QuantizeLinear(FROM) with the parameters of \p name, by default TO's.
  Net &quantize(const char *from, const char *to, const char *name = nullptr) {
    return node("QuantizeLinear", getInputs(from, name ? name : to), to);
  }
  Net &dequantize(const char *from, const char *to, const char *name = nullptr,
                  int64_t axis = 1) {
    return node("DequantizeLinear", getInputs(from, name ? name : from), to,
                intAttr("axis", axis));
  }
  /// Initializer \p name of random bytes, those of uint8 at least \p least.
  Net &weights(const char *name, int type, std::vector<int64_t> shape,
               int64_t least = 0) {
    Random random(countElements(shape));
    std::vector<int64_t> values;
    for (int64_t left = countElements(shape); left > 0; --left)
      values.push_back(
          type == int8 ? int64_t(random.below(256)) - 128
                       : least + int64_t(random.below(uint64_t(256 - least))));
    model.body += integers(name, type, std::move(shape), std::move(values));
    return *this;
  }

  TextModel model;

private:
  std::vector<std::string> getInputs(const char *from,
                                     const std::string &name) {
    std::vector<std::string> inputs = {from, name + "_s"};
    if (hasZero[name])
      inputs.push_back(name + "_z");
    return inputs;
  }
  std::map<std::string, bool> hasZero;
};

unsigned count(const ModelGraph &graph, NodeKind kind) {
  return unsigned(
      llvm::count_if(graph.getFunction().getNodes(),
                     [&](const Node &node) { return node.getKind() == kind; }));
}

/// The only node of class \p T in \p graph; null if there are none or several.
template <typename T> T *findOnly(const ModelGraph &graph) {
  T *found = nullptr;
  for (Node &node : graph.getFunction().getNodes())
    if (auto *matched = llvm::dyn_cast<T>(&node)) {
      if (found)
        return nullptr;
      found = matched;
    }
  return found;
}

Tensor runNet(Net &net, Backend &backend, CompilationOptions options = {}) {
  options.verifyEach = true;
  PlannedProgram program =
      llvm::cantFail(Compilation(backend, options)
                         .compile(llvm::cantFail(net.model.import())));
  auto session = llvm::cantFail(Session::create(program));
  for (const Buffer *buffer : session->getPlaceholders())
    if (buffer->isInput())
      llvm::cantFail(
          session->setInput(buffer, makeRandom(buffer->getType(), 3)));
  llvm::cantFail(session->run());
  return session->getTensor(llvm::cantFail(session->findPlaceholder("y")))
      .clone();
}

/// Compares \p net with what it computes without passes: floats but for
/// rounding, integers but for steps of one where \p isExact is not set. Returns
/// what the optimizer makes of it.
ModelGraph check(Net &net, bool isExact = true) {
  auto interpreter = createInterpreter();
  auto cpu = llvm::cantFail(CPUBackend::create(TargetOptions()));
  CompilationOptions options;
  options.graphPasses.limit = 0;
  Tensor expected = runNet(net, *interpreter, options);
  Tensor optimized = runNet(net, *interpreter);
  Tensor compiled = runNet(net, *cpu);
  EXPECT_EQ(optimized.getType(), expected.getType());
  EXPECT_EQ(compiled.getType(), expected.getType());
  bool isFloat = expected.getType().getKind() == ElemKind::Float;
  double largest = 1e-3;
  for (int64_t i = 0; i < expected.getNumElements(); ++i)
    largest = std::max(largest, std::abs(expected.getAsDouble(i)));
  double bound = isFloat ? 1e-5 * largest : isExact ? 0 : 1;
  int64_t numDistinct = 0;
  for (int64_t i = 0; i < expected.getNumElements(); ++i) {
    EXPECT_NEAR(optimized.getAsDouble(i), expected.getAsDouble(i), bound) << i;
    EXPECT_NEAR(compiled.getAsDouble(i), optimized.getAsDouble(i), bound) << i;
    numDistinct += expected.getAsDouble(i) != expected.getAsDouble(0);
  }
  EXPECT_GT(numDistinct, 0) << "tests nothing";
  return llvm::cantFail(
      Compilation(*cpu, CompilationOptions())
          .optimize(ModelGraph(llvm::cantFail(net.model.import()))));
}

std::string conv(int64_t pad = 1) {
  return intsAttr("pads", {pad, pad, pad, pad});
}

} // namespace

//===- Convolutions -------------------------------------------------------===//

namespace {

struct ConvCase {
  int xType = uint8, wType = int8;
  std::vector<int64_t> xZero = {7}, wZero = {};
  std::vector<float> wScales = {1, 2, 4, 0.5f};
  /// 'i': int32 with the scale of the sums; 'f': float; ' ': none.
  char bias = 'i';
  float xScale = 0.015625f, yScale = 16;
  int64_t group = 1;
  /// Of the weights of uint8.
  int64_t least = 0;
};

/// x is quantized, convolved, and quantized again.
Net makeConv(const ConvCase &c) {
  Net net({1, 2, 5, 6});
  bool isPerChannel = c.wScales.size() > 1;
  net.parameters("xq", c.xType, {c.xScale}, c.xZero)
      .parameters("w", c.wType, c.wScales, c.wZero, !isPerChannel)
      .parameters("y", uint8, {c.yScale}, {100})
      .weights("w", c.wType, {4, 2 / c.group, 3, 3}, c.least)
      .quantize("x", "xq")
      .dequantize("xq", "xd")
      .dequantize("w", "wd", nullptr, 0);
  std::vector<std::string> inputs = {"xd", "wd"};
  if (c.bias == 'f')
    net.model.body += smallFloats("bias", {4}, {0.77f, -13.1f, 4.5f, 100.3f});
  if (c.bias == 'i') {
    std::vector<float> scales;
    for (float scale : c.wScales)
      scales.push_back(scale * c.xScale);
    net.parameters("b", int32, scales, {}, !isPerChannel)
        .dequantize("b", "bias", nullptr, 0);
    net.model.body += integers("b", int32, {4}, {100, -2000, 3, 40000});
  }
  if (c.bias != ' ')
    inputs.push_back("bias");
  net.node("Conv", inputs, "c", conv() + intAttr("group", c.group))
      .node("Relu", {"c"}, "r")
      .quantize("r", "y");
  return net;
}

/// Checks \p c; its convolution as it is left.
void checkConv(const ConvCase &c, ElemKind filter, bool hasZeroPoint,
               bool hasBias, bool isExact = true) {
  Net net = makeConv(c);
  ModelGraph graph = check(net, isExact);
  auto *node = findOnly<ConvolutionIntegerNode>(graph);
  ASSERT_TRUE(node);
  EXPECT_EQ(count(graph, NodeKind::Convolution), 0u);
  EXPECT_EQ(node->getFilter().getElemKind(), filter);
  EXPECT_EQ(bool(node->getZeroPoint()), hasZeroPoint);
  EXPECT_EQ(bool(node->getBias()), hasBias);
  // That of the input; the other one joins the factor, and a bias of floats.
  EXPECT_EQ(count(graph, NodeKind::Div), 1u);
}

} // namespace

TEST(QuantizedNetworks, Convolutions) {
  constexpr ElemKind u8 = ElemKind::UInt8, s8 = ElemKind::Int8;
  {
    SCOPED_TRACE("bytes");
    checkConv({}, s8, true, true);
    checkConv({.xType = int8, .xZero = {-77}}, s8, true, true);
    checkConv({.xZero = {}}, s8, false, true);
    checkConv({.xZero = {0}}, s8, true, true);
    checkConv({.wType = uint8}, u8, true, true);
  }
  {
    SCOPED_TRACE("scales and biases");
    checkConv({.wScales = {2}}, s8, true, true);
    checkConv({.bias = 'f'}, s8, true, false);
    checkConv({.bias = ' '}, s8, true, false);
    checkConv({.group = 2}, s8, true, true);
    checkConv({.wScales = {0.013f, 0.21f, 0.0071f, 0.033f},
               .xScale = 0.0091f,
               .yScale = 0.37f},
              s8, true, true, /*isExact=*/false);
  }
  {
    SCOPED_TRACE("zero points of weights");
    checkConv({.wType = uint8, .wZero = {128, 128, 128, 128}}, s8, true, true);
    checkConv({.wType = uint8, .wZero = {128}, .wScales = {2}}, s8, true, true);
    checkConv({.wType = int8, .wZero = {0}, .wScales = {2}}, s8, true, true);
    checkConv({.wType = uint8, .wZero = {200, 173, 190, 255}, .least = 128}, s8,
              true, true);
  }
}

/// Weights that don't fit int8 without their zero points.
TEST(QuantizedNetworks, WideWeights) {
  for (const ConvCase &c :
       {ConvCase{.wType = uint8, .wZero = {3}, .wScales = {2}},
        ConvCase{.wType = int8, .wZero = {1, -7, 0, 100}}}) {
    Net net = makeConv(c);
    ModelGraph graph = check(net);
    auto *node = findOnly<ConvolutionIntegerNode>(graph);
    ASSERT_TRUE(node);
    EXPECT_TRUE(node->getFilterZeroPoint());
  }
}

//===- Matmuls ------------------------------------------------------------===//

TEST(QuantizedNetworks, Gemm) {
  for (bool transposes : {false, true})
    for (bool isPerChannel : {false, true})
      for (char bias : {'i', 'f', ' '}) {
        SCOPED_TRACE(std::string(transposes ? "transposed " : "") +
                     (isPerChannel ? "per channel " : "") + bias);
        Net net({4, 6});
        std::vector<float> scales = {1, 2, 0.5f};
        if (!isPerChannel)
          scales = {2};
        std::vector<float> sumScales = scales;
        for (float &scale : sumScales)
          scale *= 0.015625f;
        net.parameters("xq", uint8, {0.015625f}, {7})
            .parameters("w", int8, scales, {}, !isPerChannel)
            .parameters("y", int8, {4}, {-5})
            .parameters("b", int32, sumScales, {}, !isPerChannel)
            .weights("w", int8,
                     transposes ? std::vector<int64_t>{3, 6}
                                : std::vector<int64_t>{6, 3})
            .quantize("x", "xq")
            .dequantize("xq", "xd")
            .dequantize("w", "wd", nullptr, transposes ? 0 : 1);
        std::vector<std::string> inputs = {"xd", "wd"};
        net.model.body += integers("b", int32, {3}, {100, -2000, 3});
        net.model.body += smallFloats("f", {3}, {0.3f, -13.1f, 4.5f});
        if (bias == 'i')
          net.dequantize("b", "bd", nullptr, 0);
        if (bias != ' ')
          inputs.push_back(bias == 'i' ? "bd" : "f");
        net.node("Gemm", inputs, "g", intAttr("transB", transposes))
            .quantize("g", "y");
        ModelGraph graph = check(net);
        EXPECT_EQ(count(graph, NodeKind::MatMulInteger), 1u);
        EXPECT_EQ(count(graph, NodeKind::FullyConnected), 0u);
        EXPECT_EQ(count(graph, NodeKind::MatMul), 0u);
        EXPECT_EQ(count(graph, NodeKind::Div), 1u);
      }
}

TEST(QuantizedNetworks, MatMul) {
  for (auto zero : {std::vector<int64_t>(), std::vector<int64_t>{100}})
    for (int type : {int8, uint8}) {
      Net net({2, 3, 6});
      net.parameters("xq", uint8, {0.0078125f}, zero)
          .parameters("w", type, {0.5f, 2, 1, 0.25f}, {}, false)
          .parameters("y", uint8, {2}, {100})
          .weights("w", type, {6, 4})
          .quantize("x", "xq")
          .dequantize("xq", "xd")
          .dequantize("w", "wd")
          .node("MatMul", {"xd", "wd"}, "m")
          .quantize("m", "y");
      ModelGraph graph = check(net);
      EXPECT_EQ(count(graph, NodeKind::MatMulInteger), 1u);
      EXPECT_EQ(count(graph, NodeKind::Div), 1u);
    }
}

/// A scale for each row of the weights is none of the sums; two values that are
/// known at run time stay floats.
TEST(QuantizedNetworks, IsLeft) {
  Net rows({2, 3});
  rows.parameters("xq", uint8, {0.0078125f}, {})
      .parameters("w", int8, {0.5f, 2, 1}, {}, false)
      .weights("w", int8, {3, 4})
      .quantize("x", "xq")
      .dequantize("xq", "xd")
      .dequantize("w", "wd", nullptr, 0)
      .node("MatMul", {"xd", "wd"}, "y");
  EXPECT_EQ(count(check(rows), NodeKind::MatMulInteger), 0u);

  Net values({3, 3});
  values.parameters("xq", uint8, {0.0078125f}, {100})
      .quantize("x", "xq")
      .dequantize("xq", "xd")
      .node("MatMul", {"xd", "xd"}, "y");
  EXPECT_EQ(count(check(values), NodeKind::MatMulInteger), 0u);
}

//===- Operators of integers ----------------------------------------------===//

TEST(QuantizedNetworks, Dynamic) {
  Net net({1, 2, 5, 6});
  net.weights("w", int8, {4, 2, 3, 3})
      .node("DynamicQuantizeLinear", {"x"}, "q\" output: \"s\" output: \"z")
      .node("ConvInteger", {"q", "w", "z"}, "y", conv());
  ModelGraph graph = check(net);
  auto *node = findOnly<ConvolutionIntegerNode>(graph);
  ASSERT_TRUE(node);
  EXPECT_TRUE(node->getZeroPoint());

  Net matmul({2, 3, 6});
  matmul.weights("w", uint8, {6, 4})
      .node("DynamicQuantizeLinear", {"x"}, "q\" output: \"s\" output: \"z")
      .node("MatMulInteger", {"q", "w", "z", "wz"}, "i")
      .node("Cast", {"i"}, "f", intAttr("to", 1))
      .node("Mul", {"f", "s"}, "y");
  matmul.model.body += integers("wz", uint8, {}, {128});
  ModelGraph left = check(matmul);
  EXPECT_EQ(count(left, NodeKind::MatMulInteger), 1u);
  EXPECT_EQ(count(left, NodeKind::MatMul), 0u);
}

TEST(QuantizedNetworks, QLinearConv) {
  Net net({1, 2, 5, 6});
  net.parameters("xq", int8, {0.015625f}, {-3})
      .parameters("w", int8, {1, 2, 4, 0.5f}, {0, 0, 0, 0}, false)
      .parameters("y", int8, {16}, {3})
      .weights("w", int8, {4, 2, 3, 3})
      .quantize("x", "xq")
      .node("QLinearConv",
            {"xq", "xq_s", "xq_z", "w", "w_s", "w_z", "y_s", "y_z", "b"}, "y",
            conv());
  net.model.body += integers("b", int32, {4}, {100, -2000, 3, 40000});
  ModelGraph graph = check(net);
  auto *node = findOnly<ConvolutionIntegerNode>(graph);
  ASSERT_TRUE(node);
  EXPECT_TRUE(node->getBias());
}

//===- Simplifications ----------------------------------------------------===//

TEST(QuantizedNetworks, MaxPool) {
  Net net({1, 2, 5, 6});
  net.parameters("xq", int8, {0.015625f}, {-3})
      .quantize("x", "xq")
      .dequantize("xq", "xd")
      .node("MaxPool", {"xd"}, "p",
            intsAttr("kernel_shape", {2, 2}) + conv(1) +
                intsAttr("strides", {2, 2}))
      .quantize("p", "y", "xq");
  ModelGraph graph = check(net);
  auto *pool = findOnly<MaxPoolNode>(graph);
  ASSERT_TRUE(pool);
  EXPECT_EQ(pool->getResult().getElemKind(), ElemKind::Int8);
  EXPECT_EQ(count(graph, NodeKind::Round), 1u);
}

TEST(QuantizedNetworks, RoundTrips) {
  struct Second {
    float scale;
    int64_t zero;
    bool isNothing;
  };
  for (Second second : {Second{0.013f, 9, true}, Second{0.013f, 8, false},
                        Second{0.012f, 9, false}}) {
    Net net({3, 4, 17});
    net.parameters("xq", uint8, {0.013f}, {9})
        .parameters("y", uint8, {second.scale}, {second.zero})
        .quantize("x", "xq")
        .dequantize("xq", "xd")
        .quantize("xd", "y");
    ModelGraph graph = check(net, /*isExact=*/second.isNothing);
    EXPECT_EQ(count(graph, NodeKind::Round), second.isNothing ? 1u : 2u);
  }
}

/// Of parts that were moved in between, too.
TEST(QuantizedNetworks, MovedRoundTrips) {
  Net net({3, 4, 17});
  net.parameters("xq", int8, {0.013f}, {-9})
      .quantize("x", "xq")
      .dequantize("xq", "xd")
      .node("Transpose", {"xd"}, "t", intsAttr("perm", {2, 0, 1}))
      .node("Flatten", {"t"}, "f")
      .quantize("f", "y", "xq");
  EXPECT_EQ(count(check(net), NodeKind::Round), 1u);
}

/// Two quantizations by different scales divide by each of them.
TEST(QuantizedNetworks, ScalesThatAreNotJoined) {
  Net net({1, 2, 5, 6});
  net.parameters("xq", uint8, {0.015625f}, {100})
      .parameters("w", int8, {1}, {})
      .parameters("a", uint8, {4}, {100})
      .parameters("b", uint8, {8}, {100})
      .weights("w", int8, {4, 2, 3, 3})
      .quantize("x", "xq")
      .dequantize("xq", "xd")
      .dequantize("w", "wd")
      .node("Conv", {"xd", "wd"}, "c", conv())
      .quantize("c", "a")
      .quantize("c", "b")
      .node("Concat", {"a", "b"}, "y", intAttr("axis", 1));
  EXPECT_EQ(count(check(net), NodeKind::Div), 3u);

  for (float scale : {-4.f, 0.f}) {
    Net other({1, 2, 5, 6});
    other.parameters("xq", uint8, {0.015625f}, {100})
        .parameters("w", int8, {1}, {})
        .parameters("y", uint8, {scale}, {100})
        .weights("w", int8, {4, 2, 3, 3})
        .quantize("x", "xq")
        .dequantize("xq", "xd")
        .dequantize("w", "wd")
        .node("Conv", {"xd", "wd"}, "c", conv())
        .quantize("c", "y");
    EXPECT_EQ(count(check(other), NodeKind::Div), 2u) << scale;
  }
}

/// A residual block and a classifier.
TEST(QuantizedNetworks, Block) {
  Net net({1, 4, 8, 9});
  net.parameters("xq", uint8, {0.0079f}, {127})
      .parameters("v", int8, {0.011f, 0.007f, 0.02f, 0.013f}, {}, false)
      .parameters("w", int8, {0.009f}, {0})
      .parameters("g", int8, {0.01f}, {})
      .parameters("vq", uint8, {0.061f}, {3})
      .parameters("wq", int8, {0.27f}, {-11})
      .parameters("sq", uint8, {0.29f}, {100})
      .parameters("pq", uint8, {0.05f}, {120})
      .parameters("y", uint8, {0.08f}, {128})
      .weights("v", int8, {4, 1, 3, 3})
      .weights("w", int8, {4, 4, 3, 3})
      .weights("g", int8, {5, 4})
      .quantize("x", "xq")
      .dequantize("xq", "xd")
      .dequantize("v", "vd", nullptr, 0)
      .dequantize("w", "wd")
      .dequantize("g", "gd")
      .node("Conv", {"xd", "vd"}, "c", conv() + intAttr("group", 4))
      .node("Relu", {"c"}, "r")
      .quantize("r", "vq")
      .dequantize("vq", "rd")
      .node("Conv", {"rd", "wd"}, "d", conv())
      .quantize("d", "wq")
      .dequantize("wq", "dd")
      .node("Add", {"dd", "xd"}, "s")
      .quantize("s", "sq")
      .dequantize("sq", "sd")
      .node("GlobalAveragePool", {"sd"}, "p")
      .quantize("p", "pq")
      .dequantize("pq", "pd")
      .node("Flatten", {"pd"}, "l")
      .node("Gemm", {"l", "gd"}, "m", intAttr("transB", 1))
      .quantize("m", "y");
  ModelGraph graph = check(net, /*isExact=*/false);
  EXPECT_EQ(count(graph, NodeKind::ConvolutionInteger), 2u);
  EXPECT_EQ(count(graph, NodeKind::MatMulInteger), 1u);
}

/// In parts, of which each has its own padding.
TEST(QuantizedNetworks, Patches) {
  Net net({1, 4, 40, 41});
  net.parameters("xq", uint8, {0.0079f}, {127})
      .parameters("v", int8, {0.011f, 0.007f, 0.02f, 0.013f}, {}, false)
      .parameters("w", int8, {0.009f}, {0})
      .parameters("vq", uint8, {0.061f}, {3})
      .parameters("y", int8, {0.27f}, {-11})
      .weights("v", int8, {4, 1, 3, 3})
      .weights("w", int8, {4, 4, 3, 3})
      .quantize("x", "xq")
      .dequantize("xq", "xd")
      .dequantize("v", "vd", nullptr, 0)
      .dequantize("w", "wd")
      .node("Conv", {"xd", "vd"}, "c", conv() + intAttr("group", 4))
      .node("Relu", {"c"}, "r")
      .quantize("r", "vq")
      .dequantize("vq", "rd")
      .node("Conv", {"rd", "wd"}, "d", conv() + intsAttr("strides", {2, 2}))
      .quantize("d", "y");
  auto cpu = llvm::cantFail(CPUBackend::create(TargetOptions()));
  CompilationOptions options;
  options.maxActivationBytes = 8000; // instead of 13120
  EXPECT_TRUE(runNet(net, *cpu, options).isBitwiseEqual(runNet(net, *cpu)));
}
