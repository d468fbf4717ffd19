//===- ImporterMicrosoftQuantizedTest.cpp - Quantized com.microsoft -------===//
//
// The interpreter against ONNX Runtime 1.30.
//
//===----------------------------------------------------------------------===//

#include "RunText.h"
#include "gmock/gmock.h"

using namespace glowish;

static constexpr int uint8 = 2, int8 = 3, int32 = 6, boolean = 9;

/// Names of inputs: tensors, and their scales and zero points.
static const std::vector<std::string> unary = {"a", "a_s", "a_z", "y_s", "y_z"};
static const std::vector<std::string> binary = {"a",   "a_s", "a_z", "b",
                                                "b_s", "b_z", "y_s", "y_z"};

/// Initializers NAME_s and NAME_z.
static std::string quantization(const std::string &name, int type, float scale,
                                int64_t zeroPoint) {
  return floats(name + "_s", {}, {scale}) +
         integers(name + "_z", type, {}, {zeroPoint});
}

/// Initializers NAME, NAME_s and NAME_z.
static std::string quantized(const std::string &name, int type,
                             std::vector<int64_t> shape,
                             std::vector<int64_t> values, float scale,
                             int64_t zeroPoint) {
  return integers(name, type, std::move(shape), std::move(values)) +
         quantization(name, type, scale, zeroPoint);
}

static TextModel makeModel(const char *type, std::vector<std::string> inputs,
                           std::string initializers, std::string attributes) {
  TextModel model = oneNode(type, std::move(inputs),
                            "domain: \"com.microsoft\" " + attributes);
  model.body += initializers;
  return model;
}

static std::string run(const char *type, std::vector<std::string> inputs,
                       std::string initializers, std::string attributes = "") {
  return runText(makeModel(type, std::move(inputs), std::move(initializers),
                           std::move(attributes)));
}

TEST(ImporterMicrosoftQuantized, Binary) {
  EXPECT_EQ(run("QLinearAdd", binary,
                quantized("a", uint8, {2, 3}, {171, 206, 5, 206, 120, 131},
                          0.07f, 120) +
                    quantized("b", uint8, {3}, {161, 73, 250}, 0.11f, 131) +
                    quantization("y", uint8, 0.15f, 125)),
            "uint8<2x3>: 171 123 159 187 82 217");
  EXPECT_EQ(run("QLinearAdd", binary,
                quantized("a", int8, {2, 1}, {-115, -57}, 0.05f, -7) +
                    quantized("b", int8, {1, 3}, {-30, 18, -24}, 0.09f, 4) +
                    quantization("y", int8, 0.15f, -3)),
            "int8<2x3>: -59 -31 -56 -40 -11 -36");
  EXPECT_EQ(run("QLinearAdd", {"a", "a_s", "", "b", "b_s", "", "y_s"},
                integers("a", int8, {3}, {-95, -117, -128}) +
                    floats("a_s", {}, {0.05f}) +
                    integers("b", int8, {}, {-116}) +
                    floats("b_s", {}, {0.09f}) + floats("y_s", {}, {0.15f})),
            "int8<3>: -101 -109 -112");
  EXPECT_EQ(run("QLinearMul", binary,
                quantized("a", uint8, {2, 3}, {38, 255, 48, 167, 192, 60},
                          0.07f, 120) +
                    quantized("b", uint8, {3}, {72, 111, 67}, 0.11f, 131) +
                    quantization("y", uint8, 1.3f, 125)),
            "uint8<2x3>: 154 109 152 109 116 148");
  EXPECT_EQ(run("QLinearMul", binary,
                quantized("a", int8, {2, 1}, {121, -83}, 0.05f, -7) +
                    quantized("b", int8, {1, 3}, {101, 76, 88}, 0.09f, 4) +
                    quantization("y", int8, 1.3f, -3)),
            "int8<2x3>: 40 29 34 -29 -22 -25");
  EXPECT_EQ(run("QLinearMul", {"a", "a_s", "", "b", "b_s", "", "y_s"},
                integers("a", int8, {3}, {-99, -28, 32}) +
                    floats("a_s", {}, {0.05f}) + integers("b", int8, {}, {-2}) +
                    floats("b_s", {}, {0.09f}) + floats("y_s", {}, {1.3f})),
            "int8<3>: 1 0 0");
}

TEST(ImporterMicrosoftQuantized, Where) {
  EXPECT_EQ(run("QLinearWhere",
                {"c", "a", "a_s", "a_z", "b", "b_s", "b_z", "y_s", "y_z"},
                integers("c", boolean, {2, 1}, {1, 0}) +
                    quantized("a", uint8, {2, 3}, {170, 173, 169, 15, 245, 142},
                              0.07f, 120) +
                    quantized("b", uint8, {3}, {231, 69, 92}, 0.11f, 131) +
                    quantization("y", uint8, 0.1f, 125)),
            "uint8<2x3>: 160 162 159 235 57 82");
  EXPECT_EQ(run("QLinearWhere",
                {"c", "a", "a_s", "a_z", "b", "b_s", "b_z", "y_s", "y_z"},
                integers("c", boolean, {3}, {1, 0, 1}) +
                    quantized("a", int8, {3}, {97, -81, -112}, 0.07f, 20) +
                    quantized("b", int8, {1}, {-33}, 0.11f, -31) +
                    quantization("y", int8, 0.1f, 25)),
            "int8<3>: 79 23 -67");
}

TEST(ImporterMicrosoftQuantized, Activations) {
  EXPECT_EQ(run("QLinearSigmoid", unary,
                quantized("a", uint8, {5}, {0, 90, 120, 150, 255}, 0.03f, 120) +
                    quantization("y", uint8, 0.003906f, 0)),
            "uint8<5>: 7 74 128 182 252");
  EXPECT_EQ(run("QLinearSigmoid", unary,
                quantized("a", int8, {5}, {-128, -30, 3, 40, 127}, 0.03f, 3) +
                    quantization("y", int8, 0.003906f, -128)),
            "int8<5>: -123 -59 0 65 122");
  EXPECT_EQ(run("QLinearLeakyRelu", unary,
                quantized("a", uint8, {5}, {0, 90, 120, 150, 255}, 0.03f, 120) +
                    quantization("y", uint8, 0.02f, 50),
                floatAttr("alpha", 0.3)),
            "uint8<5>: 0 36 50 95 252");
  EXPECT_EQ(run("QLinearLeakyRelu", {"a", "a_s", "", "y_s", ""},
                integers("a", int8, {5}, {-128, -30, 3, 40, 127}) +
                    floats("a_s", {}, {0.03f}) + floats("y_s", {}, {0.02f})),
            "int8<5>: -2 0 4 60 127");
}

TEST(ImporterMicrosoftQuantized, Softmax) {
  EXPECT_EQ(run("QLinearSoftmax", unary,
                quantized("a", uint8, {2, 3}, {100, 120, 140, 7, 200, 210},
                          0.05f, 120) +
                    quantization("y", uint8, 0.003906f, 0),
                intAttr("axis", -1) + intAttr("opset", 13)),
            "uint8<2x3>: 23 63 170 0 97 159");
  EXPECT_EQ(
      run("QLinearSoftmax", unary,
          quantized("a", int8, {2, 3}, {100, 120, -14, 7, 100, 21}, 0.05f, 3) +
              quantization("y", int8, 0.003906f, -128),
          intAttr("axis", 0) + intAttr("opset", 13)),
      "int8<2x3>: 126 59 -90 -126 -59 90");
  // All dimensions from the second on.
  EXPECT_EQ(run("QLinearSoftmax", unary,
                quantized("a", uint8, {1, 2, 2}, {100, 120, 140, 7}, 0.05f, 3) +
                    quantization("y", uint8, 0.003906f, 0),
                intAttr("opset", 12) + intAttr("axis", 1)),
            "uint8<1x2x2>: 23 63 170 0");
}

TEST(ImporterMicrosoftQuantized, AveragePool) {
  EXPECT_EQ(
      run("QLinearAveragePool", unary,
          quantized("a", uint8, {1, 1, 3, 3},
                    {173, 31, 222, 87, 58, 139, 229, 226, 223}, 0.053f, 120) +
              quantization("y", uint8, 0.041f, 100),
          intsAttr("kernel_shape", {2, 2}) + intsAttr("pads", {1, 0, 0, 1})),
      "uint8<1x1x3x3>: 77 108 232 58 90 178 139 154 179");
  EXPECT_EQ(run("QLinearAveragePool", unary,
                quantized("a", uint8, {1, 1, 3, 3},
                          {78, 4, 199, 181, 197, 0, 9, 128, 85}, 0.053f, 120) +
                    quantization("y", uint8, 0.041f, 100),
                intsAttr("kernel_shape", {2, 2}) +
                    intsAttr("pads", {1, 0, 0, 1}) +
                    intAttr("count_include_pad", 1)),
            "uint8<1x1x3x3>: 49 88 126 94 74 87 111 77 50");
  EXPECT_EQ(
      run("QLinearAveragePool", unary,
          quantized("a", int8, {1, 3, 2, 2},
                    {-17, 110, -76, 7, -45, -53, 78, -89, -47, -98, -90, -57},
                    0.05f, -5) +
              quantization("y", int8, 0.0617f, 3),
          intsAttr("kernel_shape", {2, 2}) + intAttr("channels_last", 1)),
      "int8<1x2x1x2>: -5 2 -14 -53");
  EXPECT_EQ(run("QLinearAveragePool", unary,
                quantized("a", int8, {1, 5, 2},
                          {50, 20, -14, -85, 76, 76, -68, -113, -47, -91},
                          0.05f, -5) +
                    quantization("y", int8, 0.0617f, 3),
                intsAttr("kernel_shape", {3}) + intsAttr("strides", {2}) +
                    intAttr("channels_last", 1)),
            "int8<1x2x2>: 37 10 -3 -28");
}

TEST(ImporterMicrosoftQuantized, GlobalAveragePool) {
  EXPECT_EQ(
      run("QLinearGlobalAveragePool", unary,
          quantized("a", uint8, {1, 2, 2, 3},
                    {204, 133, 129, 74, 129, 247, 60, 196, 3, 80, 238, 223},
                    0.05f, 120) +
              quantization("y", uint8, 0.02f, 100)),
      "uint8<1x2x1x1>: 182 133");
  EXPECT_EQ(
      run("QLinearGlobalAveragePool", unary,
          quantized("a", int8, {1, 2, 3, 2},
                    {-107, 87, 88, -12, -34, 122, 115, 45, -26, -75, 111, -60},
                    0.05f, 12) +
              quantization("y", int8, 0.02f, -10),
          intAttr("channels_last", 1)),
      "int8<1x1x1x2>: 21 5");
  EXPECT_EQ(
      run("QLinearGlobalAveragePool", unary,
          quantized("a", uint8, {2, 2, 3},
                    {142, 172, 61, 80, 189, 50, 172, 241, 175, 165, 118, 247},
                    0.05f, 120) +
              quantization("y", uint8, 0.02f, 100)),
      "uint8<2x2x1>: 113 66 255 242");
}

TEST(ImporterMicrosoftQuantized, Concat) {
  EXPECT_EQ(run("QLinearConcat",
                {"y_s", "y_z", "a", "a_s", "a_z", "b", "b_s", "b_z"},
                quantized("a", uint8, {2, 2}, {56, 91, 164, 167}, 0.07f, 120) +
                    quantized("b", uint8, {2, 1}, {27, 41}, 0.11f, 131) +
                    quantization("y", uint8, 0.1f, 125),
                intAttr("axis", 1)),
            "uint8<2x3>: 80 105 11 156 158 26");
  EXPECT_EQ(run("QLinearConcat",
                {"y_s", "y_z", "a", "a_s", "a_z", "b", "b_s", "b_z"},
                quantized("a", int8, {2}, {49, 87}, 0.07f, 12) +
                    quantized("b", int8, {2}, {34, 110}, 0.11f, -13) +
                    quantization("y", int8, 0.07f, 12),
                intAttr("axis", -1)),
            "int8<4>: 49 87 86 127");
}

TEST(ImporterMicrosoftQuantized, QGemm) {
  EXPECT_EQ(
      run("QGemm", {"a", "a_s", "a_z", "b", "b_s", "b_z", "", "y_s", "y_z"},
          quantized("a", uint8, {2, 3}, {96, 84, 204, 10, 49, 49}, 0.05f, 120) +
              quantized("b", int8, {3, 2}, {-29, -88, 76, 88, -31, -121}, 0.07f,
                        3) +
              quantization("y", uint8, 1.5f, 110)),
      "uint8<2x2>: 99 84 112 140");
  // Scales and zero points per column, transposed.
  EXPECT_EQ(run("QGemm",
                {"a", "a_s", "a_z", "b", "b_s", "b_z", "c", "y_s", "y_z"},
                quantized("a", int8, {3, 2}, {54, -101, 28, -85, 112, 45},
                          0.05f, -12) +
                    integers("b", int8, {2, 3}, {125, 29, 57, -32, 79, -100}) +
                    floats("b_s", {2}, {0.07f, 0.01f}) +
                    integers("b_z", int8, {2}, {3, -7}) +
                    integers("c", int32, {2}, {300, -2000}) +
                    quantization("y", int8, 1.1f, -9),
                intAttr("transA", 1) + intAttr("transB", 1) +
                    floatAttr("alpha", 1.5)),
            "int8<2x2>: 68 -17 -54 -17");
  EXPECT_EQ(run("QGemm", {"a", "a_s", "a_z", "b", "b_s", "b_z", "c"},
                quantized("a", uint8, {2, 2}, {39, 92, 182, 124}, 0.05f, 120) +
                    quantized("b", uint8, {2, 3},
                              {216, 241, 102, 108, 141, 165}, 0.07f, 100) +
                    integers("c", int32, {2, 1}, {3000, -200})),
            "float<2x3>: -23.17 -33.49 3.56 24.58 30.47 0.64");
}

/// Weights of columns: 4 bits are two in a byte. The expected numbers follow
/// from ONNX Runtime's description.
TEST(ImporterMicrosoftQuantized, MatMulNBits) {
  // Two columns of 18 weights in blocks of 16: 1, 2, 3, ... and 8, 8, 8, ...
  std::vector<int64_t> packed;
  for (int64_t k = 0; k < 32; k += 2)
    packed.push_back((k + 1) % 16 | (k + 2) % 16 << 4);
  packed.insert(packed.end(), 16, 0x88);
  std::string weights = integers("b", uint8, {2, 2, 8}, packed) +
                        floats("s", {4}, {1, 0.5f, 2, 3});
  std::vector<float> ones(18, 1);
  std::string shape = intAttr("K", 18) + intAttr("N", 2) +
                      intAttr("block_size", 16) + intAttr("bits", 4);
  // The zero point is 8 without others: (1 + ... + 15 + 0 - 128) + (1 + 2 -
  // 16) / 2.
  EXPECT_EQ(run("MatMulNBits", {"x", "b", "s"},
                floats("x", {1, 18}, ones) + weights, shape),
            "float<1x2>: -14.50 0");
  // Zero points 7 and 1, and 8 and 6; a bias.
  EXPECT_EQ(run("MatMulNBits", {"x", "b", "s", "z", "", "c"},
                floats("x", {1, 18}, ones) + weights +
                    integers("z", uint8, {2}, {0x17, 0x68}) +
                    floats("c", {2}, {1, -1}),
                shape),
            "float<1x2>: 9.50 11");
  // Zero points as floats; those of 7, 1, 8 and 6 are the integers above.
  auto runFloatZeros = [&](std::vector<float> zeroPoints) {
    return run("MatMulNBits", {"x", "b", "s", "z"},
               floats("x", {1, 18}, ones) + weights +
                   floats("z", {4}, std::move(zeroPoints)),
               shape);
  };
  EXPECT_EQ(runFloatZeros({7, 1, 8, 6}), "float<1x2>: 8.50 12");
  // 120 - 116, (3 - 3) / 2, 16 * 0.125 * 2 and 2 * 19 * 3.
  EXPECT_EQ(runFloatZeros({7.25f, 1.5f, 7.875f, -11}), "float<1x2>: 4 118");
  // 8 bits, a block that is not full.
  EXPECT_EQ(
      run("MatMulNBits", {"x", "b", "s"},
          floats("x", {2, 3}, {1, 2, 3, -1, 0, 1}) +
              integers("b", uint8, {1, 1, 16},
                       {138, 118, 128, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}) +
              floats("s", {1}, {0.5f}),
          intAttr("K", 3) + intAttr("N", 1) + intAttr("block_size", 16) +
              intAttr("bits", 8)),
      "float<2x1>: -5 -5");
  auto refuse = [&](std::vector<std::string> inputs, std::string attributes) {
    return run("MatMulNBits", std::move(inputs),
               floats("x", {1, 18}, ones) + weights +
                   integers("g", int32, {18}, std::vector<int64_t>(18, 0)),
               std::move(attributes));
  };
  EXPECT_THAT(refuse({"x", "b", "s", "", "g"}, shape),
              testing::HasSubstr("input 4, 'g_idx', is present; accepted: "
                                 "blocks of rows in their order"));
  EXPECT_THAT(refuse({"x", "b", "s"}, intAttr("K", 18) + intAttr("N", 2) +
                                          intAttr("block_size", 24) +
                                          intAttr("bits", 4)),
              testing::HasSubstr("attribute 'block_size' is 24; accepted: "
                                 "powers of two from 16 on"));
  EXPECT_THAT(refuse({"x", "b", "s"}, intAttr("K", 18) + intAttr("N", 2) +
                                          intAttr("block_size", 16) +
                                          intAttr("bits", 2)),
              testing::HasSubstr("attribute 'bits' is 2; accepted: 4, 8"));
  EXPECT_THAT(refuse({"x", "x", "s"}, shape),
              testing::HasSubstr("input 1 is float<1x18>; accepted: uint8, 16 "
                                 "bytes for each of 2 columns"));
}

TEST(ImporterMicrosoftQuantized, MatMuls) {
  EXPECT_EQ(
      run("MatMulIntegerToFloat", {"a", "b", "a_s", "b_s", "a_z", "b_z", "c"},
          quantized("a", uint8, {2, 3}, {122, 154, 245, 187, 81, 108}, 0.05f,
                    120) +
              integers("b", int8, {3, 2}, {-26, -90, -128, 74, -21, -38}) +
              floats("b_s", {2}, {0.07f, 0.02f}) +
              integers("b_z", int8, {2}, {3, -7}) +
              floats("c", {2}, {0.5f, -1})),
      "float<2x2>: -25.79 -2.29 12.59 -9.35");
  EXPECT_EQ(run("MatMulIntegerToFloat", {"a", "b", "a_s", "b_s"},
                integers("a", int8, {2, 3}, {33, 16, 111, 29, 108, 20}) +
                    floats("a_s", {}, {0.05f}) +
                    integers("b", int8, {3, 2}, {-45, -46, 125, 22, -80, 84}) +
                    floats("b_s", {}, {0.07f})),
            "float<2x2>: -29.28 28.55 37.08 9.53");
  EXPECT_EQ(run("DynamicQuantizeMatMul", {"x", "b", "b_s", "b_z", "c"},
                floats("x", {2, 3}, {-1, 0.31f, 2.7f, 0.4f, 1.9f, -0.8f}) +
                    quantized("b", int8, {3, 2}, {82, -126, -88, 49, -25, -41},
                              0.07f, -7) +
                    floats("c", {2}, {0.5f, -1})),
            "float<2x2>: -10.87 2.11 -6.74 4.97");
  // Zeros have the scale 1.
  EXPECT_EQ(run("DynamicQuantizeMatMul", {"x", "b", "b_s"},
                floats("x", {1, 2}, {0, 0}) +
                    integers("b", uint8, {2, 2}, {18, 48, 219, 213}) +
                    floats("b_s", {}, {0.07f})),
            "float<1x2>: 0 0");
}

TEST(ImporterMicrosoftQuantized, QAttention) {
  EXPECT_EQ(
      run("QAttention", {"a", "w", "c", "a_s", "w_s", "", "a_z", "w_z"},
          quantized("a", uint8, {1, 2, 2}, {212, 146, 35, 82}, 0.02f, 120) +
              quantized("w", int8, {2, 6},
                        {6, 126, -62, 12, -3, 0, 13, 52, -101, 123, 93, 68},
                        0.01f, 3) +
              floats("c", {6}, {0, 0.1f, 0.2f, 0.3f, 0.4f, 0.5f}),
          intAttr("num_heads", 2)),
      "float<1x2x2>: 0.20 0.78 0.39 0.07");
  EXPECT_EQ(
      run("QAttention", {"a", "w", "c", "a_s", "w_s", "", "a_z", "w_z"},
          quantized("a", uint8, {1, 2, 2}, {212, 146, 35, 82}, 0.02f, 120) +
              quantized("w", int8, {2, 6},
                        {6, 126, -62, 12, -3, 0, 13, 52, -101, 123, 93, 68},
                        0.01f, 3) +
              floats("c", {6}, {0, 0.1f, 0.2f, 0.3f, 0.4f, 0.5f}),
          intAttr("num_heads", 1) + intAttr("unidirectional", 1)),
      "float<1x2x2>: 0.76 0.78 -0.13 0.10");
  // The second key is beyond the length.
  EXPECT_EQ(
      run("QAttention", {"a", "w", "c", "a_s", "w_s", "m", "a_z", "w_z"},
          quantized("a", uint8, {1, 2, 2}, {71, 112, 114, 79}, 0.02f, 120) +
              integers("w", uint8, {2, 3}, {14, 190, 0, 195, 49, 164}) +
              floats("w_s", {3}, {0.01f, 0.02f, 0.03f}) +
              integers("w_z", uint8, {3}, {100, 130, 150}) +
              floats("c", {3}, {0.1f, 0.2f, 0.3f}) +
              integers("m", int32, {1}, {1}),
          intAttr("num_heads", 1)),
      "float<1x2x1>: 4.64 4.64");
}

TEST(ImporterMicrosoftQuantized, QEmbedLayerNormalization) {
  EXPECT_EQ(run("QEmbedLayerNormalization",
                {"i", "", "w", "p", "", "g", "b", "m", "w_s", "p_s", "", "g_s",
                 "b_s", "w_z", "p_z", "", "g_z", "b_z"},
                integers("i", int32, {1, 3}, {2, 0, 1}) +
                    quantized("w", uint8, {3, 2}, {87, 60, 237, 121, 227, 48},
                              0.02f, 120) +
                    quantized("p", uint8, {4, 2},
                              {123, 88, 116, 3, 170, 88, 219, 54}, 0.03f, 100) +
                    quantized("g", uint8, {2}, {86, 11}, 0.01f, 20) +
                    quantized("b", uint8, {2}, {203, 136}, 0.02f, 128) +
                    integers("m", int32, {1, 3}, {1, 1, 0}),
                floatAttr("epsilon", 0.5)),
            "float<1x3x2>: 2.13 0.25 2.12 0.24 2.13 0.25");
  EXPECT_EQ(
      run("QEmbedLayerNormalization",
          {"i", "k", "w", "p", "s", "g", "b", "", "w_s", "p_s", "s_s", "g_s",
           "b_s", "w_z", "p_z", "s_z", "g_z", "b_z"},
          integers("i", int32, {1, 2}, {2, 0}) +
              integers("k", int32, {1, 2}, {1, 0}) +
              quantized("w", int8, {3, 2}, {-26, 106, 24, 118, 60, 21}, 0.02f,
                        12) +
              quantized("p", int8, {4, 2}, {0, -77, 48, 74, 50, -23, -127, 60},
                        0.03f, -10) +
              quantized("s", int8, {2, 2}, {-118, 77, -90, -50}, 0.01f, 5) +
              quantized("g", int8, {2}, {-74, 10}, 0.01f, 20) +
              quantized("b", int8, {2}, {-76, -62}, 0.02f, -8),
          floatAttr("epsilon", 0.5)),
      "float<1x2x2>: -2.19 -0.99 -0.45 -1.18");
}

/// Initializer b of a DynamicQuantizeLSTM with hidden_size 2.
static std::string lstmBias() {
  return floats("b", {1, 16},
                {-0.2f, 0, 0.2f, -0.1f, 0.1f, -0.2f, 0, 0.2f, -0.1f, 0.1f,
                 -0.2f, 0, 0.2f, -0.1f, 0.1f, -0.2f});
}

/// Initializers w and r of the same, each with one scale and zero point.
static std::string lstmWeights() {
  return integers("w", int8, {1, 2, 8},
                  {-116, 123, -73, -79, 25, -92, 98, 72, -39, -26, -35, 60, -22,
                   -55, 46, -93}) +
         floats("w_s", {1}, {0.01f}) + integers("w_z", int8, {1}, {0}) +
         integers("r", int8, {1, 2, 8},
                  {73, -19, 112, -62, -32, 95, 52, -118, -41, -124, 82, -22,
                   -69, 57, 94, -102}) +
         floats("r_s", {1}, {0.02f}) + integers("r_z", int8, {1}, {0});
}

TEST(ImporterMicrosoftQuantized, DynamicQuantizeLSTM) {
  EXPECT_EQ(
      run("DynamicQuantizeLSTM",
          {"x", "w", "r", "b", "", "", "", "", "w_s", "w_z", "r_s", "r_z"},
          floats("x", {2, 1, 2}, {0.5f, -1, 2, 0.3f}) + lstmWeights() +
              lstmBias(),
          intAttr("hidden_size", 2)),
      "float<2x1x1x2>: 0.02 0.14 0.02 0.10");
  EXPECT_EQ(
      run("DynamicQuantizeLSTM",
          {"x", "w", "r", "b", "", "", "", "", "w_s", "w_z", "r_s", "r_z"},
          floats("x", {2, 1, 2}, {0.5f, -1, 2, 0.3f}) +
              integers("w", uint8, {1, 2, 8},
                       {129, 93, 185, 238, 136, 191, 80, 148, 126, 187, 12, 60,
                        11, 250, 135, 125}) +
              floats("w_s", {1, 8},
                     {0.01f, 0.01f, 0.01f, 0.01f, 0.02f, 0.02f, 0.02f, 0.02f}) +
              integers("w_z", uint8, {1, 8},
                       {128, 128, 128, 128, 128, 128, 128, 128}) +
              integers("r", uint8, {1, 2, 8},
                       {122, 8, 213, 216, 5, 159, 142, 97, 125, 225, 153, 125,
                        186, 177, 134, 212}) +
              floats("r_s", {1}, {0.02f}) + integers("r_z", uint8, {1}, {120}) +
              lstmBias(),
          intAttr("hidden_size", 2) + stringAttr("direction", "reverse")),
      "float<2x1x1x2>: -0.41 0.26 -0.26 0.22");
  EXPECT_EQ(
      run("DynamicQuantizeLSTM",
          {"x", "w", "r", "b", "n", "", "", "", "w_s", "w_z", "r_s", "r_z"},
          floats("x", {2, 2, 2}, {0.5f, -1, 2, 0.3f, 0.7f, -0.4f, 3, -2}) +
              lstmWeights() + lstmBias() + integers("n", int32, {2}, {1, 2}),
          intAttr("hidden_size", 2)),
      "float<2x1x2x2>: 0.03 0.14 0.01 0.12 0 0 0.02 0.02");
}

/// ONNX Runtime has no implementation. Elements are 0.6 of the result's units:
/// the means are 1.8 and 3.6 along rows, -0.3, 1.8 and 6.6 along columns.
TEST(ImporterMicrosoftQuantized, ReduceMean) {
  std::string x =
      quantized("a", uint8, {2, 3}, {11, 12, 16, 8, 14, 26}, 0.06f, 10) +
      quantization("y", uint8, 0.1f, 3);
  EXPECT_EQ(run("QLinearReduceMean", unary, x,
                intsAttr("axes", {-1}) + intAttr("keepdims", 0)),
            "uint8<2>: 5 7");
  EXPECT_EQ(run("QLinearReduceMean", unary, x,
                intsAttr("axes", {0}) + intAttr("keepdims", 1)),
            "uint8<1x3>: 3 5 10");
}

static void expectRefused(TextModel model, const char *message) {
  EXPECT_THAT(model.importError(), testing::HasSubstr(message));
}

TEST(ImporterMicrosoftQuantized, IsRefused) {
  std::string a = quantized("a", uint8, {3}, {1, 2, 3}, 1, 0);
  std::string y = quantization("y", uint8, 1, 0);
  expectRefused(makeModel("QLinearSigmoid", {"a", "w", "a_z", "y_s", "y_z"},
                          a + y + floats("w", {2}, {1, 2}), ""),
                "node 'y' (QLinearSigmoid): input 1 ('w') is float<2>; "
                "accepted: one float");
  expectRefused(makeModel("QLinearSigmoid", {"a", "a_s", "w", "y_s", "y_z"},
                          a + y + integers("w", int8, {}, {1}), ""),
                "input 2 ('w') is int8<>; accepted: one uint8");
  expectRefused(makeModel("QLinearSigmoid", {"w", "a_s", "", "y_s", ""},
                          a + y + integers("w", int32, {1}, {1}), ""),
                "input 0 ('w') is int32<1>; accepted: uint8, int8");
  expectRefused(makeModel("QLinearAdd", binary,
                          a + y + quantized("b", int8, {3}, {1, 2, 3}, 1, 0),
                          ""),
                "inputs 0 and 3 are uint8<3> and int8<3>; accepted: one kind");
  expectRefused(makeModel("QLinearConcat", {"y_s", "y_z", "a", "a_s"}, a + y,
                          intAttr("axis", 0)),
                "there are 4 inputs; accepted: 2, and 3 for each tensor");
  expectRefused(makeModel("QLinearSoftmax", unary, a + y, intAttr("axis", 0)),
                "attribute 'opset' is 0; accepted: 1 or more");
}

TEST(ImporterMicrosoftQuantized, MatMulsAreRefused) {
  std::string a = quantized("a", uint8, {1, 2}, {1, 2}, 1, 0) +
                  quantization("y", uint8, 1, 0);
  std::string b = quantized("b", uint8, {2, 3}, {1, 2, 3, 4, 5, 6}, 1, 0) +
                  floats("w", {2}, {1, 2});
  expectRefused(
      makeModel("QGemm", {"a", "a_s", "a_z", "b", "w", "b_z"}, a + b, ""),
      "input 4 ('w') is float<2>; accepted: one float, or one for each of 3 "
      "columns");
  expectRefused(makeModel("QGemm",
                          {"a", "a_s", "a_z", "b", "b_s", "b_z", "", "y_s"},
                          a + b, ""),
                "one of inputs 7 and 8 is absent; accepted: both or none");
  expectRefused(
      makeModel("QGemm", {"a", "a_s", "a_z", "b", "b_s", "b_z", "c"},
                a + b + integers("c", int32, {2, 1}, {1, 2}), ""),
      "the bias is int32<2x1>; accepted: what broadcasts to int32<1x3>");
}
