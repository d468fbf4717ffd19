//===- ImporterFunctionsTest.cpp - Functions of a model -------------------===//

#include "OnnxText.h"
#include "gmock/gmock.h"

using namespace glowish;

namespace {

/// y = Leaky(x) of the domain "own" with the attribute slope = 0.5, in a model
/// with \p functions.
TextModel callLeaky(std::string functions) {
  TextModel model;
  model.header = "opset_import { domain: \"own\" version: 1 } " + functions;
  model.body = "node { op_type: \"Leaky\" domain: \"own\" input: \"x\" output: "
               "\"y\" attribute { name: \"slope\" type: FLOAT f: 0.5 } } ";
  return model;
}

std::string function(std::string name, std::string nodes, int opset = 13) {
  return "functions { name: \"" + name +
         "\" domain: \"own\" input: \"a\" output: \"b\" attribute: \"slope\" "
         "opset_import { version: " +
         std::to_string(opset) + " } " + nodes + "} ";
}

const std::string leakyNode =
    "node { op_type: \"LeakyRelu\" input: \"a\" output: \"t\" attribute { "
    "name: "
    "\"alpha\" type: FLOAT ref_attr_name: \"slope\" } } ";

} // namespace

TEST(ImporterFunctions, AreWrittenOut) {
  TextModel model = callLeaky(function(
      "Leaky", leakyNode + "node { op_type: \"Neg\" input: \"t\" output: \"b\" "
                           "} "));
  NodeValue output = model.importOutput();
  ASSERT_TRUE(output);
  auto *neg = output.getNodeAs<NegNode>();
  ASSERT_TRUE(neg);
  auto *leaky = neg->getX().getNodeAs<LeakyReluNode>();
  ASSERT_TRUE(leaky);
  EXPECT_EQ(leaky->getAlpha(), 0.5);
}

/// A function that calls another, twice: the values of both calls are theirs.
TEST(ImporterFunctions, CallEachOther) {
  auto call = [](std::string from, std::string to) {
    return "node { op_type: \"Inner\" domain: \"own\" input: \"" + from +
           "\" output: \"" + to + "\" } ";
  };
  TextModel model = callLeaky(
      function("Inner", "node { op_type: \"Abs\" input: \"a\" output: \"t\" } "
                        "node { op_type: \"Sqrt\" input: \"t\" output: \"b\" "
                        "} ") +
      function("Leaky", call("a", "t") + call("t", "b")));
  NodeValue output = model.importOutput();
  ASSERT_TRUE(output);
  for (unsigned i = 0; i < 2; ++i) {
    auto *sqrt = output.getNodeAs<SqrtNode>();
    ASSERT_TRUE(sqrt);
    auto *abs = sqrt->getX().getNodeAs<AbsNode>();
    ASSERT_TRUE(abs);
    output = abs->getX();
  }
  EXPECT_TRUE(output.getNodeAs<Placeholder>());
}

/// An attribute that the call lacks has the operator's default.
TEST(ImporterFunctions, LeaveOutAbsentAttributes) {
  TextModel model = callLeaky(
      function("Leaky", "node { op_type: \"Elu\" input: \"a\" output: \"b\" "
                        "attribute { name: \"alpha\" type: FLOAT "
                        "ref_attr_name: \"other\" } } "));
  NodeValue output = model.importOutput();
  ASSERT_TRUE(output);
  auto *elu = output.getNodeAs<EluNode>();
  ASSERT_TRUE(elu);
  EXPECT_EQ(elu->getAlpha(), 1);
}

TEST(ImporterFunctions, Refused) {
  std::string recursive =
      function("Leaky", "node { op_type: \"Leaky\" domain: \"own\" input: "
                        "\"a\" output: \"b\" } ");
  EXPECT_EQ(callLeaky(recursive).importError(),
            "'m': function 'Leaky' calls itself, or functions are nested more "
            "than 64 deep");
  EXPECT_EQ(callLeaky(function("Leaky", leakyNode, 12)).importError(),
            "'m': function 'Leaky' is of opset 12; accepted: 13, the model's");
  EXPECT_THAT(callLeaky(function("Other", leakyNode)).importError(),
              testing::HasSubstr("(Leaky) of domain 'own'"));
  TextModel model = callLeaky(function("Leaky", leakyNode));
  model.body = "node { op_type: \"Leaky\" domain: \"own\" input: \"x\" input: "
               "\"x\" output: \"y\" } ";
  EXPECT_EQ(model.importError(),
            "'m': a call of function 'Leaky' has 2 inputs and 1 outputs; "
            "accepted: up to 1 and 1");
}

/// Each level calls the next twice: 2^40 nodes.
TEST(ImporterFunctions, HaveABound) {
  std::string functions;
  for (int i = 0; i < 40; ++i) {
    std::string name = i == 0 ? "Leaky" : "F" + std::to_string(i);
    std::string call =
        "node { op_type: \"F" + std::to_string(i + 1) + "\" domain: \"own\" ";
    functions += function(name, call + "input: \"a\" output: \"t\" } " + call +
                                    "input: \"t\" output: \"b\" } ");
  }
  functions += function("F40", "node { op_type: \"Abs\" input: \"a\" output: "
                               "\"b\" } ");
  EXPECT_EQ(callLeaky(functions).importError(),
            "'m': the functions of the model make more than 1048576 nodes");
}
