//===- ImporterActivationsTest.cpp - Gelu, Swish and SwiGLU of ONNX -------===//

#include "RunText.h"
#include "glowish/Backends/CPU/CPUBackend.h"

using namespace glowish;

TEST(ImporterActivations, Gelu) {
  auto kindOf = [](std::string attributes) {
    TextModel model = oneNode("Gelu", {"x"}, std::move(attributes), 20);
    NodeValue output = model.importOutput();
    return output ? output.node->getKindName().str() : "none";
  };
  EXPECT_EQ(kindOf(""), "Gelu");
  EXPECT_EQ(kindOf(stringAttr("approximate", "none")), "Gelu");
  EXPECT_EQ(kindOf(stringAttr("approximate", "tanh")), "GeluTanh");
}

TEST(ImporterActivations, GeluIsRefused) {
  TextModel model =
      oneNode("Gelu", {"x"}, stringAttr("approximate", "sigmoid"), 20);
  EXPECT_EQ(model.importError(),
            "'m': node 'y' (Gelu): attribute 'approximate' is 'sigmoid'; "
            "accepted: none, tanh");
  EXPECT_EQ(oneNode("Gelu", {"x"}, "", 19).importError(),
            "'m': 1 node has an operator that is not supported:\n"
            "node 'y' (Gelu): supported since opset 20, the model has 19");
}

TEST(ImporterActivations, Swish) {
  TextModel plain = oneNode("Swish", {"x"}, "", 24);
  EXPECT_TRUE(plain.importOutput().getNodeAs<SiluNode>());
  TextModel scaled = oneNode("Swish", {"x"}, floatAttr("alpha", 1.5), 24);
  auto *swish = scaled.importOutput().getNodeAs<SwishNode>();
  ASSERT_TRUE(swish);
  EXPECT_EQ(swish->getAlpha(), 1.5);
}

TEST(ImporterActivations, SwiGLU) {
  auto fold = [](std::string attributes) {
    TextModel model = oneNode("SwiGLU", {"a", "b"}, std::move(attributes), 28);
    model.body += floats("a", {3}, {0, 1, -1}) + floats("b", {3}, {2, 3, 4});
    return model.importConstant();
  };
  EXPECT_EQ(fold(""), "float<3>: 0 2.19 -1.08");
  EXPECT_EQ(fold(floatAttr("alpha", 2)), "float<3>: 0 2.64 -0.48");
  TextModel model = oneNode("SwiGLU", {"x", "b"}, "", 28);
  model.body += floats("b", {3}, {2, 3, 4});
  EXPECT_EQ(model.importError(),
            "'m': node 'y' (SwiGLU): inputs are float<2x3> and float<3>; "
            "accepted: one type");
}

/// Celu has all kinds of floats since opset 28, which SwiGLU is since. The
/// operands are cast to them, and known when the model runs.
TEST(ImporterActivations, KindsOfOpset28) {
  auto run = [](std::string node, int kind) {
    auto make = [&] {
      TextModel model;
      model.opset = 28;
      model.inputs = {{"x", {1}}};
      model.body = floats("c", {4}, {-3, -0.5f, 0.5f, 3}) +
                   onnxNode("Add", {"c", "x"}, "", "sum") +
                   onnxNode("Cast", {"sum"}, intAttr("to", kind), "a") + node;
      return model;
    };
    std::string interpreted = runText(make());
    EXPECT_EQ(runText(make(), llvm::cantFail(CPUBackend::create({}))),
              interpreted);
    return interpreted;
  };
  constexpr int halfKind = 10, doubleKind = 11, bfloatKind = 16;
  std::string celu = onnxNode("Celu", {"a"}, floatAttr("alpha", 2));
  EXPECT_EQ(run(celu, halfKind), "float16<4>: -1.55 -0.44 0.50 3");
  EXPECT_EQ(run(celu, bfloatKind), "bfloat16<4>: -1.55 -0.44 0.50 3");
  EXPECT_EQ(run(celu, doubleKind), "double<4>: -1.55 -0.44 0.50 3");
  std::string swiglu = onnxNode("SwiGLU", {"a", "a"}, floatAttr("alpha", 2));
  EXPECT_EQ(run(swiglu, halfKind), "float16<4>: 0.02 0.07 0.18 8.98");
  EXPECT_EQ(run(swiglu, bfloatKind), "bfloat16<4>: 0.02 0.07 0.18 9");
  EXPECT_EQ(run(swiglu, doubleKind), "double<4>: 0.02 0.07 0.18 8.98");
}

/// Folded by the interpreter: at 0, 1 and -1.
TEST(ImporterActivations, Values) {
  auto fold = [](llvm::StringRef type, std::string attributes) {
    TextModel model = oneNode(type, {"c"}, std::move(attributes), 24);
    model.body += floats("c", {3}, {0, 1, -1});
    return model.importConstant();
  };
  EXPECT_EQ(fold("Gelu", ""), "float<3>: 0 0.84 -0.16");
  EXPECT_EQ(fold("Gelu", stringAttr("approximate", "tanh")),
            "float<3>: 0 0.84 -0.16");
  EXPECT_EQ(fold("Swish", floatAttr("alpha", 2)), "float<3>: 0 0.88 -0.12");
}
