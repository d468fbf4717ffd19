//===- ConvertPrecisionTest.cpp - From float to half precisions -----------===//

#include "glowish/Optimizer/ConvertPrecision.h"
#include "Differential.h"
#include "glowish/Graph/NodeBuilder.h"
#include "glowish/Graph/Verifier.h"

using namespace glowish;

namespace {

/// A graph of nodes.
class Net {
public:
  Net() : b(*module->createFunction("main"), "value") {}

  NodeValue input(ElemKind kind, DimsRef shape) {
    return glowish::input(*module, kind, shape);
  }
  NodeValue weights(DimsRef shape) {
    return constant(*module, ElemKind::Float, shape);
  }
  NodeValue scalar(double value) {
    Tensor tensor(Type(ElemKind::Float, {}));
    tensor.setFromDouble(0, value);
    return b.createConstant(std::move(tensor));
  }
  void output(NodeValue value) {
    Placeholder *placeholder = module->createPlaceholder(
        "y", value.getType(), /*isInput=*/false, /*isOutput=*/true);
    b.getFunction().create<SaveNode>("save", value, NodeValue(placeholder));
  }
  void convert(PrecisionConfig config = {}) {
    convertPrecision(b.getFunction(), config);
    llvm::cantFail(verify(*module));
  }
  /// The kinds of the results of the nodes called \p name, in their order.
  std::vector<ElemKind> getKinds(NodeKind kind) {
    std::vector<ElemKind> kinds;
    for (Node &node : b.getFunction().getNodes())
      if (node.getKind() == kind)
        kinds.push_back(node.getType().getKind());
    return kinds;
  }

  std::unique_ptr<Module> module = std::make_unique<Module>("net");
  NodeBuilder b;
};

using Kinds = std::vector<ElemKind>;
constexpr ElemKind half = ElemKind::Float16, single = ElemKind::Float;

} // namespace

TEST(ConvertPrecision, Nodes) {
  Net net;
  NodeValue x = net.input(single, {3, 7});
  NodeValue y = net.b.make<MatMulNode>(x, net.weights({7, 5}));
  y = net.b.make<AddNode>(y, net.weights({5}));
  y = net.b.make<ReluNode>(y);
  net.output(y);
  net.convert();
  EXPECT_EQ(net.getKinds(NodeKind::MatMul), Kinds{half});
  EXPECT_EQ(net.getKinds(NodeKind::Add), Kinds{half});
  EXPECT_EQ(net.getKinds(NodeKind::Relu), Kinds{half});
  // At the input and the output.
  EXPECT_EQ(net.getKinds(NodeKind::Cast), (Kinds{half, single}));
}

TEST(ConvertPrecision, Placeholders) {
  Net net;
  NodeValue x = net.input(single, {3, 7});
  net.output(net.b.make<MatMulNode>(x, net.weights({7, 5})));
  net.convert({.kind = ElemKind::BFloat16, .convertsPlaceholders = true});
  EXPECT_EQ(net.getKinds(NodeKind::MatMul), Kinds{ElemKind::BFloat16});
  EXPECT_EQ(net.getKinds(NodeKind::Cast), Kinds{});
  for (const auto &placeholder : net.module->getPlaceholders())
    EXPECT_EQ(placeholder->getType().getKind(), ElemKind::BFloat16);
}

/// What reads it is converted none the less.
TEST(ConvertPrecision, KeptKinds) {
  Net net;
  NodeValue x = net.input(single, {3, 7});
  NodeValue y = net.b.make<MatMulNode>(x, net.weights({7, 5}));
  y = net.b.make<SoftmaxNode>(y, /*axis=*/1);
  net.output(net.b.make<MatMulNode>(y, net.weights({5, 2})));
  net.convert({.keptKinds = {NodeKind::Softmax}});
  EXPECT_EQ(net.getKinds(NodeKind::MatMul), (Kinds{half, half}));
  EXPECT_EQ(net.getKinds(NodeKind::Softmax), Kinds{single});
}

/// Positions as bfloat16 would not be told apart.
TEST(ConvertPrecision, WhatIsComputedOfIntegers) {
  Net net;
  NodeValue positions = net.input(ElemKind::Int64, {7});
  NodeValue angle = net.b.make<CastNode>(positions, single);
  angle = net.b.make<MulNode>(angle, net.weights({7}));
  angle = net.b.make<SinNode>(angle);
  NodeValue x = net.input(single, {3, 7});
  net.output(net.b.make<MulNode>(x, angle));
  net.convert({.kind = ElemKind::BFloat16});
  EXPECT_EQ(net.getKinds(NodeKind::Sin), Kinds{single});
  EXPECT_EQ(net.getKinds(NodeKind::Mul), (Kinds{single, ElemKind::BFloat16}));
}

/// Quantizing stays as exact as it was, and so do indices.
TEST(ConvertPrecision, WhatBecomesIntegers) {
  Net net;
  NodeValue x = net.input(single, {3, 7});
  NodeValue q = net.b.make<DivNode>(x, net.scalar(0.037));
  q = net.b.make<RoundNode>(q);
  q = net.b.make<CastNode>(q, ElemKind::Int8);
  NodeValue y = net.b.make<CastNode>(q, single);
  net.output(net.b.make<MulNode>(y, net.scalar(0.037)));
  net.convert();
  for (NodeKind kind : {NodeKind::Div, NodeKind::Round, NodeKind::Mul})
    EXPECT_EQ(net.getKinds(kind), Kinds{single});
}

/// Runs \p net, of which every input has \p numbers, and returns its output.
static Tensor runOn(Net &net, llvm::ArrayRef<double> numbers) {
  auto backend = createInterpreter();
  PlannedProgram program =
      llvm::cantFail(Compilation(*backend, CompilationOptions())
                         .compile(ModelGraph(std::move(net.module))));
  auto session = llvm::cantFail(Session::create(program));
  for (const Buffer *buffer : session->getPlaceholders()) {
    if (!buffer->isInput())
      continue;
    Tensor tensor(buffer->getType());
    for (auto [i, number] : llvm::enumerate(numbers))
      tensor.setFromDouble(int64_t(i), number);
    llvm::cantFail(session->setInput(buffer, std::move(tensor)));
  }
  llvm::cantFail(session->run());
  return session->getTensor(session->getOutputs().front()).clone();
}

/// A mask's lowest float is neither infinite as a constant nor as what integers
/// become: times 0, as of another mask, it would be NaN.
TEST(ConvertPrecision, LargeNumbers) {
  for (auto [kind, largest] : {std::pair(ElemKind::Float16, 65504.0),
                               std::pair(ElemKind::BFloat16, 0x1.fep127)}) {
    Net net;
    NodeValue x = net.input(single, {3});
    NodeValue mask =
        net.b.make<CastNode>(net.input(ElemKind::Int64, {3}), single);
    mask = net.b.make<MulNode>(mask, net.scalar(-0x1.fffffep127));
    mask = net.b.make<MaxNode>(mask, net.scalar(-0x1.fffffep127));
    x = net.b.make<MaxNode>(x, net.scalar(-1e30));
    net.output(net.b.make<AddNode>(x, mask));
    net.convert({.kind = kind});
    Tensor y = runOn(net, {0, 1, 2});
    EXPECT_EQ(y.getAsDouble(0), 0);
    EXPECT_EQ(y.getAsDouble(1), -largest);
    EXPECT_EQ(y.getAsDouble(2), -largest);
  }
}

/// An input that is rounded to a half precision stays finite, infinite or NaN.
TEST(ConvertPrecision, LargeInputs) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (auto [kind, largest] : {std::pair(ElemKind::Float16, 65504.0),
                               std::pair(ElemKind::BFloat16, 0x1.fep127)}) {
    Net net;
    net.output(net.b.make<NegNode>(net.input(single, {6})));
    net.convert({.kind = kind});
    Tensor y = runOn(net, {-0x1.fffffep127, 0x1.ffffp127, -inf, inf, NAN, 1.5});
    EXPECT_EQ(y.getAsDouble(0), largest);
    EXPECT_EQ(y.getAsDouble(1), -largest);
    EXPECT_EQ(y.getAsDouble(2), inf);
    EXPECT_EQ(y.getAsDouble(3), -inf);
    EXPECT_TRUE(std::isnan(y.getAsDouble(4)));
    EXPECT_EQ(y.getAsDouble(5), -1.5);
  }
}

/// So do numbers of attributes: a padding of the lowest float.
TEST(ConvertPrecision, LargeAttributes) {
  Net net;
  NodeValue x = net.input(single, {1});
  net.output(net.b.make<PadNode>(x, std::vector<int64_t>{0, 1}, "constant",
                                 -0x1.fffffep127));
  net.convert({.kind = ElemKind::BFloat16});
  Tensor y = runOn(net, {1});
  EXPECT_EQ(y.getAsDouble(0), 1);
  EXPECT_EQ(y.getAsDouble(1), -0x1.fep127);
}
