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

TEST(ConvertPrecision, LargeNumbers) {
  Net net;
  NodeValue x = net.input(single, {3});
  NodeValue mask =
      net.b.make<CastNode>(net.input(ElemKind::Int64, {3}), single);
  mask = net.b.make<MulNode>(mask, net.scalar(-3e38));
  x = net.b.make<MaxNode>(x, net.scalar(-1e30));
  net.output(net.b.make<AddNode>(x, mask));
  net.convert();
  auto backend = createInterpreter();
  PlannedProgram program =
      llvm::cantFail(Compilation(*backend, CompilationOptions())
                         .compile(ModelGraph(std::move(net.module))));
  auto session = llvm::cantFail(Session::create(program));
  for (const Buffer *buffer : session->getPlaceholders()) {
    if (!buffer->isInput())
      continue;
    Tensor tensor(buffer->getType());
    for (int64_t i = 0; i < 3; ++i)
      tensor.setFromDouble(i, double(i));
    llvm::cantFail(session->setInput(buffer, std::move(tensor)));
  }
  llvm::cantFail(session->run());
  Tensor y = session->getTensor(session->getOutputs().front()).clone();
  // Finite: infinity times 0, as of another mask, would be NaN.
  EXPECT_EQ(y.getAsDouble(0), 0);
  EXPECT_EQ(y.getAsDouble(1), -65504);
  EXPECT_EQ(y.getAsDouble(2), -65504);
}
