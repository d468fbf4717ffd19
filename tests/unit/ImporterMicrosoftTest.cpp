//===- ImporterMicrosoftTest.cpp - The domain com.microsoft ---------------===//

#include "Differential.h"
#include "RunText.h"
#include "glowish/Backends/CPU/CPUBackend.h"
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

TEST(ImporterMicrosoft, Biases) {
  std::string x = floats("c", {1, 2, 4}, {1, 2, 0, 0.5f, 3, 4, 0.5f, -1}) +
                  floats("b", {4}, {1, 0, 0, 0.5f}) +
                  floats("s", {1, 2, 4}, {10, 20, 30, 40, 50, 60, 70, 80});
  EXPECT_EQ(run("BiasAdd", {"c", "b", "s"}, "", x),
            "float<1x2x4>: 12 22 30 41 54 64 70.50 79.50");
  // Gelu(1) is 0.8413, Gelu(0.5) 0.3457 and Gelu(-0.5) -0.1543.
  EXPECT_EQ(run("BiasSplitGelu", {"c", "b"}, "", x),
            "float<1x2x2>: 0 1.68 1.38 -0.62");
  TextModel model =
      microsoftNode("BiasSplitGelu", {"x", "x"}, "", {{"x", {1, 1, 3}}});
  EXPECT_THAT(model.importError(),
              testing::HasSubstr("the sum of the inputs is float<1x1x3>; "
                                 "accepted: rows of two halves"));
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

/// The convolution is -6, 3 and 12, in one to three dimensions.
TEST(ImporterMicrosoft, FusedConvActivations) {
  auto activate = [](llvm::StringRef name, std::vector<float> params,
                     size_t dims = 2) {
    std::vector<int64_t> shape(dims + 2, 1), one = shape;
    shape.back() = 3;
    std::string attributes = stringAttr("activation", name);
    if (!params.empty()) {
      attributes += "attribute { name: \"activation_params\" type: FLOATS ";
      for (float param : params)
        attributes += "floats: " + std::to_string(param) + " ";
      attributes += "} ";
    }
    return run("FusedConv", {"c", "w"}, attributes,
               floats("c", shape, {-2, 1, 4}) + floats("w", one, {3}));
  };
  std::string prefix = "float<1x1x1x3>: ";
  EXPECT_EQ(activate("Relu", {}), prefix + "0 3 12");
  EXPECT_EQ(activate("Silu", {}), prefix + "-0.01 2.86 12");
  EXPECT_EQ(activate("Tanh", {}), prefix + "-1 1 1");
  EXPECT_EQ(activate("Sigmoid", {}), prefix + "0 0.95 1");
  EXPECT_EQ(activate("LeakyRelu", {0.5}), prefix + "-3 3 12");
  EXPECT_EQ(activate("Clip", {-1, 6}), prefix + "-1 3 6");
  EXPECT_EQ(activate("HardSigmoid", {0.25, 0.5}), prefix + "0 1 1");
  EXPECT_EQ(activate("LeakyRelu", {0.5}, 1), "float<1x1x3>: -3 3 12");
  EXPECT_EQ(activate("LeakyRelu", {0.5}, 3), "float<1x1x1x1x3>: -3 3 12");
  // An operand that is added, in three dimensions.
  EXPECT_EQ(run("FusedConv", {"c", "w", "b", "z"},
                stringAttr("activation", "Relu"),
                floats("c", {1, 1, 1, 1, 2}, {1, 2}) +
                    floats("w", {1, 1, 1, 1, 1}, {3}) + floats("b", {1}, {1}) +
                    floats("z", {1, 1, 1, 1, 2}, {-5, -5})),
            "float<1x1x1x1x2>: 0 2");
}

TEST(ImporterMicrosoft, FusedConvIsRefused) {
  auto getError = [](std::string attributes, std::string more = "") {
    std::vector<std::string> inputs = {"x", "w"};
    if (!more.empty())
      inputs.insert(inputs.end(), {"", "z"});
    TextModel model = microsoftNode("FusedConv", inputs, std::move(attributes),
                                    {{"x", {1, 1, 2, 2}}});
    model.body += floats("w", {1, 1, 1, 1}, {3}) + more;
    return model.importError();
  };
  EXPECT_THAT(getError(stringAttr("activation", "LeakyRelu")),
              testing::HasSubstr("attribute 'activation_params' has 0 numbers; "
                                 "accepted for activation 'LeakyRelu': 1"));
  EXPECT_THAT(
      getError(stringAttr("activation", "Relu") +
               "attribute { name: \"activation_params\" type: FLOATS floats: 1 "
               "} "),
      testing::HasSubstr("attribute 'activation_params' has 1 numbers; "
                         "accepted for activation 'Relu': 0"));
  EXPECT_THAT(getError("", floats("z", {1, 1, 1, 2}, {1, 2})),
              testing::HasSubstr("input 3 is float<1x1x2x1>; accepted: the "
                                 "shape of the convolution, float<1x2x2x1>"));
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

//===- GatherBlockQuantized -----------------------------------------------===//

static constexpr int uint8 = 2, int32 = 6, uint4 = 21, int4 = 22;

/// Two rows of 18 weights in blocks of 16: 1, 2, ... 15, 0, 1, 2 and 9 ... 9.
static std::string blockTable(int type) {
  std::vector<int64_t> bytes;
  for (int64_t k = 0; k < 18; k += 2)
    bytes.push_back((k + 1) % 16 | (k + 2) % 16 << 4);
  bytes.insert(bytes.end(), 9, 0x99);
  return integers("t", type, {2, type == uint8 ? 9 : 18}, bytes) +
         floats("s", {2, 2}, {1, 10, 0.5f, 4});
}

/// Elements 6, 15, 16 and 17 of each row that is gathered: of both blocks.
static std::string gatherBlocks(std::string initializers,
                                std::vector<std::string> inputs,
                                std::string attributes) {
  TextModel model;
  model.inputs = {{"x", {1}}};
  model.header = "opset_import { domain: \"com.microsoft\" version: 1 } ";
  model.body = initializers + int64s("c", {6, 15, 16, 17}) +
               onnxNode("GatherBlockQuantized", std::move(inputs),
                        "domain: \"com.microsoft\" " +
                            intAttr("block_size", 16) + attributes,
                        "rows") +
               onnxNode("Gather", {"rows", "c"}, intAttr("axis", -1));
  return runText(std::move(model));
}

TEST(ImporterMicrosoft, GatherBlockQuantized) {
  auto gather = [](int type, std::string rows, std::string zeroPoints = "") {
    std::vector<std::string> inputs = {"t", "i", "s"};
    if (!zeroPoints.empty())
      inputs.push_back("z");
    return gatherBlocks(blockTable(type) + rows + zeroPoints, inputs, "");
  };
  std::string rows = integers("i", int32, {1, 3}, {1, 0, -1});
  // The zero point is 8 for uint8 and 0 for others; 9 is -7 as int4.
  EXPECT_EQ(gather(uint8, rows),
            "float<1x3x4>: 0.50 0.50 4 4 -1 -8 -70 -60 0.50 0.50 4 4");
  EXPECT_EQ(gather(uint4, rows),
            "float<1x3x4>: 4.50 4.50 36 36 7 0 10 20 4.50 4.50 36 36");
  EXPECT_EQ(gather(int4, rows),
            "float<1x3x4>: -3.50 -3.50 -28 -28 7 0 10 20 -3.50 -3.50 -28 -28");
  // 1 and 2 for the first row, 3 and 9 (-7) for the second.
  std::string row = integers("i", int32, {}, {1});
  EXPECT_EQ(gather(uint8, rows, integers("z", uint8, {2, 1}, {0x21, 0x93})),
            "float<1x3x4>: 3 3 0 0 6 -1 -10 0 3 3 0 0");
  EXPECT_EQ(gather(uint4, row, integers("z", uint4, {2, 2}, {0x21, 0x93})),
            "float<4>: 3 3 0 0");
  EXPECT_EQ(gather(int4, row, integers("z", int4, {2, 2}, {0x21, 0x93})),
            "float<4>: -5 -5 0 0");
}

TEST(ImporterMicrosoft, GatherBlockQuantizedAlongOtherAxes) {
  // Columns 2, 0 of a table whose blocks are of rows: 20 rows of 3 columns.
  std::vector<int64_t> bytes;
  for (int64_t k = 0; k < 60; k += 2)
    bytes.push_back(k % 16 | (k + 1) % 16 << 4);
  std::string table = integers("t", uint4, {20, 3}, bytes) +
                      floats("s", {2, 3}, {1, 1, 2, 3, 1, 4}) +
                      int64s("i", {2, 0});
  std::string attributes =
      intAttr("gather_axis", -1) + intAttr("quantize_axis", 0);
  EXPECT_THAT(run("GatherBlockQuantized", {"t", "i", "s"},
                  attributes + intAttr("block_size", 16), table),
              testing::AllOf(testing::StartsWith("float<20x2>: 4 0 10 3 16 6 "),
                             testing::EndsWith(" 32 18 44 27")));
  // 8 bits; the second row.
  EXPECT_EQ(run("GatherBlockQuantized", {"t", "i", "s"},
                intAttr("bits", 8) + intAttr("block_size", 16),
                integers("t", uint8, {2, 3}, {0, 1, 2, 128, 131, 100}) +
                    floats("s", {2, 1}, {1, 0.5f}) +
                    integers("i", int32, {}, {1})),
            "float<3>: 0 1.50 -14");
}

/// As many rows as each run states.
TEST(ImporterMicrosoft, GatherBlockQuantizedOfOpenLength) {
  TextModel model;
  model.inputs.clear();
  model.header = "opset_import { domain: \"com.microsoft\" version: 1 } ";
  model.body =
      symbolicInput("x", {"1", "S"}) + blockTable(uint8) +
      onnxNode("Cast", {"x"}, intAttr("to", int32), "i") +
      onnxNode("GatherBlockQuantized", {"t", "i", "s"},
               "domain: \"com.microsoft\" " + intAttr("block_size", 16));
  ImportOptions options;
  options.symbolRanges = {{"S", {1, 6}}};
  auto module = llvm::cantFail(model.import(std::move(options)));
  const Placeholder *y = module->findPlaceholder("y");
  EXPECT_EQ(y->getType().str(), "float<1x6x18>");
  EXPECT_TRUE(y->getExtents());
}

TEST(ImporterMicrosoft, GatherBlockQuantizedIsRefused) {
  auto refuse = [](std::string attributes,
                   std::vector<std::string> inputs = {"t", "i", "s"}) {
    return gatherBlocks(blockTable(uint8) + integers("i", int32, {1}, {2}) +
                            integers("w", int32, {1}, {0}),
                        std::move(inputs), std::move(attributes));
  };
  EXPECT_THAT(refuse(""), testing::HasSubstr("index 2 is out of range"));
  EXPECT_THAT(refuse(intAttr("bits", 3)),
              testing::HasSubstr("attribute 'bits' is 3; accepted: 2, 4, 8"));
  EXPECT_THAT(refuse(intAttr("quantize_axis", 0)),
              testing::HasSubstr("attributes 'gather_axis' and 'quantize_axis' "
                                 "are both 0; accepted: two dimensions"));
  EXPECT_THAT(refuse(intAttr("gather_axis", 1) + intAttr("quantize_axis", 0)),
              testing::HasSubstr("attribute 'gather_axis' is 1, the dimension "
                                 "along which integers share bytes"));
  EXPECT_THAT(
      refuse(intAttr("bits", 8)),
      testing::HasSubstr("input 2 ('s') is float<2x2>; accepted: floats, "));
  EXPECT_THAT(
      refuse("", {"s", "i", "s"}),
      testing::HasSubstr("input 0 ('s') is float<2x2>; accepted: uint8, "
                         "int4, uint4"));
  EXPECT_THAT(
      refuse("", {"t", "w", "s", "s"}),
      testing::HasSubstr("input 3 ('s') is float<2x2>; accepted: uint8<2x1>"));
}

//===- Attention ----------------------------------------------------------===//

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

/// Rows of keys are limited by their ends, and by ends and starts.
TEST(ImporterMicrosoft, LimitsOfKeys) {
  std::string x = floats("q", {2, 1, 1}, {1, 1}) +
                  floats("k", {2, 3, 1}, {1, 1, 1, 1, 1, 1}) +
                  floats("v", {2, 3, 1}, {3, 5, 7, 11, 13, 17});
  auto attend = [&](std::vector<int64_t> limits) {
    std::string mask =
        integers("m", 6, {int64_t(limits.size())}, std::move(limits));
    return run("MultiHeadAttention", {"q", "k", "v", "", "m"},
               intAttr("num_heads", 1), x + mask);
  };
  EXPECT_EQ(attend({2, 1}), "float<2x1x1>: 4 11");
  EXPECT_EQ(attend({2, 3, 1, 1}), "float<2x1x1>: 5 15");
  // The starts of the rows follow: of queries, and of keys.
  EXPECT_EQ(attend({2, 1, 0, 1, 2, 0, 3, 6}), "float<2x1x1>: 4 11");
  EXPECT_THAT(
      attend({2, 1, 0}),
      testing::HasSubstr("input 4 ('m') is int32<3>; accepted: [2], [4], "
                         "[8], [2, 3] or [2, 1, 3]"));
}

/// Two heads of one element, two tokens; parts of a head lie side by side.
TEST(ImporterMicrosoft, PackedHeads) {
  std::string heads = intAttr("num_heads", 2);
  // All scores of queries of 0 are the same: the result is the mean.
  std::string all =
      floats("qkv", {1, 2, 2, 3, 1}, {0, 1, 2, 0, 3, 4, 0, 5, 6, 0, 7, 8});
  EXPECT_EQ(run("MultiHeadAttention", {"qkv"}, heads, all),
            "float<1x2x2>: 4 6 4 6");
  std::string pairs = floats("q", {1, 1, 2}, {0, 0}) +
                      floats("kv", {1, 2, 2, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 8}) +
                      floats("b", {6}, {0, 0, 0, 0, 10, 20});
  EXPECT_EQ(run("MultiHeadAttention", {"q", "kv"}, heads, pairs),
            "float<1x1x2>: 4 6");
  EXPECT_EQ(run("MultiHeadAttention", {"q", "kv", "", "b"}, heads, pairs),
            "float<1x1x2>: 14 26");
  // They are the same as three inputs.
  std::string apart = floats("q", {1, 2, 2}, {0.5f, -1, 2, 0.25f}) +
                      floats("k", {1, 2, 2}, {1, 0.5f, -1, 3}) +
                      floats("v", {1, 2, 2}, {1, 2, 3, 5}) +
                      floats("qkv", {1, 2, 2, 3, 1},
                             {0.5f, 1, 1, -1, 0.5f, 2, 2, -1, 3, 0.25f, 3, 5});
  EXPECT_EQ(run("MultiHeadAttention", {"qkv"}, heads, apart),
            run("MultiHeadAttention", {"q", "k", "v"}, heads, apart));
  EXPECT_THAT(
      run("MultiHeadAttention", {"qkv"}, intAttr("num_heads", 3), all),
      testing::HasSubstr("input 0 ('qkv') is float<1x2x2x3x1>; accepted: "
                         "[batch, length, 3, 3, size], as attribute "
                         "'num_heads' is 3"));
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

//===- Attention with a past ----------------------------------------------===//

/// A node over constants whose output \p index is y.
static TextModel nodeOfOutput(unsigned index, llvm::StringRef type,
                              std::vector<std::string> nodeInputs,
                              std::string attributes,
                              std::string initializers) {
  auto getName = [&](unsigned i) {
    return i == index ? "y" : "y" + std::to_string(i);
  };
  std::string outputs;
  for (unsigned i = 1; i <= index; ++i)
    outputs += "output: \"" + getName(i) + "\" ";
  TextModel model;
  model.inputs = {{"x", {1}}};
  model.body =
      initializers +
      onnxNode(type, std::move(nodeInputs),
               outputs + "domain: \"com.microsoft\" " + attributes, getName(0));
  return model;
}

/// The result on both back ends, which must agree.
static std::string runOutput(unsigned index, llvm::StringRef type,
                             std::vector<std::string> nodeInputs,
                             std::string attributes, std::string initializers) {
  auto make = [&] {
    return nodeOfOutput(index, type, nodeInputs, attributes, initializers);
  };
  std::string interpreted = runText(make());
  EXPECT_EQ(runText(make(), llvm::cantFail(CPUBackend::create({}))),
            interpreted);
  return interpreted;
}

/// \p queries new tokens of one head of depth 1 behind a past of four: queries
/// are 0, so that all scores are the same and the result is a mean.
static std::string tokensAfterFour(int64_t queries, int64_t length) {
  std::vector<float> keys = {5, 6}, values = {9, 12};
  keys.resize(queries);
  values.resize(queries);
  return floats("q", {1, queries, 1}, std::vector<float>(queries, 0)) +
         floats("k", {1, queries, 1}, keys) +
         floats("v", {1, queries, 1}, values) +
         floats("pk", {1, 1, 4, 1}, {1, 2, 90, 91}) +
         floats("pv", {1, 1, 4, 1}, {3, 6, 70, 71}) +
         integers("l", /*type=*/6, {1}, {length});
}

static const std::vector<std::string> withoutLength = {"q", "k", "v",  "",
                                                       "",  "",  "pk", "pv"};
static const std::vector<std::string> withLength = {"q", "k",  "v",  "", "",
                                                    "",  "pk", "pv", "l"};

TEST(ImporterMicrosoft, PastInABuffer) {
  auto attend = [](unsigned index, int64_t queries, int64_t length,
                   int64_t isCausal = 0) {
    return runOutput(index, "MultiHeadAttention", withLength,
                     intAttr("num_heads", 1) +
                         intAttr("unidirectional", isCausal),
                     tokensAfterFour(queries, length));
  };
  EXPECT_EQ(attend(0, 1, 2), "float<1x1x1>: 6");
  EXPECT_EQ(attend(1, 1, 2), "float<1x1x4x1>: 1 2 5 91");
  EXPECT_EQ(attend(2, 1, 2), "float<1x1x4x1>: 3 6 9 71");
  EXPECT_EQ(attend(0, 1, 0), "float<1x1x1>: 9");
  EXPECT_EQ(attend(1, 1, 0), "float<1x1x4x1>: 5 2 90 91");
  EXPECT_EQ(attend(1, 1, 3), "float<1x1x4x1>: 1 2 90 5");
  EXPECT_EQ(attend(0, 2, 1), "float<1x2x1>: 8 8");
  EXPECT_EQ(attend(0, 2, 1, 1), "float<1x2x1>: 6 8");
  EXPECT_EQ(attend(1, 2, 1), "float<1x1x4x1>: 1 5 6 91");
  // Without the length, all four are the past.
  auto append = [](unsigned index) {
    return runOutput(index, "MultiHeadAttention", withoutLength,
                     intAttr("num_heads", 1), tokensAfterFour(1, 0));
  };
  EXPECT_EQ(append(0), "float<1x1x1>: 31.80");
  EXPECT_EQ(append(1), "float<1x1x5x1>: 1 2 90 91 5");
}

/// Attention's past has keys and values in one tensor.
TEST(ImporterMicrosoft, PastInOneBuffer) {
  auto attend = [](unsigned index) {
    return runOutput(
        index, "Attention", {"c", "w", "b", "", "past", "", "l"},
        intAttr("num_heads", 1) + intAttr("past_present_share_buffer", 1),
        floats("c", {1, 1, 1}, {1}) + floats("w", {1, 3}, {0, 0, 0}) +
            floats("b", {3}, {0, 5, 9}) +
            floats("past", {2, 1, 1, 3, 1}, {1, 2, 90, 3, 6, 70}) +
            integers("l", /*type=*/6, {1}, {1}));
  };
  EXPECT_EQ(attend(0), "float<1x1x1>: 6");
  EXPECT_EQ(attend(1), "float<2x1x1x3x1>: 1 5 90 3 9 70");
}

/// ONNX Runtime's last query attends to all keys, and the others to as many as
/// are before them: no mask that an attention of other lengths has.
TEST(ImporterMicrosoft, CausalCrossAttention) {
  auto make = [](int64_t queries) {
    return nodeOfOutput(
        0, "MultiHeadAttention", {"q", "k", "v"},
        intAttr("num_heads", 1) + intAttr("unidirectional", 1),
        floats("q", {1, queries, 1}, std::vector<float>(queries, 0)) +
            floats("k", {1, 3, 1}, {1, 2, 3}) +
            floats("v", {1, 3, 1}, {4, 8, 30}));
  };
  EXPECT_EQ(runText(make(1)), "float<1x1x1>: 14");
  EXPECT_EQ(runText(make(3)), "float<1x3x1>: 4 6 14");
  EXPECT_THAT(make(2).importError(),
              testing::HasSubstr("attribute 'unidirectional' is 1, and 2 "
                                 "queries come with 3 keys; accepted: as "
                                 "many"));
}

/// Scaled scores with the bias: 1, 2 and 5 - 4.
TEST(ImporterMicrosoft, ScoresOfHeads) {
  std::string body = floats("q", {1, 1, 1}, {2}) +
                     floats("k", {1, 3, 1}, {1, 2, 5}) +
                     floats("v", {1, 3, 1}, {3, 6, 9}) +
                     floats("bias", {1, 1, 1, 3}, {0, 0, -4});
  for (auto [index, expected] :
       {std::pair(0u, "float<1x1x1>: 6"), {3u, "float<1x1x1x3>: 1 2 1"}})
    EXPECT_EQ(
        runOutput(index, "MultiHeadAttention", {"q", "k", "v", "", "", "bias"},
                  intAttr("num_heads", 1) + floatAttr("scale", 0.5), body),
        expected);
}

TEST(ImporterMicrosoft, PastIsRefused) {
  auto getError = [](std::vector<std::string> inputs, std::string attributes,
                     std::string body, unsigned index = 0) {
    return nodeOfOutput(index, "MultiHeadAttention", std::move(inputs),
                        intAttr("num_heads", 1) + attributes, std::move(body))
        .importError();
  };
  EXPECT_THAT(getError(withLength, "", tokensAfterFour(1, 4)),
              testing::HasSubstr("input 8, the length of the past, is 4; "
                                 "accepted: 0 to 3, as 1 tokens follow in a "
                                 "buffer of 4"));
  std::vector<std::string> inputs = withLength;
  inputs[8] = "computed";
  EXPECT_THAT(
      getError(inputs, "",
               tokensAfterFour(1, 0) +
                   onnxNode("Cast", {"x"}, intAttr("to", 6), "computed")),
      testing::HasSubstr("input 8, the length of the past in a buffer, is "
                         "computed when the model runs; accepted: a constant"));
  inputs = withLength;
  inputs[6] = inputs[7] = "";
  EXPECT_THAT(getError(inputs, "", tokensAfterFour(1, 0)),
              testing::HasSubstr("input 8 is the length of the past; accepted: "
                                 "none, as there is no past"));
  inputs[6] = "pk";
  EXPECT_THAT(getError(inputs, "", tokensAfterFour(1, 0)),
              testing::HasSubstr("inputs 6 and 7 are past keys and values; "
                                 "accepted: both or none"));
  inputs = withLength;
  inputs.push_back("l");
  EXPECT_THAT(getError(inputs, "", tokensAfterFour(1, 0)),
              testing::HasSubstr("input 9 says which beam a token comes from; "
                                 "accepted: none"));
  EXPECT_THAT(getError({"q", "k", "v", "b"}, "",
                       tokensAfterFour(1, 0) + floats("b", {4}, {0, 0, 0, 0})),
              testing::HasSubstr("input 3, the bias, is float<4>; accepted: "
                                 "[3]"));
  EXPECT_THAT(getError(withoutLength, intAttr("unidirectional", 1),
                       tokensAfterFour(1, 0), 3),
              testing::HasSubstr("output 3, the scores, is used, and attribute "
                                 "'unidirectional' is 1; accepted: 0"));
}

TEST(ImporterMicrosoft, AttributesOfAttentionAreRefused) {
  auto getError = [](llvm::StringRef type, std::vector<std::string> inputs,
                     std::string attributes) {
    return nodeOfOutput(
               0, type, std::move(inputs), intAttr("num_heads", 1) + attributes,
               floats("c", {1, 1, 1}, {1}) + floats("w", {1, 3}, {0, 0, 0}) +
                   floats("b", {3}, {0, 5, 9}))
        .importError();
  };
  for (const char *type : {"Attention", "QAttention"}) {
    EXPECT_THAT(getError(type, {"c", "w", "b"}, intAttr("do_rotary", 1)),
                testing::HasSubstr("attribute 'do_rotary' is 1; accepted: 0"));
    EXPECT_THAT(
        getError(type, {"c", "w", "b"},
                 intAttr("past_present_share_buffer", 1)),
        testing::HasSubstr("attribute 'past_present_share_buffer' is 1"));
  }
}

//===- Others -------------------------------------------------------------===//

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
