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
  EXPECT_EQ(callLeaky(function("Leaky", leakyNode, 0)).importError(),
            "'m': function 'Leaky': opset 0 does not exist");
  EXPECT_THAT(callLeaky(function("Other", leakyNode)).importError(),
              testing::HasSubstr("(Leaky) of domain 'own'"));
  TextModel model = callLeaky(function("Leaky", leakyNode));
  model.body = "node { op_type: \"Leaky\" domain: \"own\" input: \"x\" input: "
               "\"x\" output: \"y\" } ";
  EXPECT_EQ(model.importError(),
            "'m': a call of function 'Leaky' has 2 inputs and 1 outputs; "
            "accepted: up to 1 and 1");
}

/// Before opset 13, Softmax takes the rows of a matrix: the dimensions from the
/// axis on together.
TEST(ImporterFunctions, KeepTheirOpset) {
  auto rowsOf = [](int modelOpset, int functionOpset) {
    TextModel model = callLeaky(function(
        "Leaky",
        "node { op_type: \"Softmax\" input: \"a\" output: \"b\" attribute { "
        "name: \"axis\" type: INT i: 1 } } ",
        functionOpset));
    model.opset = modelOpset;
    model.inputs = {{"x", {2, 3, 5}}};
    NodeValue output = model.importOutput();
    if (!output)
      return std::string();
    for (Node &node : model.module->findFunction("main")->getNodes())
      if (auto *softmax = llvm::dyn_cast<SoftmaxNode>(&node))
        return softmax->getInput().getType().str() + " " +
               std::to_string(softmax->getAxis());
    return std::string("no softmax");
  };
  EXPECT_EQ(rowsOf(13, 13), rowsOf(11, 13));
  EXPECT_EQ(rowsOf(11, 11), rowsOf(13, 11));
  EXPECT_NE(rowsOf(13, 13), rowsOf(13, 11));
}

TEST(ImporterFunctions, MayBeOfAnOlderOpsetThanTheModel) {
  std::string swish = "node { op_type: \"HardSwish\" input: \"a\" output: "
                      "\"b\" } ";
  EXPECT_EQ(callLeaky(function("Leaky", swish, 14)).importError(), "imported");
  EXPECT_THAT(
      callLeaky(function("Leaky", swish, 13)).importError(),
      testing::HasSubstr("(HardSwish): supported since opset 14, the model "
                         "has 13"));
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
            "'m': inlined, the functions of the model would take more than "
            "32 times its size and 32 MiB");
}

/// A large attribute that every node of the function repeats.
TEST(ImporterFunctions, HaveABoundOfAttributes) {
  std::string nodes;
  for (int i = 0; i < 3000; ++i)
    nodes += "node { op_type: \"Abs\" input: \"a\" output: \"t" +
             std::to_string(i) +
             "\" attribute { name: \"k\" type: STRING ref_attr_name: "
             "\"slope\" } } ";
  TextModel model = callLeaky(function("Leaky", nodes));
  model.body = "node { op_type: \"Leaky\" domain: \"own\" input: \"x\" output: "
               "\"y\" attribute { name: \"slope\" type: STRING s: \"" +
               std::string(100000, 's') + "\" } } ";
  EXPECT_THAT(model.importError(),
              testing::HasSubstr("would take more than 32 times"));
}
