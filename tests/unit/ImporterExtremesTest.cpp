//===- ImporterExtremesTest.cpp - Integers at the borders of int64_t ------===//
//
// Attributes and shapes of ONNX models whose sums and products int64_t does not
// have. Each of these was undefined behaviour.
//
//===----------------------------------------------------------------------===//

#include "OneOperator.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;

static constexpr int64_t lowest = INT64_MIN, highest = INT64_MAX;

/// What the importer says of one node over x of \p shape and of more inputs.
static std::string
errorOver(llvm::StringRef type, std::vector<int64_t> shape,
          std::string attributes = "", int opset = 13,
          std::vector<std::pair<std::string, std::vector<int64_t>>> more = {}) {
  std::vector<std::pair<std::string, std::vector<int64_t>>> inputs = {
      {"x", std::move(shape)}};
  llvm::append_range(inputs, more);
  std::vector<std::string> names;
  for (const auto &[name, ignored] : inputs)
    names.push_back(name);
  return oneNode(type, names, std::move(attributes), opset, inputs)
      .importError();
}

TEST(ImporterExtremes, AxesOfLegacyBroadcasting) {
  for (int64_t axis : {highest, highest - 1, lowest, lowest + 1})
    EXPECT_THAT(errorOver("Add", {2, 3},
                          intAttr("broadcast", 1) + intAttr("axis", axis), 6,
                          {{"c", {3}}}),
                HasSubstr("does not fit into float<2x3>"));
}

TEST(ImporterExtremes, Windows) {
  auto getError = [](std::string attributes) {
    return oneNode("Col2Im", {"x", "size", "block"}, std::move(attributes), 18,
                   {{"x", {1, 4, 4}}});
  };
  for (const char *name : {"pads", "strides", "dilations"}) {
    std::vector<int64_t> numbers(name == std::string("pads") ? 4 : 2, highest);
    TextModel model = getError(intsAttr(name, numbers));
    model.body += int64s("size", {3, 3}) + int64s("block", {2, 2});
    EXPECT_THAT(model.importError(), HasSubstr("Col2Im")) << name;
  }
  EXPECT_THAT(errorOver("ConvTranspose", {1, 1, int64_t(1) << 32, 1},
                        intsAttr("strides", {int64_t(1) << 31, 1}) +
                            stringAttr("auto_pad", "SAME_UPPER"),
                        13, {{"w", {1, 1, 1, 1}}}),
              HasSubstr("strides of 2147483648 are too large for 4294967296 "
                        "pixels"));
  EXPECT_THAT(errorOver("MaxUnpool", {1, 1, int64_t(1) << 34, 1},
                        intsAttr("kernel_shape", {1, 1}) +
                            intsAttr("strides", {int64_t(1) << 31, 1}),
                        11, {{"i", {1, 1, int64_t(1) << 34, 1}}}),
              HasSubstr("MaxUnpool"));
}

TEST(ImporterExtremes, Blocks) {
  constexpr int64_t block = INT32_MAX;
  EXPECT_THAT(errorOver("DepthToSpace", {0, 0, int64_t(1) << 36, 1},
                        intAttr("blocksize", block)),
              HasSubstr("'blocksize' 2147483647"));
  EXPECT_THAT(errorOver("SpaceToDepth", {0, int64_t(1) << 36, 0, 0},
                        intAttr("blocksize", block)),
              HasSubstr("'blocksize' 2147483647"));
  EXPECT_THAT(errorOver("DequantizeLinear", {4},
                        intAttr("axis", 0) + intAttr("block_size", highest), 21,
                        {{"s", {2}}}),
              HasSubstr("DequantizeLinear"));
}

TEST(ImporterExtremes, Parts) {
  TextModel model = oneNode("Split", {"x", "parts"});
  model.body += int64s("parts", {highest, highest});
  EXPECT_THAT(model.importError(), HasSubstr("a part has the size"));
  EXPECT_THAT(errorOver("DeformConv", {1, 0, 4, 4},
                        intAttr("offset_group", highest), 19,
                        {{"w", {1, 0, 2, 2}}, {"o", {1, 8, 3, 3}}}),
              HasSubstr("9223372036854775807 groups of offsets"));
}

TEST(ImporterExtremes, Floats) {
  EXPECT_THAT(errorOver("LpPool", {1, 1, 4, 4},
                        "attribute { name: \"p\" f: nan type: FLOAT } " +
                            intsAttr("kernel_shape", {2, 2}),
                        1),
              HasSubstr("attribute 'p' is nan; accepted: a number of 64 bits"));
  TextModel model =
      oneNode("Resize", {"x", "", "", "sizes"},
              stringAttr("keep_aspect_ratio_policy", "not_larger"), 18,
              {{"x", {1, int64_t(1) << 36}}});
  model.body += int64s("sizes", {highest, highest});
  EXPECT_THAT(model.importError(), HasSubstr("too large"));
}
