//===- ImporterDeprecatedTest.cpp - Operators that ONNX has no more -------===//

#include "RunText.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;

/// What a node makes of the constant c, of \p shape and \p elements.
static std::string run(llvm::StringRef type, std::string attributes,
                       std::vector<int64_t> shape,
                       std::vector<float> elements) {
  TextModel model =
      oneNode(type, {"c"}, std::move(attributes), 7, {{"unused", {1}}});
  model.body += floats("c", std::move(shape), std::move(elements));
  return runText(std::move(model));
}

static std::string floatsAttr(llvm::StringRef name, std::vector<float> values) {
  std::string text = "attribute { name: \"" + name.str() + "\" type: FLOATS ";
  for (float value : values)
    text += "floats: " + std::to_string(value) + " ";
  return text + "} ";
}

TEST(ImporterRemoved, ImageScaler) {
  EXPECT_EQ(run("ImageScaler",
                floatAttr("scale", 2) + floatsAttr("bias", {10, 20}),
                {1, 2, 1, 2}, {1, 2, 3, 4}),
            "float<1x2x1x2>: 12 14 26 28");
  EXPECT_THAT(
      oneNode("ImageScaler", {"x"}, floatsAttr("bias", {1}), 7,
              {{"x", {1, 2, 3, 3}}})
          .importError(),
      HasSubstr("'bias' has 1 elements; accepted: [N, C, H, W], and C"));
}

TEST(ImporterRemoved, Crop) {
  std::vector<float> elements = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  // Left 1, top 0, right 2, bottom 1.
  EXPECT_EQ(
      run("Crop", intsAttr("border", {1, 0, 2, 1}), {1, 1, 3, 4}, elements),
      "float<1x1x2x1>: 1 5");
  EXPECT_EQ(run("Crop",
                intsAttr("border", {2, 1, 0, 0}) + intsAttr("scale", {1, 2}),
                {1, 1, 3, 4}, elements),
            "float<1x1x1x2>: 6 7");
  for (std::vector<int64_t> border : {std::vector<int64_t>{3, 0, 2, 0},
                                      {0, -1, 0, 0},
                                      {INT64_MAX, 0, INT64_MAX, 0}})
    EXPECT_THAT(oneNode("Crop", {"x"}, intsAttr("border", border), 7,
                        {{"x", {1, 1, 3, 4}}})
                    .importError(),
                HasSubstr("is not inside the image"));
}

TEST(ImporterRemoved, Functions) {
  std::string numbers = floatAttr("alpha", 2) + floatAttr("beta", 3);
  EXPECT_EQ(run("Affine", numbers, {2}, {1, -2}), "float<2>: 5 -1");
  EXPECT_EQ(run("Scale", floatAttr("scale", 4), {2}, {1, -2}),
            "float<2>: 4 -8");
  EXPECT_EQ(run("ScaledTanh", numbers, {2}, {0, 100}), "float<2>: 0 2");
  // 2 ln(1 + e^0), and no overflow of e^300.
  EXPECT_EQ(run("ParametricSoftplus", numbers, {2}, {0, 100}),
            "float<2>: 1.39 600");
}

TEST(ImporterRemoved, GivenTensorFill) {
  std::string values = floatsAttr("values", {1, 2, 3, 4});
  auto fill = [&](std::vector<std::string> inputs, std::string attributes) {
    TextModel model = oneNode("GivenTensorFill", std::move(inputs),
                              values + attributes, 7, {{"x", {2, 2}}});
    model.body += int64s("shape", {2});
    return runText(std::move(model));
  };
  EXPECT_EQ(fill({}, intsAttr("shape", {2, 2})), "float<2x2>: 1 2 3 4");
  EXPECT_EQ(fill({"x"}, ""), "float<2x2>: 1 2 3 4");
  EXPECT_EQ(fill({"shape"},
                 intAttr("input_as_shape", 1) + intsAttr("extra_shape", {2})),
            "float<2x2>: 1 2 3 4");
  EXPECT_THAT(fill({}, intsAttr("shape", {3})),
              HasSubstr("'values' has 4 elements; accepted: those of the "
                        "shape"));
}
