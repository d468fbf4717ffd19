//===- ImporterQuantizationTest.cpp - Quantized numbers of ONNX -----------===//
//
// The interpreter against values computed by hand.
//
//===----------------------------------------------------------------------===//

#include "RunText.h"
#include "gmock/gmock.h"

using namespace glowish;

static constexpr int uint8 = 2, int8 = 3, int32 = 6;

static std::string run(const char *type, std::vector<std::string> inputs,
                       std::string initializers, std::string attributes = "",
                       int opset = 21) {
  TextModel model =
      oneNode(type, std::move(inputs), std::move(attributes), opset);
  model.body += initializers;
  return runText(std::move(model));
}

TEST(ImporterQuantization, QuantizeLinear) {
  std::string x = floats("c", {6}, {-1, 0.25f, 0.75f, 1.25f, 127, 200});
  std::string scale = floats("s", {}, {0.5f});
  // Ties to even; saturation; the zero point's kind.
  EXPECT_EQ(run("QuantizeLinear", {"c", "s"}, x + scale),
            "uint8<6>: 0 0 2 2 254 255");
  EXPECT_EQ(run("QuantizeLinear", {"c", "s", "z"},
                x + scale + integers("z", int8, {}, {-1})),
            "int8<6>: -3 -1 1 1 127 127");
  EXPECT_EQ(run("QuantizeLinear", {"c", "s"}, x + scale,
                intAttr("output_dtype", int8)),
            "int8<6>: -2 0 2 2 127 127");
}

TEST(ImporterQuantization, PerChannelAndBlocks) {
  std::string x = integers("c", uint8, {2, 3}, {1, 2, 3, 4, 5, 6});
  std::string parameters =
      floats("s", {2}, {1, 10}) + integers("z", uint8, {2}, {1, 4});
  EXPECT_EQ(run("DequantizeLinear", {"c", "s", "z"}, x + parameters,
                intAttr("axis", 0)),
            "float<2x3>: 0 1 2 0 10 20");
  // Blocks of two along the last dimension, the last one cut.
  std::string blocks = floats("s", {2, 2}, {1, 10, 100, 1000});
  EXPECT_EQ(run("DequantizeLinear", {"c", "s"}, x + blocks,
                intAttr("axis", 1) + intAttr("block_size", 2)),
            "float<2x3>: 1 2 30 400 500 6000");
}

TEST(ImporterQuantization, MatMuls) {
  std::string a = integers("a", uint8, {2, 2}, {255, 1, 2, 3});
  std::string b = integers("b", int8, {2, 2}, {-128, 1, 2, 3});
  EXPECT_EQ(run("MatMulInteger", {"a", "b"}, a + b),
            "int32<2x2>: -32638 258 -250 11");
  EXPECT_EQ(run("MatMulInteger", {"a", "b", "z"},
                a + b + integers("z", uint8, {2}, {255, 2})),
            "int32<2x2>: -508 -762 2 3");
  std::string scales = floats("s", {}, {0.5f}) + floats("t", {}, {2}) +
                       floats("u", {}, {10}) + integers("z", uint8, {}, {0}) +
                       integers("o", int8, {}, {0}) +
                       integers("w", uint8, {}, {100});
  EXPECT_EQ(run("QLinearMatMul", {"a", "s", "z", "b", "t", "o", "u", "w"},
                a + b + scales),
            "uint8<2x2>: 0 126 75 101");
}

TEST(ImporterQuantization, Convolutions) {
  std::string x = integers("c", uint8, {1, 1, 2, 2}, {5, 6, 7, 8});
  std::string w = integers("w", int8, {2, 1, 1, 2}, {1, 2, 3, 4});
  EXPECT_EQ(run("ConvInteger", {"c", "w", "z"},
                x + w + integers("z", uint8, {}, {5})),
            "int32<1x2x2x1>: 2 8 4 18");
  std::string rest = floats("s", {}, {1}) + integers("z", uint8, {}, {5}) +
                     floats("t", {2}, {1, 10}) + integers("v", int8, {}, {0}) +
                     floats("u", {}, {2}) + integers("o", uint8, {}, {3}) +
                     integers("b", int32, {2}, {1, -1});
  // (2 + 1) / 2 and (8 + 1) / 2 to even, and 10 times for the second channel.
  EXPECT_EQ(run("QLinearConv", {"c", "s", "z", "w", "t", "v", "u", "o", "b"},
                x + w + rest),
            "uint8<1x2x2x1>: 5 7 18 88");
}

TEST(ImporterQuantization, Dynamic) {
  TextModel model = oneNode("DynamicQuantizeLinear", {"c"}, "", 11);
  model.body += floats("c", {3}, {-1, 0, 1.55f});
  EXPECT_EQ(runText(std::move(model)), "uint8<3>: 0 100 255");
}

TEST(ImporterQuantization, IsRefused) {
  std::string x = integers("c", uint8, {2, 3}, {1, 2, 3, 4, 5, 6});
  TextModel model = oneNode("DequantizeLinear", {"c", "s"}, "", 13);
  model.body += x + floats("s", {2}, {1, 2});
  EXPECT_THAT(model.importError(),
              testing::HasSubstr("node 'y' (DequantizeLinear): input 1 is "
                                 "float<2>; accepted: one value, or 3 for "
                                 "dimension 1"));
}
