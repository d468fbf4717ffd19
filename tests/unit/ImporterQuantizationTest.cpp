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

/// Lists of bytes are constants after conversions, where operators ask for
/// that.
TEST(ImporterQuantization, ListsOfBytes) {
  auto cast = [](const char *from, const char *to, int kind) {
    return onnxNode("Cast", {from}, intAttr("to", kind), to);
  };
  std::string bytes = integers("a", uint8, {2}, {1, 0}) +
                      integers("b", int8, {2}, {2, 2}) +
                      integers("p", uint8, {4}, {1, 0, 0, 1});
  TextModel slice = oneNode("Slice", {"x", "s", "e"});
  slice.body =
      bytes + cast("a", "s", int32) + cast("b", "e", int32) + slice.body;
  EXPECT_EQ(slice.importOutput().getType().str(), "float<1x2>");
  TextModel pad = oneNode("Pad", {"x", "l"});
  pad.body = bytes + cast("p", "w", int32) + cast("w", "l", 7) + pad.body;
  EXPECT_EQ(pad.importOutput().getType().str(), "float<3x4>");
  TextModel resize = oneNode("Resize", {"x", "", "f"});
  resize.body = bytes + cast("b", "f", 1) + resize.body;
  EXPECT_EQ(resize.importOutput().getType().str(), "float<4x6>");
}

//===- Low precision ------------------------------------------------------===//

// ONNX's numbers of element types.
static constexpr int float8e4m3fn = 17, float8e4m3fnuz = 18, float8e5m2 = 19,
                     uint4 = 21, int4 = 22, float4e2m1 = 23, float8e8m0 = 24,
                     uint2 = 25, int2 = 26;

static std::string cast(std::string x, int to, std::string attributes = "") {
  return run("Cast", {"c"}, std::move(x), intAttr("to", to) + attributes, 25);
}

TEST(ImporterLowPrecision, Float8) {
  std::string x = floats("c", {5}, {0.3f, 464, 465, -1e9f, 17});
  EXPECT_EQ(cast(x, float8e4m3fn), "float8e4m3fn<5>: 0.31 448 448 -448 16");
  EXPECT_EQ(cast(x, float8e4m3fn, intAttr("saturate", 0)),
            "float8e4m3fn<5>: 0.31 448 nan nan 16");
  EXPECT_EQ(cast(x, float8e4m3fnuz), "float8e4m3fnuz<5>: 0.31 240 240 -240 16");
  EXPECT_EQ(cast(x, float8e5m2), "float8e5m2<5>: 0.31 448 448 -57344 16");
  EXPECT_EQ(cast(x, float8e5m2, intAttr("saturate", 0)),
            "float8e5m2<5>: 0.31 448 448 -INF 16");
  // Integers have other limits than float8.
  EXPECT_EQ(
      cast(integers("c", int32, {3}, {1000000, -1000000, 18}), float8e4m3fn),
      "float8e4m3fn<3>: 448 -448 18");
  EXPECT_EQ(
      cast(integers("c", float8e5m2, {3}, {0x7b, 0x7c, 0xbc}), float8e4m3fn),
      "float8e4m3fn<3>: 448 448 -1");
}

/// Powers of two, also below the smallest normal float.
TEST(ImporterLowPrecision, ScalesOfFloat8) {
  auto bits = [](std::vector<uint32_t> words) {
    std::string text = "initializer { name: \"c\" data_type: 1 dims: " +
                       std::to_string(words.size()) + " raw_data: \"";
    for (uint32_t word : words)
      for (unsigned i = 0; i < 4; ++i)
        text += llvm::formatv("\\x{0:x-2}", word >> 8 * i & 0xff).str();
    return text + "\" } ";
  };
  // The results by their exponents.
  auto power = [&](std::vector<uint32_t> words, std::string attributes = "") {
    TextModel model =
        oneNode("Cast", {"c"}, intAttr("to", float8e8m0) + attributes, 25);
    model.body += bits(std::move(words));
    auto *constant = model.importOutput().getNodeAs<Constant>();
    std::string text;
    for (uint8_t byte : constant->getTensor().getByteRange())
      text += " " + std::to_string(int(byte) - 127);
    return text;
  };
  // 1, 1.5 - 2^-23, 1.5, 2 - 2^-23, 0, 2^-127, 1.5 * 2^-127, 2^127, the largest
  // float, infinity and NaN (128).
  std::vector<uint32_t> words = {0x3f800000, 0x3fbfffff, 0x3fc00000, 0x3fffffff,
                                 0,          0x00400000, 0x00600000, 0x7f000000,
                                 0x7f7fffff, 0x7f800000, 0x7fc00000};
  auto mode = [](const char *name) { return stringAttr("round_mode", name); };
  std::string noLimit = intAttr("saturate", 0);
  EXPECT_EQ(power(words), " 0 1 1 1 -127 -127 -126 127 127 127 128");
  EXPECT_EQ(power(words, noLimit), " 0 1 1 1 128 -127 -126 127 128 128 128");
  EXPECT_EQ(power(words, mode("down")),
            " 0 0 0 0 -127 -127 -127 127 127 127 128");
  EXPECT_EQ(power(words, mode("down") + noLimit),
            " 0 0 0 0 128 -127 -127 127 127 128 128");
  EXPECT_EQ(power(words, mode("nearest")),
            " 0 0 1 1 -127 -127 -126 127 127 127 128");
  EXPECT_EQ(power(words, mode("nearest") + noLimit),
            " 0 0 1 1 128 -127 -126 127 128 128 128");
  EXPECT_THAT(cast(floats("c", {1}, {1}), float8e8m0, mode("odd")),
              testing::HasSubstr("attribute 'round_mode' is 'odd'; accepted: "
                                 "up, down, nearest"));
}

TEST(ImporterLowPrecision, FewBits) {
  std::string x = floats("c", {5}, {-9, -1.9f, 1.9f, 8, 15});
  EXPECT_EQ(cast(x, int4), "int4<5>: 7 -1 1 -8 -1");
  EXPECT_EQ(cast(x, uint4), "uint4<5>: 7 15 1 8 15");
  EXPECT_EQ(cast(x, int2), "int2<5>: -1 -1 1 0 -1");
  EXPECT_EQ(cast(x, uint2), "uint2<5>: 3 3 1 0 3");
  EXPECT_EQ(cast(x, float4e2m1), "float4e2m1<5>: -6 -2 2 6 6");
  // Two or four elements a number.
  EXPECT_EQ(cast(integers("c", int4, {3}, {0x81, 0x0f}), 1),
            "float<3>: 1 -8 -1");
  EXPECT_EQ(cast(integers("c", uint2, {5}, {0x39, 0x02}), int8),
            "int8<5>: 1 2 3 0 2");
  EXPECT_EQ(cast("initializer { name: \"c\" data_type: 23 dims: 3 raw_data: "
                 "\"\\x79\\x02\" } ",
                 1),
            "float<3>: -0.50 6 1");
  EXPECT_THAT(cast(integers("c", int4, {3}, {1}), 1),
              testing::HasSubstr("int4<3> needs 2 bytes of data, got 1"));
}

TEST(ImporterLowPrecision, QuantizeAndDequantize) {
  std::string x = floats("c", {2, 3}, {-9, -1, 0.5f, 1.5f, 6, 100});
  std::string scale = floats("s", {}, {1});
  // Limited, not wrapped.
  EXPECT_EQ(run("QuantizeLinear", {"c", "s"}, x + scale,
                intAttr("output_dtype", int4)),
            "int4<2x3>: -8 -1 0 2 6 7");
  EXPECT_EQ(run("QuantizeLinear", {"c", "s", "z"},
                x + scale + integers("z", uint4, {}, {3})),
            "uint4<2x3>: 0 2 3 5 9 15");
  EXPECT_EQ(run("QuantizeLinear", {"c", "s"}, x + scale,
                intAttr("output_dtype", uint2)),
            "uint2<2x3>: 0 0 0 2 3 3");
  EXPECT_EQ(run("QuantizeLinear", {"c", "s"}, x + floats("s", {}, {0.0625f}),
                intAttr("output_dtype", float8e4m3fn)),
            "float8e4m3fn<2x3>: -144 -16 8 24 96 448");
  EXPECT_EQ(run("QuantizeLinear", {"c", "s"}, x + floats("s", {}, {0.0625f}),
                intAttr("output_dtype", float8e4m3fn) + intAttr("saturate", 0)),
            "float8e4m3fn<2x3>: -144 -16 8 24 96 nan");
  EXPECT_EQ(run("QuantizeLinear", {"c", "s", "z"},
                x + scale + integers("z", float4e2m1, {}, {1})),
            "float4e2m1<2x3>: -6 -0.50 1 2 6 6");
  // Blocks of two along the last dimension, the last one cut.
  std::string q = integers("c", int4, {2, 3}, {0x21, 0xf7, 0x88});
  EXPECT_EQ(run("DequantizeLinear", {"c", "s", "z"},
                q + floats("s", {2, 2}, {1, 10, 100, 1000}) +
                    integers("z", int4, {2, 2}, {0x10, 0x02}),
                intAttr("axis", 1) + intAttr("block_size", 2)),
            "float<2x3>: 1 2 60 -300 -1000 -8000");
  EXPECT_EQ(run("DequantizeLinear", {"c", "s"},
                integers("c", float8e5m2, {2}, {0x3c, 0xc0}) +
                    integers("s", float8e8m0, {2}, {128, 126}),
                intAttr("axis", 0)),
            "float<2>: 2 -1");
}

/// float16 has no 2049.
TEST(ImporterLowPrecision, PrecisionOfTheDivision) {
  std::string x = floats("c", {1}, {2049}) + floats("s", {}, {1});
  std::string toUInt16 = intAttr("output_dtype", 4);
  EXPECT_EQ(run("QuantizeLinear", {"c", "s"}, x, toUInt16), "uint16<1>: 2049");
  EXPECT_EQ(
      run("QuantizeLinear", {"c", "s"}, x, toUInt16 + intAttr("precision", 10)),
      "uint16<1>: 2048");
}

TEST(ImporterLowPrecision, IsRefused) {
  TextModel model = oneNode("Add", {"c", "c"}, "", 21);
  model.body += integers("c", float8e5m2, {1}, {1});
  EXPECT_EQ(
      model.importError(),
      "'m': node 'y' (Add): Add 'y': operand 'x' (float8e5m2<1>): expected "
      "a float or integer kind");
  model = oneNode("DequantizeLinear", {"c", "s"}, "", 23);
  model.body += integers("c", float8e8m0, {1}, {1}) + floats("s", {}, {1});
  EXPECT_THAT(
      model.importError(),
      testing::HasSubstr("input 0 ('c') is float8e8m0<1>; accepted: integers, "
                         "float8 but for float8e8m0, and float4e2m1"));
}

TEST(ImporterQuantization, IsRefused) {
  std::string x = integers("c", uint8, {2, 3}, {1, 2, 3, 4, 5, 6});
  TextModel model = oneNode("DequantizeLinear", {"c", "s"}, "", 13);
  model.body += x + floats("s", {2}, {1, 2});
  EXPECT_THAT(
      model.importError(),
      testing::HasSubstr("node 'y' (DequantizeLinear): input 1 ('s') is "
                         "float<2>; accepted: one value, or 3 for "
                         "dimension 1"));
}
