//===- ImporterFlexAttentionTest.cpp - Attention with functions -----------===//
//
// ONNX's own tests compare results; these are about what else a graph can be.
//
//===----------------------------------------------------------------------===//

#include "RunText.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;

namespace {

/// A function of one value as an attribute: \p nodes compute "out" from "in".
std::string graphAttr(llvm::StringRef name, const std::string &fields) {
  return "attribute { name: \"" + name.str() +
         "\" type: GRAPH g { name: \"f\" input { name: \"in\" } output { "
         "name: \"out\" } " +
         fields + "} } ";
}

/// Two heads of queries share one of keys, of which there are three; the
/// values' elements are 1 to 6.
TextModel flex(std::string attributes) {
  TextModel model =
      oneNode("FlexAttention", {"q", "k", "v"},
              "domain: \"ai.onnx.preview\" name: \"flex\" " + attributes, 26,
              {{"unused", {1}}});
  model.header = "opset_import { domain: \"ai.onnx.preview\" version: 1 } ";
  model.body += floats("q", {1, 2, 2, 1}, {0, 0, 0, 0}) +
                floats("k", {1, 1, 3, 1}, {1, 2, 3}) +
                floats("v", {1, 1, 3, 2}, {1, 2, 3, 4, 5, 6}) +
                floats("half", {}, {0.5f});
  return model;
}

} // namespace

/// Scores are 0: all keys weigh a third.
TEST(ImporterFlexAttention, WithoutFunctions) {
  EXPECT_EQ(runText(flex("")), "float<1x2x2x2>: 3 4 3 4 3 4 3 4");
}

/// The function reads a value of the model, and names that the model has, too.
TEST(ImporterFlexAttention, ProbabilitiesOfSharedHeads) {
  EXPECT_EQ(runText(flex(graphAttr(
                "prob_mod", onnxNode("Mul", {"in", "half"}, "", "v") +
                                onnxNode("Identity", {"v"}, "", "out")))),
            "float<1x2x2x2>: 1.50 2 1.50 2 1.50 2 1.50 2");
}

TEST(ImporterFlexAttention, ScoresWithAnInitializer) {
  // Only the second key is left, in either of two nodes.
  std::string mask = "initializer { name: \"m\" data_type: 1 dims: 3 "
                     "float_data: -1000 float_data: 0 float_data: -1000 } ";
  EXPECT_EQ(runText(flex(graphAttr(
                "score_mod", mask + onnxNode("Add", {"in", "m"}, "", "out")))),
            "float<1x2x2x2>: 3 4 3 4 3 4 3 4");
  std::string first = "initializer { name: \"m\" data_type: 1 dims: 3 "
                      "float_data: 0 float_data: -1000 float_data: -1000 } ";
  EXPECT_EQ(runText(flex(graphAttr(
                "score_mod", first + onnxNode("Add", {"in", "m"}, "", "out")))),
            "float<1x2x2x2>: 1 2 1 2 1 2 1 2");
}

TEST(ImporterFlexAttention, Errors) {
  EXPECT_THAT(
      flex(graphAttr("score_mod", "input { name: \"more\" } ")).importError(),
      HasSubstr(
          "node 'flex' (FlexAttention): attribute 'score_mod' is not a graph "
          "of one input and one output"));
  EXPECT_THAT(flex(graphAttr("score_mod",
                             onnxNode("If", {"in"},
                                      graphAttr("then_branch", ""), "out")))
                  .importError(),
              HasSubstr("has a graph of its own; accepted: none"));
}
