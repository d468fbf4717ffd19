//===- TypeRulesBoundsTest.cpp - The last values that are accepted --------===//

#include "InferTypes.h"
#include "Messages.h"
#include "gtest/gtest.h"

using namespace glowish;

namespace {

TEST(TypeRulesBounds, NumbersOfFourBits) {
  EXPECT_TYPE("Splat() {elemKind = int4, shape = [2], value = 7.0}", "int4<2>");
  EXPECT_TYPE("Splat() {elemKind = int4, shape = [2], value = -8.0}",
              "int4<2>");
  EXPECT_TYPE("Splat() {elemKind = uint4, shape = [2], value = 15.0}",
              "uint4<2>");
  EXPECT_TYPE("Splat() {elemKind = int4, shape = [2], value = 8.0}",
              "attribute 'value': 8.0 is not a value of kind int4");
}

TEST(TypeRulesBounds, SlicesTakeTheScalesOfDimension0) {
  EXPECT_TYPE("Slice(int8q<3x2, axis 0 scale [0.5, 0.25, 2] offset [1, 0, "
              "-1]>) {starts = [1, 0], sizes = [2, 1], steps = [1, 1]}",
              "int8q<2x1, axis 0 scale [0.25, 2] offset [0, -1]>");
}

TEST(TypeRulesBounds, AnUpdatedValueHasOneScale) {
  EXPECT_TYPE("DynamicUpdateSlice(int8q<2x2, axis 1 scale [0.5, 2] offset [1, "
              "0]>, int8q<1x2, scale 1.0 offset 0>, int64<>) {axis = 0}",
              "operand 'input' (int8q<2x2, axis 1 scale [0.5, 2] offset [1, "
              "0]>): expected one scale for the whole tensor");
}

TEST(TypeRulesBounds, EpsilonsAreNotNegative) {
  for (const char *epsilon : {"-1.0", "nan"})
    EXPECT_TYPE(
        llvm::formatv(
            "LayerNormalization(float<3x5>, none, none) {{axis = 1, epsilon "
            "= {0}, subtractMean = true}",
            epsilon)
            .str(),
        "attribute 'epsilon': expected a number that is not negative");
}

TEST(TypeRulesBounds, WindowsAreWithinThePads) {
  EXPECT_TYPE("MaxPool(float<1x9x3x1>) {kernels = [2, 12], strides = [1, 1], "
              "pads = [1, 5, 0, 2], dilations = [1, 1]}",
              "operand 'input' (float<1x9x3x1>): a kernel of width 12 does not "
              "fit 3 with pads 5 and 2 and dilation 1");
}

TEST(TypeRulesBounds, TransposedConvolutionsHaveAKernel) {
  for (const char *kernel : {"0x2", "2x0"})
    EXPECT_TYPE(
        llvm::formatv("ConvTranspose(float<1x3x3x2>, float<2x{0}x4>, none) "
                      "{{strides = [1, 1], pads = [0, 0, 0, 0], outputPads = "
                      "[0, 0], dilations = [1, 1], group = 1}",
                      kernel)
            .str(),
        llvm::formatv("operand 'filter' (float<2x{0}x4>): the kernel has no "
                      "elements",
                      kernel)
            .str());
}

TEST(TypeRulesBounds, TransposedConvolutionsHaveFewPhases) {
  auto inferOf = [](llvm::StringRef filter, llvm::StringRef strides) {
    return infer(
        llvm::formatv("ConvTranspose(float<1x1x1x1>, float<1x{0}x1>, none) "
                      "{{strides = [{1}], pads = [0, 0, 0, 0], outputPads = "
                      "[0, 0], dilations = [1, 1], group = 1}",
                      filter, strides)
            .str());
  };
  EXPECT_EQ(inferOf("64x64", "100000, 64"), "float<1x64x64x1>");
  EXPECT_EQ(inferOf("64x65", "64, 100000"),
            "attribute 'strides': 64 x 100000 of a kernel of 64 x 65 make 64 x "
            "65 convolutions; accepted: 4096 altogether");
  EXPECT_EQ(inferOf("4097x1", "4097, 1"),
            "attribute 'strides': 4097 x 1 of a kernel of 4097 x 1 make 4097 x "
            "1 convolutions; accepted: 4096 altogether");
}

TEST(TypeRulesBounds, TransposedConvolutionsAreCutFromATensor) {
  auto inferOf = [](int64_t stride) {
    return infer(
        llvm::formatv("ConvTranspose(float<1x2x100x1>, float<1x1x1x1>, none) "
                      "{{strides = [{0}, 1], pads = [0, 0, 0, 0], outputPads = "
                      "[0, 0], dilations = [1, 1], group = 1}",
                      stride)
            .str());
  };
  EXPECT_EQ(inferOf(1073741824), "float<1x1073741825x100x1>");
  EXPECT_EQ(inferOf(2147483648),
            "attribute 'strides': with whole strides, a tensor of kind float "
            "and shape 1x4294967296x100x1 is larger than 1099511627776 bytes");
}

TEST(TypeRulesBounds, WindowsOfTransposedConvolutionsAreBounded) {
  auto inferOf = [](int64_t dilation, int64_t outputPad) {
    return infer(
        llvm::formatv("ConvTranspose(float<1x1x1x1>, float<1x2x1x1>, none) "
                      "{{strides = [1, 1], pads = [0, 0, 0, 0], outputPads = "
                      "[{1}, 0], dilations = [{0}, 1], group = 1}",
                      dilation, outputPad)
            .str());
  };
  EXPECT_EQ(inferOf(5, 0), "float<1x6x1x1>");
  constexpr int64_t most = int64_t(1) << 31;
  EXPECT_EQ(inferOf(most, most), "float<1x4294967297x1x1>");
  for (auto [dilation, pad] :
       {std::pair(INT64_MAX, int64_t(0)), std::pair(most + 1, most),
        std::pair(INT64_MAX - 1, INT64_MAX - 2),
        std::pair(int64_t(3), INT64_MAX)})
    EXPECT_THAT(inferOf(dilation, pad),
                testing::HasSubstr(" is more than 2147483648"));
}

TEST(TypeRulesBounds, ANumberDoesNotEndWithAPoint) {
  EXPECT_NE(infer("Splat() {elemKind = float, shape = [1], value = 1.}"),
            "float<1>");
  EXPECT_TYPE("Splat() {elemKind = float, shape = [1], value = 1.0}",
              "float<1>");
}

TEST(TypeRulesBounds, BodiesAreThere) {
  const OpInfo &info = getNodeInfo(NodeKind::If);
  std::vector<AttrValue> attrs = getDefaultAttrs(info);
  EXPECT_EQ(getMessage(checkStructure(info, {true}, attrs)),
            "attribute 'thenBody' is missing");
}

/// Indices of nothing are those of no operand.
TEST(TypeRulesBounds, EmptyReshapesAreNotFollowed) {
  const OpInfo &info = getNodeInfo(NodeKind::Reshape);
  auto follows = [&](Type from, Type to) {
    std::vector<AttrValue> attrs = {std::vector<int64_t>(to.getShape())};
    std::vector<const Type *> inputs = {&from};
    return info.followAxis(OpView(info, inputs, {}, attrs), to, 0).has_value();
  };
  Type split(ElemKind::Float, {3, 2}), joined(ElemKind::Float, {6});
  EXPECT_TRUE(follows(joined, split));
  EXPECT_FALSE(
      follows(Type(ElemKind::Float, {0, 3}), Type(ElemKind::Float, {3, 0})));
}

TEST(TypeRulesBounds, StepsAreTheSameInAllParts) {
  ScalarStep step = {ScalarOp::Clip, {0}, {0.0, 6.0}, ElemKind::Float};
  EXPECT_TRUE(step == step);
  auto differs = [&](auto change) {
    ScalarStep other = step;
    change(other);
    return !(step == other);
  };
  EXPECT_TRUE(differs([](ScalarStep &s) { s.op = ScalarOp::LeakyRelu; }));
  EXPECT_TRUE(differs([](ScalarStep &s) { s.args = {1}; }));
  EXPECT_TRUE(differs([](ScalarStep &s) { s.kind = ElemKind::Double; }));
  EXPECT_TRUE(differs([](ScalarStep &s) { s.params[0] = -0.0; }));
}

} // namespace
