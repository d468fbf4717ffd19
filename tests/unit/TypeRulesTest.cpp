//===- TypeRulesTest.cpp - Types of results -------------------------------===//
//
// Each rule with operands that it takes and with all that it refuses; those of
// data movement are in TypeRulesDataMovementTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "InferTypes.h"
#include "gtest/gtest.h"

using namespace glowish;

namespace {

constexpr const char *most = "9223372036854775807";

//===- Element-wise -------------------------------------------------------===//

TEST(TypeRules, ElementWiseBroadcasts) {
  EXPECT_TYPE("Add(float<7x1>, float<3>)", "float<7x3>");
  EXPECT_TYPE("Add(float<>, float<3x1x17>)", "float<3x1x17>");
  EXPECT_TYPE("Mul(int8<0x1>, int8<3>)", "int8<0x3>");
  EXPECT_TYPE("Max(bfloat16<1>, bfloat16<0>)", "bfloat16<0>");
  EXPECT_TYPE("Relu(double<5x0x3>)", "double<5x0x3>");
  EXPECT_TYPE("Add(float<2x3>, float<4x3>)",
              "shapes 2x3 and 4x3 do not broadcast");
  EXPECT_TYPE("Add(float<0>, float<2>)", "shapes 0 and 2 do not broadcast");
  EXPECT_TYPE("Add(float<1048576x1>, float<1048576>)",
              "a tensor of kind float and shape 1048576x1048576 is larger than "
              "1099511627776 bytes");
}

TEST(TypeRules, ElementWiseKinds) {
  EXPECT_TYPE("Add(float<3>, double<3>)",
              "operand 'y' (double<3>): expected kind float");
  EXPECT_TYPE("Add(bool<3>, bool<3>)",
              "operand 'x' (bool<3>): expected a float or integer kind");
  EXPECT_TYPE("Exp(int32<3>)", "operand 'x' (int32<3>): expected a float kind");
  EXPECT_TYPE("Neg(uint8<3>)", "operand 'x' (uint8<3>): expected a float or "
                               "signed integer kind");
  EXPECT_TYPE("And(int8<3>, int8<3>)", "operand 'x' (int8<3>): expected bool");
  EXPECT_TYPE("Add(int8q<3, scale 1.0 offset 0>, int8q<3, scale 1.0 offset 0>)",
              "operand 'x' (int8q<3, scale 1 offset 0>): expected a float or "
              "integer kind");
  EXPECT_TYPE("Less(uint16<3>, uint16<1>)", "bool<3>");
  EXPECT_TYPE("Equal(bool<3>, bool<3>)", "bool<3>");
  EXPECT_TYPE("Not(bool<3>)", "bool<3>");
  EXPECT_TYPE("Clip(int8<3>) {low = 0.0, high = 6.0}", "int8<3>");
}

TEST(TypeRules, SelectAndCast) {
  EXPECT_TYPE("Select(bool<7x1>, int64<1>, int64<17>)", "int64<7x17>");
  EXPECT_TYPE("Select(float<1>, float<1>, float<1>)",
              "operand 'condition' (float<1>): expected kind bool");
  EXPECT_TYPE("Select(bool<1>, float<1>, int8<1>)",
              "operand 'y' (int8<1>): expected kind float");
  EXPECT_TYPE("Cast(float<3x0>) {to = bool}", "bool<3x0>");
  EXPECT_TYPE("Cast(float<3>) {to = int8q}",
              "attribute 'to': int8q is quantized, and there are no scales");
}

TEST(TypeRules, ElementWiseLoop) {
  EXPECT_TYPE("ElementWiseLoop(float<3x7>, float<3x7>) {program = "
              "{v2:float = Add(v0, v1); v3:bool = Less(v2, v0)}} -> bool<3x7>",
              "bool<3x7>");
  EXPECT_TYPE("ElementWiseLoop(float<3>) {program = {}} -> float<3>",
              "float<3>");
  EXPECT_TYPE("ElementWiseLoop(float<3>, float<1>) {program = {}} -> float<3>",
              "operand 'inputs[1]' (float<1>): expected the result's shape 3");
  EXPECT_TYPE("ElementWiseLoop() {program = {}} -> float<3>",
              "attribute 'program': a scalar program needs an input");
  EXPECT_TYPE("ElementWiseLoop(int8<3>) {program = {v1:int8 = Exp(v0)}} -> "
              "int8<3>",
              "attribute 'program': v1 = Exp: v0 is int8, expected a float "
              "kind");
}

//===- Convolution --------------------------------------------------------===//

constexpr const char *convAttrs =
    "{strides = [2, 1], pads = [1, 0, 1, 2], dilations = [1, 2], group = 2}";

TEST(TypeRules, Convolution) {
  std::string attrs = convAttrs;
  EXPECT_TYPE("Convolution(float<3x7x17x4>, float<6x3x2x2>, float<6>)" + attrs,
              "float<3x4x17x6>");
  EXPECT_TYPE("Convolution(float16<0x7x17x4>, float16<6x3x2x2>, none)" + attrs,
              "float16<0x4x17x6>");
  EXPECT_TYPE("Convolution(int8<1x7x17x4>, int8<6x3x2x2>, none)" + attrs,
              "int8<1x4x17x6>");
  EXPECT_TYPE("Convolution(bool<1x7x17x4>, bool<6x3x2x2>, none)" + attrs,
              "operand 'input' (bool<1x7x17x4>): expected a float or integer "
              "kind");
  EXPECT_TYPE("Convolution(float<7x17x4>, float<6x3x2x2>, none)" + attrs,
              "operand 'input' (float<7x17x4>): expected rank 4");
  EXPECT_TYPE("Convolution(float<1x7x17x4>, double<6x3x2x2>, none)" + attrs,
              "operand 'filter' (double<6x3x2x2>): expected kind float");
  EXPECT_TYPE("Convolution(float<1x7x17x4>, float<6x3x2>, none)" + attrs,
              "operand 'filter' (float<6x3x2>): expected rank 4");
  EXPECT_TYPE("Convolution(float<1x7x17x4>, float<6x3x2x4>, none)" + attrs,
              "operand 'filter' (float<6x3x2x4>): expected 2 as the last "
              "extent");
  EXPECT_TYPE("Convolution(float<1x7x17x4>, float<6x0x2x2>, none)" + attrs,
              "operand 'filter' (float<6x0x2x2>): the kernel has no elements");
  EXPECT_TYPE("Convolution(float<1x7x17x5>, float<6x3x2x2>, none)" + attrs,
              "attribute 'group': 2 does not divide the 5 input channels");
  EXPECT_TYPE("Convolution(float<1x7x17x4>, float<7x3x2x2>, none)" + attrs,
              "attribute 'group': 2 does not divide the 7 output channels");
  EXPECT_TYPE("Convolution(float<1x7x17x4>, float<6x3x2x2>, float<1>)" + attrs,
              "operand 'bias' (float<1>): expected kind float and shape 6");
  EXPECT_TYPE("Convolution(float<1x0x17x4>, float<6x3x2x2>, none)" + attrs,
              "operand 'input' (float<1x0x17x4>): a kernel of height 3 does "
              "not fit 0 with pads 1 and 1 and dilation 1");
}

TEST(TypeRules, ConvolutionFilterGradient) {
  auto inferWith = [](const char *operands, const char *kernels = "[3, 2]",
                      const char *group = "2") {
    return infer(std::string("ConvolutionFilterGradient(") + operands +
                 ") {kernels = " + kernels +
                 ", strides = [2, 1], pads = [1, 0, 1, 2], dilations = [1, 2], "
                 "group = " +
                 group + "}");
  };
  EXPECT_EQ(inferWith("float<3x7x17x4>, float<3x4x17x6>"), "float<6x3x2x2>");
  EXPECT_EQ(inferWith("bfloat16<0x7x17x4>, bfloat16<0x4x17x6>", "[3, 2]", "1"),
            "bfloat16<6x3x2x4>");
  EXPECT_EQ(inferWith("int8<3x7x17x4>, int8<3x4x17x6>"),
            "operand 'input' (int8<3x7x17x4>): expected a float kind");
  EXPECT_EQ(inferWith("float<3x7x17>, float<3x4x17x6>"),
            "operand 'input' (float<3x7x17>): expected rank 4");
  EXPECT_EQ(inferWith("float<3x7x17x4>, double<3x4x17x6>"),
            "operand 'gradient' (double<3x4x17x6>): expected kind float");
  EXPECT_EQ(inferWith("float<3x7x17x4>, float<4x17x6>"),
            "operand 'gradient' (float<4x17x6>): expected rank 4");
  EXPECT_EQ(inferWith("float<3x7x17x4>, float<3x5x17x6>"),
            "operand 'gradient' (float<3x5x17x6>): expected kind float and "
            "shape 3x4x17x6");
  EXPECT_EQ(inferWith("float<3x7x17x4>, float<2x4x17x6>"),
            "operand 'gradient' (float<2x4x17x6>): expected kind float and "
            "shape 3x4x17x6");
  EXPECT_EQ(inferWith("float<3x7x17x4>, float<3x4x17x6>", "[3]"),
            "attribute 'kernels': expected 2 values, got 1");
  EXPECT_EQ(inferWith("float<3x7x17x4>, float<3x4x17x6>", "[0, 2]"),
            "attribute 'kernels': 0 is less than 1");
  EXPECT_EQ(inferWith("float<3x7x17x4>, float<3x4x17x6>", "[10, 2]"),
            "operand 'input' (float<3x7x17x4>): a kernel of height 10 does not "
            "fit 7 with pads 1 and 1 and dilation 1");
  for (const char *group : {"4", "0", "-2"})
    EXPECT_EQ(inferWith("float<3x7x17x4>, float<3x4x17x6>", "[3, 2]", group),
              std::string("attribute 'group': ") + group +
                  " does not divide the 4 channels of the input and the 6 of "
                  "the gradient");
}

/// A 3x3 convolution with one attribute replaced.
std::string inferConvolutionWith(llvm::StringRef name, llvm::StringRef value) {
  std::string text = "Convolution(float<1x7x7x4>, float<6x3x3x4>, none) {";
  const char *defaults[][2] = {{"strides", "[1, 1]"},
                               {"pads", "[0, 0, 0, 0]"},
                               {"dilations", "[1, 1]"},
                               {"group", "1"}};
  const char *separator = "";
  for (auto [attr, standard] : defaults) {
    text += separator;
    text += attr;
    text += " = ";
    text += name == attr ? value : llvm::StringRef(standard);
    separator = ", ";
  }
  return infer(text + "}");
}

TEST(TypeRules, WindowAttributes) {
  EXPECT_EQ(inferConvolutionWith("", ""), "float<1x5x5x6>");
  EXPECT_EQ(inferConvolutionWith("strides", "[1]"),
            "attribute 'strides': expected 2 values, got 1");
  EXPECT_EQ(inferConvolutionWith("strides", "[1, 0]"),
            "attribute 'strides': 0 is less than 1");
  EXPECT_EQ(inferConvolutionWith("strides", "[9223372036854775807, 5]"),
            "float<1x1x1x6>");
  EXPECT_EQ(inferConvolutionWith("pads", "[0, 0]"),
            "attribute 'pads': expected 4 values, got 2");
  EXPECT_EQ(inferConvolutionWith("pads", "[0, -1, 0, 0]"),
            "attribute 'pads': -1 is less than 0");
  EXPECT_EQ(inferConvolutionWith("pads", "[9223372036854775807, 0, 1, 0]"),
            "operand 'input' (float<1x7x7x4>): pads or dilations of the "
            "height are too large");
  EXPECT_EQ(inferConvolutionWith("pads", "[0, 9000000000000000000, 0, 0]"),
            "a tensor of kind float and shape 1x5x9000000000000000005x6 is "
            "larger than "
            "1099511627776 bytes");
  EXPECT_EQ(inferConvolutionWith("dilations", "[1, 4]"),
            "operand 'input' (float<1x7x7x4>): a kernel of width 3 does not "
            "fit 7 with pads 0 and 0 and dilation 4");
  EXPECT_EQ(inferConvolutionWith("dilations", "[9223372036854775807, 1]"),
            "operand 'input' (float<1x7x7x4>): pads or dilations of the "
            "height are too large");
  EXPECT_EQ(inferConvolutionWith("dilations", "[0, 1]"),
            "attribute 'dilations': 0 is less than 1");
  EXPECT_EQ(inferConvolutionWith("group", "0"),
            "attribute 'group': 0 is less than 1");
  EXPECT_EQ(inferConvolutionWith("group", "-9223372036854775808"),
            "attribute 'group': -9223372036854775808 is less than 1");
}

TEST(TypeRules, Epilogue) {
  EXPECT_TYPE("MatMul(float<3x7>, float<7x5>, float<5>, float<3x1>) {epilogue "
              "= {v3:float = Add(v0, v1); v4:float = Mul(v3, v2)}} -> "
              "float<3x5>",
              "float<3x5>");
  EXPECT_TYPE("MatMul(float<3x7>, float<7x5>, float<5>) {epilogue = "
              "{v2:bool = Less(v0, v1)}} -> float<3x5>",
              "bool<3x5>");
  EXPECT_TYPE("MatMul(float<3x7>, float<7x5>, float<4>) -> float<3x5>",
              "operand 'fused[0]' (float<4>): does not broadcast to 3x5");
  EXPECT_TYPE("MatMul(float<3x7>, float<7x5>, float<1>, float<1x1x1>) -> "
              "float<3x5>",
              "operand 'fused[1]' (float<1x1x1>): does not broadcast to 3x5");
  EXPECT_TYPE("MatMul(float<3x7>, float<7x5>, int8<5>) {epilogue = "
              "{v2:float = Add(v0, v1)}} -> float<3x5>",
              "attribute 'epilogue': v2 = Add: v1 is int8, expected float as "
              "v0 is");
  EXPECT_TYPE("MatMul(float<3x7>, float<7x5>) {epilogue = "
              "{v1:float = Add(v0, v1)}} -> float<3x5>",
              "attribute 'epilogue': v1 = Add: v1 is not an earlier value");
  EXPECT_TYPE(std::string("Convolution(float<3x7x17x4>, float<6x3x2x2>, none, "
                          "float<3x4x17x6>) ") +
                  "{strides = [2, 1], pads = [1, 0, 1, 2], dilations = "
                  "[1, 2], group = 2, epilogue = {v2:float = Max(v0, v1)}} -> "
                  "float<3x4x17x6>",
              "float<3x4x17x6>");
}

//===- Matmuls ------------------------------------------------------------===//

TEST(TypeRules, MatMul) {
  EXPECT_TYPE("MatMul(float<3x7>, float<7x17>)", "float<3x17>");
  EXPECT_TYPE("MatMul(int32<5x1x3x7>, int32<4x7x2>)", "int32<5x4x3x2>");
  EXPECT_TYPE("MatMul(float<3x0>, float<0x5>)", "float<3x5>");
  EXPECT_TYPE("MatMul(float<0x7>, float<7x5>) -> float<0x5>", "float<0x5>");
  EXPECT_TYPE("MatMul(float<7>, float<7x5>)",
              "operand 'lhs' (float<7>): expected at least rank 2");
  EXPECT_TYPE("MatMul(float<3x7>, float<7>)",
              "operand 'rhs' (float<7>): expected at least rank 2");
  EXPECT_TYPE("MatMul(float<3x7>, float<3x7>)",
              "operand 'rhs' (float<3x7>): expected 7 rows, as many as lhs has "
              "columns");
  EXPECT_TYPE("MatMul(float<2x3x7>, float<3x7x5>)",
              "operand 'rhs' (float<3x7x5>): leading dimensions: shapes 2 and "
              "3 do not broadcast");
  EXPECT_TYPE("MatMul(bool<3x7>, bool<7x5>)",
              "operand 'lhs' (bool<3x7>): expected a float or integer kind");
  EXPECT_TYPE("MatMul(float<3x7>, float16<7x5>)",
              "operand 'rhs' (float16<7x5>): expected kind float");
  EXPECT_TYPE("MatMul(float<1048576x1>, float<1x1048576>)",
              "a tensor of kind float and shape 1048576x1048576 is larger than "
              "1099511627776 bytes");
}

TEST(TypeRules, MatMulNBits) {
  EXPECT_TYPE(
      "MatMulNBits(float<3x7>, int8<7x17>, float<1x17>, none, none) {block = "
      "7}",
      "float<3x17>");
  EXPECT_TYPE("MatMulNBits(float16<2x1x33>, uint4<33x5>, float<3x5>, "
              "uint4<3x5>, none) {block = 16}",
              "float16<2x1x5>");
  EXPECT_TYPE(
      "MatMulNBits(float<3x0>, int4<0x5>, float<0x5>, none, none) {block = "
      "32}",
      "float<3x5>");
  EXPECT_TYPE(
      "MatMulNBits(double<3x7>, int8<7x5>, float<1x5>, none, none) {block = "
      "7}",
      "operand 'lhs' (double<3x7>): expected kind float, float16 or "
      "bfloat16");
  EXPECT_TYPE(
      "MatMulNBits(float<3x7>, int2<7x5>, float<1x5>, none, none) {block = "
      "7}",
      "operand 'rhs' (int2<7x5>): expected kind int8, uint8, int4 or "
      "uint4");
  EXPECT_TYPE(
      "MatMulNBits(float<3x7>, int8<2x7x5>, float<1x5>, none, none) {block "
      "= 7}",
      "operand 'rhs' (int8<2x7x5>): expected rank 2");
  EXPECT_TYPE(
      "MatMulNBits(float<3x7>, int8<8x5>, float<1x5>, none, none) {block = "
      "8}",
      "operand 'rhs' (int8<8x5>): expected 7 rows, as many as lhs has "
      "columns");
  EXPECT_TYPE(
      "MatMulNBits(float<3x7>, int8<7x5>, float<1x5>, none, none) {block = "
      "3}",
      "operand 'scales' (float<1x5>): expected kind float and shape "
      "3x5");
  EXPECT_TYPE(
      "MatMulNBits(float<3x7>, int4<7x5>, float<1x5>, uint4<1x5>, none) "
      "{block = 7}",
      "operand 'zeroPoints' (uint4<1x5>): expected kind int4 and shape "
      "1x5");
  EXPECT_TYPE(
      "MatMulNBits(float<3x7>, int4<7x5>, float<1x5>, none, none) {block = "
      "0}",
      "attribute 'block': expected at least 1");
  EXPECT_EQ(infer("MatMulNBits(int8<2x3x16>, int4<16x5>, float<2x5>, none, "
                  "float<2x3x2>) {block = 8}"),
            "float<2x3x5>");
  EXPECT_EQ(infer("MatMulNBits(int8<3x16>, int4<16x5>, float<2x5>, none, none) "
                  "{block = 8}"),
            "operand 'lhs' (int8<3x16>): expected kind float, float16 or "
            "bfloat16");
  EXPECT_EQ(infer("MatMulNBits(float<3x16>, int4<16x5>, float<2x5>, none, "
                  "float<3x2>) {block = 8}"),
            "operand 'lhs' (float<3x16>): expected kind int8, as it has "
            "scales");
  EXPECT_EQ(infer("MatMulNBits(int8<3x16>, int4<16x5>, float<2x5>, none, "
                  "float<2x3>) {block = 8}"),
            "operand 'lhsScales' (float<2x3>): expected kind float and shape "
            "3x2");
}

TEST(TypeRules, FullyConnected) {
  EXPECT_TYPE("FullyConnected(float<3x7>, float<7x5>, float<5>)", "float<3x5>");
  EXPECT_TYPE("FullyConnected(float<3x7>, float<6x5>, float<5>)",
              "operand 'weights' (float<6x5>): expected 7 rows, as many as "
              "input has columns");
  EXPECT_TYPE("FullyConnected(float<3x7>, float<7x5>, float<1x5>)",
              "operand 'bias' (float<1x5>): expected kind float and shape 5");
  EXPECT_TYPE("FullyConnected(float<3x7x1>, float<7x5>, float<5>)",
              "operand 'input' (float<3x7x1>): expected rank 2");
}

//===- Pooling ------------------------------------------------------------===//

TEST(TypeRules, Pooling) {
  std::string attrs = "{kernels = [3, 2], strides = [2, 2], pads = [1, 0, 1, "
                      "1], dilations = [1, 1]";
  EXPECT_TYPE("MaxPool(uint8<3x7x17x5>)" + attrs + "}", "uint8<3x4x9x5>");
  EXPECT_TYPE("MaxPool(float<1x1x1x1>)" + attrs + "} -> float<1x1x1x1>",
              "float<1x1x1x1>");
  EXPECT_TYPE("AvgPool(float<3x7x17x5>)" + attrs + ", countIncludePads = true}",
              "float<3x4x9x5>");
  EXPECT_TYPE("MaxPool(bool<3x7x17x5>)" + attrs + "}",
              "operand 'input' (bool<3x7x17x5>): expected a float or integer "
              "kind");
  EXPECT_TYPE("AvgPool(int8<3x7x17x5>)" + attrs + ", countIncludePads = true}",
              "operand 'input' (int8<3x7x17x5>): expected a float kind");
  EXPECT_TYPE("MaxPool(float<3x7x17>)" + attrs + "}",
              "operand 'input' (float<3x7x17>): expected rank 4");
  EXPECT_TYPE("MaxPool(float<3x0x17x5>)" + attrs + "}",
              "operand 'input' (float<3x0x17x5>): a kernel of height 3 does "
              "not fit 0 with pads 1 and 1 and dilation 1");
  EXPECT_TYPE("MaxPool(float<1x7x7x1>) {kernels = [3, 0], strides = [1, 1], "
              "pads = [0, 0, 0, 0], dilations = [1, 1]}",
              "attribute 'kernels': 0 is less than 1");
}

TEST(TypeRules, PoolingGradients) {
  std::string attrs = "kernels = [3, 2], strides = [2, 2], pads = [1, 0, 1, "
                      "1], dilations = [1, 1]";
  std::string max = " {" + attrs + "}";
  EXPECT_TYPE("MaxPoolGradient(float<3x7x17x5>, float<3x4x9x5>)" + max,
              "float<3x7x17x5>");
  EXPECT_TYPE("MaxPoolGradient(uint8<3x7x17x5>, uint8<3x4x9x5>)" + max,
              "operand 'input' (uint8<3x7x17x5>): expected a float kind");
  EXPECT_TYPE("MaxPoolGradient(float<3x7x17x5>, float16<3x4x9x5>)" + max,
              "operand 'gradient' (float16<3x4x9x5>): expected kind float and "
              "shape 3x4x9x5");
  EXPECT_TYPE("MaxPoolGradient(float<3x7x17x5>, float<3x4x9x6>)" + max,
              "operand 'gradient' (float<3x4x9x6>): expected kind float and "
              "shape 3x4x9x5");
  EXPECT_TYPE("MaxPoolGradient(float<3x0x17x5>, float<3x4x9x5>)" + max,
              "operand 'input' (float<3x0x17x5>): a kernel of height 3 does "
              "not fit 0 with pads 1 and 1 and dilation 1");
  auto inferAverage = [&](const char *gradient, const char *sizes) {
    return infer(std::string("AvgPoolGradient(") + gradient + ") {sizes = " +
                 sizes + ", " + attrs + ", countIncludePads = false}");
  };
  EXPECT_EQ(inferAverage("float16<3x4x9x5>", "[7, 17]"), "float16<3x7x17x5>");
  EXPECT_EQ(inferAverage("float<3x4x9x5>", "[8, 18]"), "float<3x8x18x5>");
  EXPECT_EQ(inferAverage("float<3x4x9x5>", "[9, 17]"),
            "operand 'gradient' (float<3x4x9x5>): expected kind float and "
            "shape 3x5x9x5");
  EXPECT_EQ(inferAverage("float<3x4x9x5>", "[7]"),
            "attribute 'sizes': expected 2 values, got 1");
  EXPECT_EQ(inferAverage("float<3x4x9x5>", "[7, -1]"),
            "attribute 'sizes': -1 is less than 0");
  EXPECT_EQ(inferAverage("int8<3x4x9x5>", "[7, 17]"),
            "operand 'gradient' (int8<3x4x9x5>): expected a float kind");
  EXPECT_EQ(inferAverage("float<3x4x9>", "[7, 17]"),
            "operand 'gradient' (float<3x4x9>): expected rank 4");
}

TEST(TypeRules, GlobalPool) {
  EXPECT_TYPE("GlobalAvgPool(float<3x7x17x5>)", "float<3x1x1x5>");
  EXPECT_TYPE("GlobalMaxPool(bfloat16<0x7x17x5>)", "bfloat16<0x1x1x5>");
  EXPECT_TYPE("GlobalMaxPool(float<3x7x0x5>)",
              "operand 'input' (float<3x7x0x5>): the images have no pixels");
  EXPECT_TYPE("GlobalAvgPool(int8<3x7x7x5>)",
              "operand 'input' (int8<3x7x7x5>): expected a float kind");
  EXPECT_TYPE("GlobalAvgPool(float<7x7x5>)",
              "operand 'input' (float<7x7x5>): expected rank 4");
}

TEST(TypeRules, Resize) {
  auto resize = [](llvm::StringRef type, llvm::StringRef sizes,
                   llvm::StringRef scale, llvm::StringRef mode) {
    return infer("Resize(" + type + ") {sizes = " + sizes +
                 ", scaleH = " + scale + ", scaleW = 2.0, mode = \"" + mode +
                 "\", coordinates = \"half_pixel\", nearestMode = "
                 "\"floor\"}");
  };
  EXPECT_EQ(resize("float<3x7x17x5>", "[17, 34]", "2.5", "linear"),
            "float<3x17x34x5>");
  EXPECT_EQ(resize("uint8<0x7x17x5>", "[3, 34]", "0.5", "nearest"),
            "uint8<0x3x34x5>");
  EXPECT_EQ(resize("uint8<1x7x17x5>", "[14, 34]", "2.0", "linear"),
            "operand 'input' (uint8<1x7x17x5>): expected a float kind");
  EXPECT_EQ(resize("bool<1x7x17x5>", "[14, 34]", "2.0", "nearest"),
            "operand 'input' (bool<1x7x17x5>): expected a float or integer "
            "kind");
  EXPECT_EQ(resize("float<7x17x5>", "[14, 34]", "2.0", "nearest"),
            "operand 'input' (float<7x17x5>): expected rank 4");
  EXPECT_EQ(resize("float<1x0x17x5>", "[14, 34]", "2.0", "nearest"),
            "operand 'input' (float<1x0x17x5>): the images have no pixels");
  EXPECT_EQ(resize("float<1x7x17x5>", "[0, 34]", "2.0", "nearest"),
            "attribute 'sizes': 0 is less than 1");
  EXPECT_EQ(resize("float<1x7x17x5>", "[14]", "2.0", "nearest"),
            "attribute 'sizes': expected 2 values, got 1");
  EXPECT_EQ(resize("float<1x7x17x5>", "[14, 34]", "3.0", "nearest"),
            "attribute 'scaleH': 3.0 does not take 7 to 14");
  EXPECT_EQ(resize("float<1x7x17x5>", "[1, 34]", "0.001", "nearest"),
            "attribute 'scaleH': 0.001 does not take 7 to 1");
  for (const char *scale : {"nan", "inf", "-2.0", "0.0", "1e-300"})
    EXPECT_TRUE(
        llvm::StringRef(resize("float<1x7x17x5>", "[1, 34]", scale, "nearest"))
            .starts_with("attribute 'scaleH': "))
        << scale;
  EXPECT_EQ(resize("float<1x7x17x5>", "[14, 34]", "2.0", "cubic"),
            "attribute 'mode': 'cubic' is not one of nearest, linear");
}

//===- Normalization and reduction ----------------------------------------===//

TEST(TypeRules, BatchNormalization) {
  auto normalize = [](llvm::StringRef input, llvm::StringRef variance,
                      llvm::StringRef attrs) {
    return infer("BatchNormalization(" + input +
                 ", float<5>, float<5>, "
                 "float<5>, " +
                 variance + ") {" + attrs + "}");
  };
  EXPECT_EQ(normalize("float<3x5x7>", "float<5>", "axis = 1, epsilon = 1e-05"),
            "float<3x5x7>");
  EXPECT_EQ(normalize("float<3x5x7>", "float<7>", "axis = 1, epsilon = 1e-05"),
            "operand 'variance' (float<7>): expected kind float and shape 5");
  EXPECT_EQ(normalize("float<3x5x7>", "float<5>", "axis = 3, epsilon = 1e-05"),
            "attribute 'axis': 3 is not a dimension of rank 3");
  for (const char *epsilon : {"-1.0", "nan"})
    EXPECT_EQ(normalize("float<3x5x7>", "float<5>",
                        std::string("axis = 1, epsilon = ") + epsilon),
              "attribute 'epsilon': expected a number that is not negative");
  EXPECT_EQ(normalize("int8<3x5x7>", "float<5>", "axis = 1, epsilon = 1e-05"),
            "operand 'input' (int8<3x5x7>): expected a float kind");
}

TEST(TypeRules, LocalResponseNormalization) {
  std::string attrs = ", alpha = 0.0001, beta = 0.75, bias = 1.0}";
  EXPECT_TYPE("LocalResponseNormalization(float<1x3x3x17>) {size = 5" + attrs,
              "float<1x3x3x17>");
  EXPECT_TYPE("LocalResponseNormalization(float<1x3x3x17>) {size = 0" + attrs,
              "attribute 'size': 0 is less than 1");
  EXPECT_TYPE("LocalResponseNormalization(float<>) {size = 5" + attrs,
              "operand 'input' (float<>): expected at least rank 1");
}

TEST(TypeRules, Loss) {
  const std::string softmax = "{loss = \"softmax-cross-entropy\"}",
                    huber = "{loss = \"huber\", delta = ";
  EXPECT_TYPE("Loss(float<3x7>, int64<3>) " + softmax, "float<3x7>");
  EXPECT_TYPE("Loss(double<3x7x5>, int32<3x7>) " + softmax, "double<3x7x5>");
  EXPECT_TYPE("Loss(float<3x7x5>, int64<3x5>) " + softmax, "float<3x7x5>");
  EXPECT_TYPE("Loss(float<3x7>, float<3x7>) " + softmax, "float<3x7>");
  EXPECT_TYPE("Loss(float16<3>, float16<3>) " + huber + "0.5}", "float16<3>");
  EXPECT_TYPE("Loss(float<3x7>, int64<7>) " + softmax,
              "operand 'expected' (int64<7>): expected kind int64 and shape 3");
  EXPECT_TYPE(
      "Loss(float<3x7x5>, int64<7x5>) " + softmax,
      "operand 'expected' (int64<7x5>): expected kind int64 and shape 3x7");
  EXPECT_TYPE("Loss(float<>, int64<>) " + softmax,
              "operand 'input' (float<>): expected at least rank 1");
  EXPECT_TYPE(
      "Loss(float<3x7>, uint8<3>) " + softmax,
      "operand 'expected' (uint8<3>): expected kind float and shape 3x7");
  EXPECT_TYPE(
      "Loss(float<3x7>, int64<3>) {loss = \"l1\"}",
      "operand 'expected' (int64<3>): expected kind float and shape 3x7");
  EXPECT_TYPE(
      "Loss(float<3>, double<3>) {loss = \"mean-squared-error\"}",
      "operand 'expected' (double<3>): expected kind float and shape 3");
  EXPECT_TYPE("Loss(int32<3>, int32<3>) {loss = \"l1\"}",
              "operand 'input' (int32<3>): expected a float kind");
  EXPECT_TYPE("Loss(float<3>, float<3>) " + huber + "0.0}",
              "attribute 'delta': expected a number greater than 0");
}

TEST(TypeRules, Softmax) {
  EXPECT_TYPE("Softmax(float<3x7>) {axis = 0}", "float<3x7>");
  EXPECT_TYPE("LogSoftmax(float<3x0>) {axis = 1}", "float<3x0>");
  EXPECT_TYPE("Softmax(float<3x7>) {axis = 1} -> float<3x7>", "float<3x7>");
  EXPECT_TYPE("Softmax(float<3x7>) {axis = 0} -> float<3x7>",
              "attribute 'axis': 0 is not the last dimension, which alone the "
              "instruction takes");
  EXPECT_TYPE("Softmax(float<>) {axis = 0}",
              "attribute 'axis': 0 is not a dimension of rank 0");
  EXPECT_TYPE("Softmax(float<3>) {axis = -1}",
              "attribute 'axis': -1 is not a dimension of rank 1");
  EXPECT_TYPE("Softmax(int32<3>) {axis = 0}",
              "operand 'input' (int32<3>): expected a float kind");
}

TEST(TypeRules, Reduce) {
  auto reduce = [](llvm::StringRef type, llvm::StringRef mode,
                   llvm::StringRef axes, llvm::StringRef keep) {
    return infer("Reduce(" + type + ") {mode = \"" + mode +
                 "\", axes = " + axes + ", keepDims = " + keep + "}");
  };
  EXPECT_EQ(reduce("float<3x7x17>", "mean", "[0, 2]", "false"), "float<7>");
  EXPECT_EQ(reduce("float<3x7x17>", "mean", "[0, 2]", "true"), "float<1x7x1>");
  EXPECT_EQ(reduce("int64<3x7>", "sum", "[0, 1]", "false"), "int64<>");
  EXPECT_EQ(reduce("int64<3x7>", "max", "[]", "false"), "int64<3x7>");
  EXPECT_EQ(reduce("float<3x0>", "sum", "[1]", "false"), "float<3>");
  EXPECT_EQ(reduce("float<0x3>", "prod", "[0]", "true"), "float<1x3>");
  EXPECT_EQ(reduce("float<3x0>", "mean", "[0]", "false"), "float<0>");
  for (const char *mode : {"mean", "max", "min"})
    EXPECT_EQ(reduce("float<3x0>", mode, "[1]", "false"), "float<3>");
  EXPECT_EQ(reduce("int32<3x0>", "max", "[1]", "false"), "int32<3>");
  EXPECT_EQ(reduce("int64<3x0>", "mean", "[1]", "false"),
            "operand 'input' (int64<3x0>): there is no mean of no integers, "
            "along dimension 1");
  EXPECT_EQ(reduce("float<3x7>", "sum", "[1, 0]", "false"),
            "attribute 'axes': 0 does not ascend");
  EXPECT_EQ(reduce("float<3x7>", "sum", "[1, 1]", "false"),
            "attribute 'axes': 1 does not ascend");
  EXPECT_EQ(reduce("float<3x7>", "sum", "[2]", "false"),
            "attribute 'axes': 2 is not a dimension of rank 2");
  EXPECT_EQ(reduce("bool<3x7>", "max", "[1]", "false"),
            "operand 'input' (bool<3x7>): expected a float or integer kind");
  EXPECT_EQ(reduce("float<3x7>", "median", "[1]", "false"),
            "attribute 'mode': 'median' is not one of sum, mean, max, min, "
            "prod");
}

TEST(TypeRules, AllReduce) {
  EXPECT_EQ(infer("AllReduce(float<3x7>)"), "float<3x7>");
  EXPECT_EQ(infer("AllReduce(double<>)"), "double<>");
  EXPECT_EQ(infer("AllReduce(float<0>)"), "float<0>");
  for (const char *kind : {"float16", "bfloat16", "int32", "int64"})
    EXPECT_EQ(infer("AllReduce(" + std::string(kind) + "<3>)"),
              "operand 'input' (" + std::string(kind) +
                  "<3>): expected float or double");
}

TEST(TypeRules, CumSum) {
  auto cumSum = [](llvm::StringRef type, llvm::StringRef axis) {
    return infer("CumSum(" + type + ") {axis = " + axis +
                 ", exclusive = false, reverse = true}");
  };
  EXPECT_EQ(cumSum("float16<3x7>", "1"), "float16<3x7>");
  EXPECT_EQ(cumSum("uint8<0x7>", "0"), "uint8<0x7>");
  EXPECT_EQ(cumSum("bool<7>", "0"),
            "operand 'input' (bool<7>): expected a float or integer kind");
  EXPECT_EQ(cumSum("float<>", "0"),
            "attribute 'axis': 0 is not a dimension of rank 0");
}

TEST(TypeRules, ArgMax) {
  auto argMax = [](llvm::StringRef type, llvm::StringRef axis,
                   llvm::StringRef keep) {
    return infer("ArgMax(" + type + ") {axis = " + axis +
                 ", keepDims = " + keep + ", selectLast = false}");
  };
  EXPECT_EQ(argMax("float<3x7x17>", "1", "false"), "int64<3x17>");
  EXPECT_EQ(argMax("uint8<3x7x17>", "1", "true"), "int64<3x1x17>");
  EXPECT_EQ(argMax("float<0x7>", "1", "false"), "int64<0>");
  EXPECT_EQ(argMax("float<0x7>", "0", "false"),
            "operand 'input' (float<0x7>): there is no largest element of "
            "nothing along dimension 0");
  EXPECT_EQ(argMax("float<3x7>", "2", "false"),
            "attribute 'axis': 2 is not a dimension of rank 2");
}

//===- Storage ------------------------------------------------------------===//

TEST(TypeRules, Save) {
  EXPECT_TYPE("Save(float<3>, float<3>)", "");
  EXPECT_TYPE("Save(float<3>, float<1x3>)",
              "operand 'output' (float<1x3>): expected the input's type "
              "float<3>");
  EXPECT_TYPE("Save(float<3>, double<3>)",
              "operand 'output' (double<3>): expected the input's type "
              "float<3>");
}

TEST(TypeRules, SplatAndFill) {
  auto splat = [](llvm::StringRef kind, llvm::StringRef shape,
                  llvm::StringRef value) {
    return infer("Splat() {elemKind = " + kind + ", shape = " + shape +
                 ", value = " + value + "}");
  };
  EXPECT_EQ(splat("float", "[3, 0]", "0.1"), "float<3x0>");
  EXPECT_EQ(splat("float16", "[]", "nan"), "float16<>");
  EXPECT_EQ(splat("bool", "[3]", "1.0"), "bool<3>");
  EXPECT_EQ(splat("int8", "[1]", "-128.0"), "int8<1>");
  EXPECT_EQ(splat("int64", "[1]", "-9223372036854775808.0"), "int64<1>");
  EXPECT_EQ(splat("int64", "[1]", "9223372036854775808.0").substr(0, 19),
            "attribute 'value': ");
  EXPECT_EQ(splat("uint64", "[1]", "9223372036854775808.0"), "uint64<1>");
  EXPECT_EQ(splat("int8", "[1]", "128.0"),
            "attribute 'value': 128.0 is not a value of kind int8");
  EXPECT_EQ(splat("int8", "[1]", "0.5"),
            "attribute 'value': 0.5 is not a value of kind int8");
  EXPECT_EQ(splat("uint8", "[1]", "-1.0"),
            "attribute 'value': -1.0 is not a value of kind uint8");
  EXPECT_NE(splat("int8", "[1]", "nan"), "int8<1>");
  EXPECT_NE(splat("int8", "[1]", "inf"), "int8<1>");
  EXPECT_NE(splat("bool", "[1]", "2.0"), "bool<1>");
  EXPECT_EQ(splat("float", "[-1]", "0.0"),
            "attribute 'shape': shape -1 has a negative extent");
  EXPECT_EQ(splat("int8q", "[1]", "0.0"),
            "attribute 'elemKind': int8q is quantized, and there are no "
            "scales");
  EXPECT_TYPE("Fill() {value = 3.0} -> int8q<7, scale 0.5 offset 1>",
              "int8q<7, scale 0.5 offset 1>");
  EXPECT_TYPE("Fill() {value = 300.0} -> int8<7>",
              "attribute 'value': 300.0 is not a value of kind int8");
  EXPECT_TYPE("Copy(int8q<7x0, scale 0.5 offset 1>) -> float<1>",
              "int8q<7x0, scale 0.5 offset 1>");
}

TEST(TypeRules, Structure) {
  EXPECT_TYPE("Add(float<3>)", "takes 2 operands, got 1");
  EXPECT_TYPE("Relu(float<3>, float<3>)", "takes 1 operand, got 2");
  EXPECT_TYPE("Add(none, float<3>)", "operand 'x' is missing");
  EXPECT_TYPE("MatMul(float<3x3>)", "takes 2 operands, got 1");
  EXPECT_TYPE("MatMul(float<3x3>) -> float<3x3>",
              "takes at least 3 operands, got 2");
  EXPECT_TYPE("MatMul(float<3x3>, float<3x3>, none) -> float<3x3>",
              "operand 'fused[0]' is missing");
  EXPECT_TYPE(llvm::Twine("Softmax(float<3>) {axis = ") + most + "}",
              std::string("attribute 'axis': ") + most +
                  " is not a dimension of rank 1");
}

} // namespace
