//===- ImporterGradientTest.cpp - The operator Gradient -------------------===//

#include "RunText.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;

namespace {

/// A Gradient of \p y with respect to \p xs at \p inputs.
std::string gradient(std::vector<std::string> inputs,
                     const std::vector<std::string> &xs, const std::string &y,
                     const std::string &output = "y",
                     const std::vector<std::string> &zs = {}) {
  std::string attributes = stringsAttr("xs", xs) + stringAttr("y", y);
  if (!zs.empty())
    attributes += stringsAttr("zs", zs);
  return onnxNode("Gradient", std::move(inputs),
                  "domain: \"ai.onnx.preview.training\" " + attributes, output);
}

TextModel model(std::string body) {
  TextModel model;
  model.inputs = {{"unused", {1}}};
  model.header = "opset_import { domain: \"ai.onnx.preview.training\" "
                 "version: 1 } ";
  model.body = std::move(body) + floats("a", {2}, {2, 3}) +
               floats("b", {2}, {5, 7}) + int64s("i", {1, 0});
  return model;
}

std::string run(std::string body) { return runText(model(std::move(body))); }
std::string fail(std::string body) {
  return model(std::move(body)).importError();
}

} // namespace

/// Constants are values like others, though what is computed from them is one.
TEST(ImporterGradient, OfWeights) {
  std::string cube = onnxNode("Mul", {"a", "a"}, "", "s") +
                     onnxNode("Mul", {"s", "a"}, "", "c");
  EXPECT_EQ(run(cube + gradient({"a"}, {"a"}, "c")), "float<2>: 12 27");
  // The file may have its nodes in another order.
  EXPECT_EQ(run(gradient({"a"}, {"a"}, "c") + cube), "float<2>: 12 27");
  // Only what y depends on.
  EXPECT_EQ(run(cube + gradient({"b"}, {"b"}, "c")), "float<2>: 0 0");
}

/// Whole quotients are constant; large ones of doubles are taken in a loop.
TEST(ImporterGradient, OfRests) {
  auto gradientOfRests = [](int64_t kind, std::string x, std::string z,
                            float factor) {
    return run(floats("factor", {}, {factor}) +
               onnxNode("Mul", {"b", "factor"}, "", "dividend") +
               onnxNode("Cast", {"dividend"}, intAttr("to", kind), "p") +
               onnxNode("Cast", {"a"}, intAttr("to", kind), "q") +
               onnxNode("Mod", {"p", "q"}, intAttr("fmod", 1), "rest") +
               gradient({x, z}, {x}, "rest", "y", {z}));
  };
  for (float factor : {1.0f, 1e30f}) {
    EXPECT_EQ(gradientOfRests(1, "p", "q", factor), "float<2>: 1 1");
    EXPECT_EQ(gradientOfRests(11, "p", "q", factor), "double<2>: 1 1");
  }
  // 5 is 2 times 2, and 7 is 2 times 3, and 1.
  EXPECT_EQ(gradientOfRests(1, "q", "p", 1), "float<2>: -2 -2");
  EXPECT_EQ(gradientOfRests(11, "q", "p", 1), "double<2>: -2 -2");
}

TEST(ImporterGradient, HoldsOthers) {
  std::string nodes = onnxNode("Mul", {"a", "b"}, "", "p") +
                      onnxNode("Mul", {"p", "a"}, "", "q");
  EXPECT_EQ(run(nodes + gradient({"b", "a"}, {"b"}, "q", "y", {"a"})),
            "float<2>: 4 9");
  EXPECT_EQ(run(nodes + gradient({"a", "b"}, {"a", "b"}, "q")),
            "float<2>: 20 42");
  // The second output only.
  std::string second = gradient({"a", "b"}, {"a", "b"}, "q", "");
  size_t at = second.find("output: \"\" ") + 11;
  EXPECT_EQ(run(nodes + second.insert(at, "output: \"y\" ")), "float<2>: 4 9");
}

/// The filter is given up when the convolution has been imported, if nothing
/// reads it again.
TEST(ImporterGradient, ReadsWeightsAgain) {
  std::string conv = floats("image", {1, 1, 1, 2}, {2, 3}) +
                     floats("filter", {1, 1, 1, 1}, {4}) +
                     onnxNode("Conv", {"image", "filter"}, "", "c");
  EXPECT_EQ(run(conv + gradient({"image"}, {"image"}, "c")),
            "float<1x1x1x2>: 4 4");
  EXPECT_EQ(run(conv + gradient({"filter"}, {"filter"}, "c")),
            "float<1x1x1x1>: 5");
}

/// A branch differentiates what the graph around it computes.
TEST(ImporterGradient, InBranches) {
  std::string text = floats("image", {1, 1, 1, 2}, {2, 3}) +
                     floats("filter", {1, 1, 1, 1}, {4}) +
                     onnxNode("Conv", {"image", "filter"}, "", "c") +
                     onnxNode("Mul", {"c", "c"}, "", "s") +
                     onnxNode("Greater", {"unused", "unused"}, "", "flag");
  std::string branch = " type: GRAPH g { name: \"b\" " +
                       gradient({"image"}, {"image"}, "s", "d") +
                       "output { name: \"d\" } } } ";
  text += onnxNode("If", {"flag"},
                   "attribute { name: \"then_branch\"" + branch +
                       "attribute { name: \"else_branch\"" + branch);
  EXPECT_EQ(run(text), "float<1x1x1x2>: 64 96");
}

TEST(ImporterGradient, AtOtherValues) {
  std::string square = onnxNode("Mul", {"a", "a"}, "", "s");
  EXPECT_EQ(run(square + gradient({"b"}, {"a"}, "s")), "float<2>: 10 14");
}

TEST(ImporterGradient, OfIntermediateValues) {
  std::string body = onnxNode("Mul", {"a", "b"}, "", "h") +
                     onnxNode("Mul", {"h", "h"}, "", "s");
  EXPECT_EQ(run(body + gradient({"h"}, {"h"}, "s")), "float<2>: 20 42");
}

/// A chain of \p order Gradients of a^5.
static std::string differentiate(unsigned order) {
  std::string body = onnxNode("Mul", {"a", "a"}, "", "a2") +
                     onnxNode("Mul", {"a2", "a2"}, "", "a4") +
                     onnxNode("Mul", {"a4", "a"}, "", "d0");
  for (unsigned i = 1; i <= order; ++i)
    body += gradient({"a"}, {"a"}, "d" + std::to_string(i - 1),
                     i == order ? "y" : "d" + std::to_string(i));
  return body;
}

TEST(ImporterGradient, OfHigherOrder) {
  EXPECT_EQ(run(differentiate(2)), "float<2>: 160 540");
  EXPECT_EQ(run(differentiate(3)), "float<2>: 240 540");
  EXPECT_EQ(run(differentiate(6)), "float<2>: 0 0");
  EXPECT_THAT(fail(differentiate(20)), HasSubstr("it is of an order above 8"));
}

TEST(ImporterGradient, Errors) {
  std::string square = onnxNode("Mul", {"a", "a"}, "", "s");
  EXPECT_THAT(fail(square + gradient({"a"}, {"a"}, "t")),
              HasSubstr("node 'y' (Gradient): attribute 'y' is 't'; accepted: "
                        "what a node computes"));
  EXPECT_THAT(fail(square + gradient({"a"}, {"a"}, "s", "y", {"b"})),
              HasSubstr("there are 1 inputs for 2 names in 'xs' and 'zs'; "
                        "accepted: equal numbers"));
  EXPECT_THAT(fail(square + gradient({}, {}, "s")),
              HasSubstr("attribute 'xs' is missing or empty"));
  EXPECT_THAT(fail(square + gradient({"i"}, {"i"}, "s")),
              HasSubstr("input 0 ('i') is int64<2>; accepted: a float kind"));
  EXPECT_THAT(fail(onnxNode("Cast", {"a"}, intAttr("to", 7), "n") +
                   gradient({"a"}, {"a"}, "n")),
              HasSubstr("'n' is int64<2>; accepted: a float kind"));
}
