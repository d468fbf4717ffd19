//===- ImporterMicrosoftTest.cpp - The domain com.microsoft ---------------===//

#include "Differential.h"
#include "RunText.h"
#include "gmock/gmock.h"

using namespace glowish;

/// A model of one node of the domain.
static TextModel microsoftNode(
    llvm::StringRef type, std::vector<std::string> nodeInputs,
    std::string attributes,
    std::vector<std::pair<std::string, std::vector<int64_t>>> inputs) {
  return oneNode(type, std::move(nodeInputs),
                 "domain: \"com.microsoft\" " + attributes, 13,
                 std::move(inputs));
}

/// The result of \p model for constant inputs.
static std::string run(llvm::StringRef type,
                       std::vector<std::string> nodeInputs,
                       std::string attributes, std::string initializers) {
  TextModel model = microsoftNode(type, std::move(nodeInputs),
                                  std::move(attributes), {{"x", {1}}});
  model.body += initializers;
  return runText(std::move(model));
}

TEST(ImporterMicrosoft, Activations) {
  std::string x = floats("c", {2}, {0, 0.5f}), b = floats("b", {2}, {1, 0.5f});
  EXPECT_EQ(run("Gelu", {"c"}, "", x), "float<2>: 0 0.35");
  EXPECT_EQ(run("BiasGelu", {"c", "b"}, "", x + b), "float<2>: 0.84 0.84");
  EXPECT_EQ(run("FastGelu", {"c", "b"}, "", x + b), "float<2>: 0.84 0.84");
  EXPECT_EQ(run("QuickGelu", {"b"}, "", b), "float<2>: 0.85 0.35");
}

TEST(ImporterMicrosoft, FusedConv) {
  std::string x = floats("c", {1, 1, 1, 2}, {1, 2});
  std::string w = floats("w", {1, 1, 1, 1}, {3});
  std::string z = floats("z", {1, 1, 1, 2}, {-5, -5});
  EXPECT_EQ(run("FusedConv", {"c", "w", "", "z"},
                stringAttr("activation", "Relu"), x + w + z),
            "float<1x1x1x2>: 0 1");
  TextModel model =
      microsoftNode("FusedConv", {"x", "w"}, stringAttr("activation", "Sine"),
                    {{"x", {1, 1, 2, 2}}});
  model.body += w;
  EXPECT_THAT(model.importError(),
              testing::HasSubstr("attribute 'activation' is 'Sine'; accepted"));
}

TEST(ImporterMicrosoft, FusedMatMul) {
  std::string a = floats("a", {2, 1, 2}, {1, 2, 3, 4});
  std::string b = floats("b", {2, 1}, {1, 10});
  EXPECT_EQ(run("FusedMatMul", {"a", "b"}, floatAttr("alpha", 2), a + b),
            "float<2x1x1>: 42 86");
  EXPECT_EQ(run("FusedMatMul", {"a", "b"},
                intAttr("transA", 1) + intAttr("transBatchA", 1), a + b),
            "float<1x2x1>: 31 42");
}

TEST(ImporterMicrosoft, SkipLayerNormalization) {
  std::string x = floats("c", {1, 2}, {1, 0}), s = floats("s", {1, 2}, {0, 2});
  std::string g = floats("g", {2}, {1, 10}), b = floats("b", {2}, {0, 1});
  // 1 and 2 are -1 and 1 when normalized.
  EXPECT_EQ(
      run("SkipLayerNormalization", {"c", "s", "g", "b"}, "", x + s + g + b),
      "float<1x2>: -1 11");
  EXPECT_EQ(
      run("SkipSimplifiedLayerNormalization", {"c", "s", "g"}, "", x + s + g),
      "float<1x2>: 0.63 12.65");
}

TEST(ImporterMicrosoft, EmbedLayerNormalization) {
  std::string ids = "initializer { name: \"i\" data_type: 6 dims: 1 dims: 2 "
                    "int32_data: 1 int32_data: 0 } ";
  std::string tables = floats("w", {2, 2}, {0, 1, 2, 4}) +
                       floats("p", {2, 2}, {0, 0, 10, 30}) +
                       floats("g", {2}, {1, 1}) + floats("b", {2}, {0, 0});
  EXPECT_EQ(run("EmbedLayerNormalization", {"i", "", "w", "p", "", "g", "b"},
                "", ids + tables),
            "float<1x2x2>: -1 1 -1 1");
}

/// One head of depth 1: the second key is masked, so the first value is it.
TEST(ImporterMicrosoft, MultiHeadAttention) {
  std::string x = floats("q", {1, 1, 1}, {1}) + floats("k", {1, 2, 1}, {1, 1}) +
                  floats("v", {1, 2, 1}, {3, 5});
  EXPECT_EQ(
      run("MultiHeadAttention", {"q", "k", "v"}, intAttr("num_heads", 1), x),
      "float<1x1x1>: 4");
  std::string mask = "initializer { name: \"m\" data_type: 6 dims: 1 dims: 2 "
                     "int32_data: 1 int32_data: 0 } ";
  EXPECT_EQ(run("MultiHeadAttention", {"q", "k", "v", "", "m"},
                intAttr("num_heads", 1), x + mask),
            "float<1x1x1>: 3");
  std::string length = "initializer { name: \"m\" data_type: 6 dims: 1 "
                       "int32_data: 1 } ";
  EXPECT_EQ(run("MultiHeadAttention", {"q", "k", "v", "", "m"},
                intAttr("num_heads", 1), x + length),
            "float<1x1x1>: 3");
}

/// Two heads; the second token sees the first one, the first only itself.
TEST(ImporterMicrosoft, CausalAttention) {
  std::string x = floats("c", {1, 2, 2}, {0, 0, 0, 0});
  std::string w = floats("w", {2, 6}, std::vector<float>(12, 0)) +
                  floats("b", {6}, {0, 0, 0, 0, 7, 9});
  EXPECT_EQ(run("Attention", {"c", "w", "b"},
                intAttr("num_heads", 2) + intAttr("unidirectional", 1), x + w),
            "float<1x2x2>: 7 9 7 9");
}

TEST(ImporterMicrosoft, OtherDomainsAreListed) {
  TextModel model = oneNode("Gelu", {"x"}, "domain: \"org.example\" ");
  EXPECT_THAT(model.importError(),
              testing::HasSubstr("node 'y' (Gelu) of domain 'org.example'"));
}

/// Sums of integers wrap, and are the same on both back ends.
TEST(ImporterMicrosoft, IntegerConvolution) {
  for (ElemKind kind : {ElemKind::Int32, ElemKind::UInt8, ElemKind::Int64})
    for (int64_t group : {1, 3, 33})
      compare(
          getElemKindName(kind).str() + " in " + std::to_string(group),
          [&](Function &f, Module &m) {
            NodeValue x = input(m, kind, {2, 7, 9, 33});
            NodeValue w = constant(m, kind, {33, 3, 3, 33 / group});
            std::vector<int64_t> ones(2, 1), pads(4, 1);
            return f
                .create<ConvolutionNode>("conv", x, w, constant(m, kind, {33}),
                                         ones, pads, ones, group)
                ->getResult();
          },
          0);
}
