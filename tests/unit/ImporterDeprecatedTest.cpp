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

TEST(ImporterRemoved, ConstantFill) {
  auto fill = [&](std::vector<std::string> inputs, std::string attributes) {
    TextModel model = oneNode("ConstantFill", std::move(inputs), attributes, 1,
                              {{"x", {2, 1}}});
    model.body += int64s("shape", {3});
    return runText(std::move(model));
  };
  EXPECT_EQ(fill({}, intsAttr("shape", {2}) + floatAttr("value", 1.5)),
            "float<2>: 1.50 1.50");
  EXPECT_EQ(fill({"x"}, floatAttr("value", 2) + intAttr("dtype", 7)),
            "int64<2x1>: 2 2");
  EXPECT_EQ(fill({"shape"},
                 intAttr("input_as_shape", 1) + intsAttr("extra_shape", {1})),
            "float<3x1>: 0 0 0");
  EXPECT_THAT(
      oneNode("ConstantFill", {}, intsAttr("shape", {-2}), 1).importError(),
      HasSubstr("-2"));
}

/// Gates of 0 and 0.5 of the previous state, and of the output's activation.
TEST(ImporterRemoved, GRUUnit) {
  auto step = [](int64_t drops) {
    TextModel model = oneNode("GRUUnit", {"h", "g", "lengths", "t"},
                              intAttr("drop_states", drops), 1, {{"x", {1}}});
    model.body += floats("h", {1, 2, 1}, {4, 6}) +
                  floats("g", {1, 2, 3}, {9, 0, 100, 9, 0, 100}) +
                  floats("lengths", {2}, {3, 2}) + floats("t", {1}, {2});
    return runText(std::move(model));
  };
  // The second sequence is over.
  EXPECT_EQ(step(0), "float<1x2x1>: 2.50 6");
  EXPECT_EQ(step(1), "float<1x2x1>: 2.50 0");
  TextModel wrong = oneNode("GRUUnit", {"x", "x", "x", "x"}, "", 1);
  EXPECT_THAT(wrong.importError(), HasSubstr("accepted: the state [1, N, D]"));
}

TEST(ImporterRemoved, DynamicSlice) {
  auto slice = [](std::vector<std::string> inputs) {
    TextModel model =
        oneNode("DynamicSlice", std::move(inputs), "", 1, {{"x", {1}}});
    model.body += floats("c", {2, 3}, {1, 2, 3, 4, 5, 6}) +
                  int64s("s", {0, 1}) + int64s("e", {1, 3}) +
                  int64s("first", {1}) + int64s("last", {-1});
    return runText(std::move(model));
  };
  EXPECT_EQ(slice({"c", "s", "e"}), "float<1x2>: 2 3");
  EXPECT_EQ(slice({"c", "first", "last", "first"}), "float<2x1>: 2 5");
}

TEST(ImporterRemoved, ATenIsRefused) {
  EXPECT_THAT(
      oneNode("ATen", {"x"}, stringAttr("operator", "index"), 9).importError(),
      HasSubstr("node 'y' (ATen) of opset 9"));
}

//===- Old forms of operators ---------------------------------------------===//

/// What a node of \p opset makes of c, [1, 1, 2, 2], and other initializers.
static std::string runOld(llvm::StringRef type, std::vector<std::string> inputs,
                          std::string attributes, int opset = 1,
                          std::string more = "") {
  TextModel model = oneNode(type, std::move(inputs), std::move(attributes),
                            opset, {{"unused", {1}}});
  model.body += floats("c", {1, 1, 2, 2}, {1, 2, 3, 6}) + more;
  return runText(std::move(model));
}

TEST(ImporterRemoved, UpsampleOfOpset1) {
  std::string scales = floatAttr("height_scale", 1);
  EXPECT_EQ(runOld("Upsample", {"c"},
                   scales + floatAttr("width_scale", 2) +
                       stringAttr("mode", "nearest")),
            "float<1x1x2x4>: 1 1 2 2 3 3 6 6");
  EXPECT_THAT(oneNode("Upsample", {"x"}, scales, 1, {{"x", {1, 1, 2, 2}}})
                  .importError(),
              HasSubstr("attribute 'width_scale' is missing"));
}

/// Counts and sizes have the element kind of the data.
TEST(ImporterRemoved, FloatCounts) {
  EXPECT_EQ(runOld("Tile", {"c", "n", "axis"}, "", 1,
                   floats("n", {}, {2}) + floats("axis", {}, {3})),
            "float<1x1x2x4>: 1 2 1 2 3 6 3 6");
  EXPECT_EQ(runOld("Split", {"d", "sizes"}, intAttr("axis", 0), 1,
                   floats("d", {2}, {8, 9}) + floats("sizes", {1}, {2})),
            "float<2>: 8 9");
  TextModel half = oneNode("Split", {"x", "sizes"}, "", 1);
  half.body += floats("sizes", {1}, {1.5});
  EXPECT_THAT(half.importError(), HasSubstr("element 0 of input 1 is 1.5"));
  EXPECT_EQ(runOld("GlobalLpPool", {"c"}, floatAttr("p", 1)),
            "float<1x1x1x1>: 12");
}

TEST(ImporterRemoved, MeanWithoutVariance) {
  EXPECT_EQ(runOld("MeanVarianceNormalization", {"c"},
                   intAttr("normalize_variance", 0)),
            "float<1x1x2x2>: -2 -1 0 3");
}

/// Each element of a sample has its own statistics.
TEST(ImporterRemoved, BatchNormalizationOfElements) {
  std::string parameters = floats("scale", {1, 2, 2}, {1, 1, 2, 1}) +
                           floats("bias", {1, 2, 2}, {0, 0, 0, 1}) +
                           floats("mean", {1, 2, 2}, {1, 1, 1, 2}) +
                           floats("var", {1, 2, 2}, {1, 1, 4, 4});
  for (int opset : {6, 7})
    EXPECT_EQ(runOld("BatchNormalization",
                     {"c", "scale", "bias", "mean", "var"},
                     intAttr("spatial", 0) + floatAttr("epsilon", 0), opset,
                     parameters),
              "float<1x1x2x2>: 0 1 2 3");
}
