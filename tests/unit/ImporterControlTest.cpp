//===- ImporterControlTest.cpp - If, Loop and Scan ------------------------===//

#include "RunText.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;

namespace {

std::string graphAttr(llvm::StringRef name, llvm::StringRef fields) {
  return ("attribute { name: \"" + name + "\" type: GRAPH g { name: \"" + name +
          "\" " + fields + "} } ")
      .str();
}
std::string names(llvm::StringRef field, std::vector<std::string> list) {
  std::string text;
  for (const std::string &name : list)
    text += (field + " { name: \"" + name + "\" } ").str();
  return text;
}
/// A graph's input that is known only when the model runs.
std::string scalarInput(llvm::StringRef name, int kind) {
  return ("input { name: \"" + name + "\" type { tensor_type { elem_type: " +
          std::to_string(kind) + " shape { } } } } ")
      .str();
}
constexpr int boolKind = 9, int64Kind = 7;

/// An initializer of one integer or bool.
std::string scalar(llvm::StringRef name, int kind, int64_t value) {
  return ("initializer { name: \"" + name +
          "\" data_type: " + std::to_string(kind) +
          (kind == boolKind ? " int32_data: " : " int64_data: ") +
          std::to_string(value) + " } ")
      .str();
}

TextModel makeModel(std::string body, int opset = 16) {
  TextModel model;
  model.opset = opset;
  model.body = std::move(body);
  return model;
}

/// y = If(flag) { x + x } else { -x }
std::string ifNode() {
  return onnxNode(
      "If", {"flag"},
      graphAttr("then_branch",
                onnxNode("Add", {"x", "x"}, "", "t") + names("output", {"t"})) +
          graphAttr("else_branch",
                    onnxNode("Neg", {"x"}, "", "e") + names("output", {"e"})));
}

/// The body: s2 = s + x, r = s2 * i.
std::string loopBody(std::string condition = "c") {
  return graphAttr("body", names("input", {"i", "c", "s"}) +
                               onnxNode("Add", {"s", "x"}, "", "s2") +
                               onnxNode("Cast", {"i"}, intAttr("to", 1), "f") +
                               onnxNode("Mul", {"s2", "f"}, "", "r") +
                               onnxNode("Identity", {condition}, "", "c2") +
                               names("output", {"c2", "s2", "r"}));
}
std::string loopNode(std::vector<std::string> inputs,
                     std::string condition = "c") {
  return "node { op_type: \"Loop\" input: \"" + inputs[0] + "\" input: \"" +
         inputs[1] + "\" input: \"x\" output: \"last\" output: \"y\" " +
         loopBody(std::move(condition)) + "} ";
}

unsigned countNodes(TextModel &model, NodeKind kind) {
  unsigned count = 0;
  for (Node &node : model.module->findFunction("main")->getNodes())
    count += node.getKind() == kind;
  return count;
}

} // namespace

TEST(ImporterIf, RunTimeConditionsMakeANode) {
  TextModel model = makeModel(scalarInput("flag", boolKind) + ifNode());
  auto *node = model.importOutput().getNodeAs<IfNode>();
  ASSERT_TRUE(node);
  // x is an operand once, though both branches read it.
  ASSERT_EQ(node->getNumCaptures(), 1u);
  EXPECT_EQ(getFunction(node->getThenBody()).getParameters().size(), 1u);
  EXPECT_EQ(getFunction(node->getElseBody()).getParameters().size(), 1u);
}

TEST(ImporterIf, ConstantConditionsChoose) {
  TextModel model = makeModel(scalar("flag", boolKind, 0) + ifNode());
  EXPECT_TRUE(model.importOutput().getNodeAs<NegNode>());
  EXPECT_EQ(countNodes(model, NodeKind::Add), 0u);
}

TEST(ImporterIf, BranchesAreOfOneType) {
  TextModel model = makeModel(
      scalarInput("flag", boolKind) +
      onnxNode(
          "If", {"flag"},
          graphAttr("then_branch",
                    onnxNode("Neg", {"x"}, "", "t") + names("output", {"t"})) +
              graphAttr("else_branch", onnxNode("Transpose", {"x"}, "", "e") +
                                           names("output", {"e"}))));
  EXPECT_EQ(model.importError(),
            "'m': node 'y' (If): output 0 is float<2x3> in one branch and "
            "float<3x2> in the other; accepted: one type, or a constant "
            "condition");
}

TEST(ImporterIf, NamesOperatorsInBranches) {
  TextModel model = makeModel(
      scalarInput("flag", boolKind) +
      onnxNode(
          "If", {"flag"},
          graphAttr("then_branch", onnxNode("Nonsense", {"x"}, "", "t") +
                                       names("output", {"t"})) +
              graphAttr("else_branch", onnxNode("Neg", {"nothing"}, "", "e") +
                                           names("output", {"e"}))));
  EXPECT_THAT(model.importError(), HasSubstr("node 't' (Nonsense)"));
  size_t at = model.body.find("Nonsense");
  model.body.replace(at, 8, "Relu");
  EXPECT_EQ(model.importError(), "'m': node 'y' (If): node 'e' (Neg): input "
                                 "'nothing' is not defined");
}

TEST(ImporterLoop, ShortOnesAreWrittenOut) {
  TextModel model = makeModel(scalar("n", int64Kind, 3) + loopNode({"n", ""}));
  ASSERT_TRUE(model.importOutput());
  EXPECT_EQ(countNodes(model, NodeKind::Loop), 0u);
  EXPECT_EQ(model.importOutput().getType(), Type(ElemKind::Float, {3, 2, 3}));
}

TEST(ImporterLoop, LongOnesAreNodes) {
  TextModel model =
      makeModel(scalar("n", int64Kind, 100) + loopNode({"n", ""}));
  auto *loop = model.importOutput().getNodeAs<LoopNode>();
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->getMaxTripCount(), 100);
  EXPECT_FALSE(loop->getTripCount());
  EXPECT_EQ(loop->getNumStates(), 1);
  EXPECT_EQ(loop->getNumValues(), 2u); // the state, and x as a capture
}

TEST(ImporterLoop, RunTimeCountsNeedABound) {
  TextModel model =
      makeModel(scalarInput("n", int64Kind) + loopNode({"n", ""}));
  EXPECT_EQ(model.importError(),
            "'m': node 'last' (Loop): the trip count has no bound; accepted: a "
            "constant, or «max-trip-count=N»");
  ImportOptions options;
  options.maxTripCount = 6;
  EXPECT_EQ(model.importError(options), "imported");
  // The model may state how many elements there are.
  model.outputs = "output { name: \"y\" type { tensor_type { elem_type: 1 "
                  "shape { dim { dim_value: 4 } dim { dim_value: 2 } dim { "
                  "dim_value: 3 } } } } } ";
  ASSERT_TRUE(model.importOutput());
  ASSERT_EQ(countNodes(model, NodeKind::Loop), 1u);
  for (Node &node : model.module->findFunction("main")->getNodes())
    if (auto *loop = llvm::dyn_cast<LoopNode>(&node)) {
      EXPECT_EQ(loop->getMaxTripCount(), 4);
      EXPECT_TRUE(loop->getTripCount());
    }
  // There are as many as the loop ran.
  Placeholder *y = model.module->findPlaceholder("y");
  ASSERT_TRUE(y->getExtents());
  EXPECT_EQ(y->getExtents()->getModelName(), "y.extents");
}

/// Returns the loop's trip count, which is a constant.
static int64_t getConstantTrips(TextModel &model,
                                const ImportOptions &options) {
  auto module = model.import(options);
  if (!module) {
    ADD_FAILURE() << llvm::toString(module.takeError());
    return -1;
  }
  for (Node &node : (*module)->findFunction("main")->getNodes())
    if (auto *loop = llvm::dyn_cast<LoopNode>(&node))
      if (auto *trips = loop->getTripCount().getNodeAs<Constant>()) {
        EXPECT_EQ(loop->getMaxTripCount(), 6);
        return trips->getTensor().getAsInt(0);
      }
  return -1;
}

TEST(ImporterLoop, StatedBoundsAreChecked) {
  ImportOptions options;
  options.maxTripCount = 6;
  TextModel model =
      makeModel(scalarInput("flag", boolKind) + loopNode({"", "flag"}));
  EXPECT_EQ(getConstantTrips(model, options), INT64_MAX);
  model = makeModel(scalar("n", int64Kind, INT64_MAX - 1) +
                    loopNode({"n", ""}, "c"));
  EXPECT_EQ(getConstantTrips(model, options), INT64_MAX - 1);
}

/// The indices of what is not zero in x - c, of which there are two, taken to
/// a branch.
static std::string getMeanOfFound(const std::string &flag,
                                  const std::string &branch) {
  std::string body = floats("c", {2, 3}, {1, 0, 0, 0, 0, 1}) + flag +
                     onnxNode("Sub", {"x", "c"}, "", "difference") +
                     onnxNode("NonZero", {"difference"}, "", "found") +
                     onnxNode("If", {"flag"},
                              graphAttr("then_branch", branch) +
                                  graphAttr("else_branch", branch));
  return runText(makeModel(body));
}

TEST(ImporterIf, BranchesKnowTheExtentsOfWhatTheyTake) {
  std::string mean =
      onnxNode("Cast", {"found"}, intAttr("to", 1), "f") +
      onnxNode("ReduceMean", {"f"}, intAttr("keepdims", 0), "m") +
      names("output", {"m"});
  EXPECT_EQ(getMeanOfFound(scalarInput("flag", boolKind), mean),
            "float<>: 0.75");
  EXPECT_EQ(getMeanOfFound(scalar("flag", boolKind, 1), mean), "float<>: 0.75");
}

TEST(ImporterIf, BranchesHaveOutputsOfConstantExtents) {
  std::string found =
      onnxNode("Neg", {"found"}, "", "n") + names("output", {"n"});
  EXPECT_EQ(getMeanOfFound(scalarInput("flag", boolKind), found),
            "'m': node 'y' (If): the extent of dimension 1 of the output 'n' "
            "of the graph 'then_branch' is known only when the model runs; "
            "accepted: constant ones");
  EXPECT_EQ(getMeanOfFound(scalar("flag", boolKind, 1), found),
            "int64<2x6>: 0 -1 0 0 0 0 0 -2 0 0 0 0");
}

/// The states grow, which is possible in unrolled loops only.
TEST(ImporterLoop, StatesMayChangeTheirShape) {
  auto node = "node { op_type: \"Loop\" input: \"n\" input: \"\" input: \"x\" "
              "output: \"y\" " +
              graphAttr("body", names("input", {"i", "c", "s"}) +
                                    onnxNode("Concat", {"s", "x"},
                                             intAttr("axis", 0), "s2") +
                                    onnxNode("Identity", {"c"}, "", "c2") +
                                    names("output", {"c2", "s2"})) +
              "} ";
  TextModel model = makeModel(scalar("n", int64Kind, 200) + node);
  EXPECT_EQ(model.importOutput().getType(), Type(ElemKind::Float, {402, 3}));
  model = makeModel(scalarInput("n", int64Kind) + node);
  ImportOptions options;
  options.maxTripCount = 6;
  EXPECT_EQ(model.importError(options),
            "'m': node 'y' (Loop): state 0 is float<2x3> at first and then "
            "float<4x3>; accepted: one type, or a constant trip count and "
            "conditions");
}

TEST(ImporterLoop, ConditionsThatAreConstantsEndIt) {
  TextModel model = makeModel(
      scalar("n", int64Kind, 9) + scalar("two", int64Kind, 2) +
      "node { op_type: \"Loop\" input: \"n\" input: \"\" input: \"x\" output: "
      "\"last\" output: \"y\" " +
      graphAttr("body", names("input", {"i", "c", "s"}) +
                            onnxNode("Less", {"i", "two"}, "", "c2") +
                            onnxNode("Identity", {"s"}, "", "s2") +
                            onnxNode("Neg", {"s"}, "", "r") +
                            names("output", {"c2", "s2", "r"})) +
      "} ");
  EXPECT_EQ(model.importOutput().getType(), Type(ElemKind::Float, {3, 2, 3}));
}

TEST(ImporterLoop, InFunctions) {
  TextModel model = makeModel(
      "node { op_type: \"Sum\" domain: \"own\" input: \"x\" output: \"y\" } ");
  model.header =
      "opset_import { domain: \"own\" version: 1 } functions { name: \"Sum\" "
      "domain: \"own\" input: \"a\" output: \"b\" opset_import { version: 16 } "
      "node { op_type: \"Constant\" output: \"n\" attribute { name: "
      "\"value_int\" type: INT i: 3 } } "
      "node { op_type: \"Loop\" input: \"n\" input: \"\" input: \"a\" output: "
      "\"b\" " +
      graphAttr("body", names("input", {"i", "c", "s"}) +
                            onnxNode("Add", {"s", "a"}, "", "s2") +
                            onnxNode("Identity", {"c"}, "", "c2") +
                            names("output", {"c2", "s2"})) +
      "} } ";
  ASSERT_TRUE(model.importOutput());
  EXPECT_EQ(countNodes(model, NodeKind::Add), 3u);
}

namespace {

/// y = Scan over c: s2 = s + e, r = s2; \p length elements of 2.
TextModel makeScan(int64_t length, std::string attributes) {
  std::vector<float> values;
  for (int64_t i = 0; i < 2 * length; ++i)
    values.push_back(float(i));
  return makeModel(
      floats("c", {length, 2}, values) + floats("zero", {2}, {0, 0}) +
      onnxNode("Identity", {"x"}, "", "unused") +
      "node { op_type: \"Scan\" input: \"zero\" input: \"c\" output: \"last\" "
      "output: \"y\" " +
      intAttr("num_scan_inputs", 1) + attributes +
      graphAttr("body", names("input", {"s", "e"}) +
                            onnxNode("Add", {"s", "e"}, "", "s2") +
                            onnxNode("Identity", {"s2"}, "", "r") +
                            names("output", {"s2", "r"})) +
      "} ");
}

} // namespace

TEST(ImporterScan, RunsAlongAnAxis) {
  EXPECT_EQ(runText(makeScan(3, "")), "float<3x2>: 0 1 2 4 6 9");
  EXPECT_EQ(runText(makeScan(3, intsAttr("scan_input_directions", {1}))),
            "float<3x2>: 4 5 6 8 6 9");
  EXPECT_EQ(runText(makeScan(3, intsAttr("scan_output_directions", {1}))),
            "float<3x2>: 6 9 2 4 0 1");
  EXPECT_EQ(runText(makeScan(3, intsAttr("scan_output_axes", {-1}))),
            "float<2x3>: 0 2 6 1 4 9");
  EXPECT_EQ(runText(makeScan(2, intsAttr("scan_input_axes", {1}))),
            "float<2x2>: 0 2 1 5");
}

TEST(ImporterScan, LongOnesAreLoops) {
  TextModel model = makeScan(200, intsAttr("scan_input_directions", {1}) +
                                      intsAttr("scan_output_directions", {1}));
  ASSERT_TRUE(model.importOutput());
  EXPECT_EQ(countNodes(model, NodeKind::Loop), 1u);
  std::string text = runText(std::move(model));
  // Row 0 has the sum of all: of even and of odd numbers below 400.
  EXPECT_THAT(text, testing::StartsWith("float<200x2>: 39800 40000 "));
  EXPECT_THAT(text, testing::EndsWith(" 398 399"));
}

TEST(ImporterScan, Refuses) {
  EXPECT_THAT(makeScan(3, intsAttr("scan_input_axes", {2})).importError(),
              HasSubstr("a scan input's axis is 2; accepted for rank 2: -2 to "
                        "1"));
  EXPECT_THAT(makeScan(3, intsAttr("scan_output_axes", {0, 0})).importError(),
              HasSubstr("attribute 'scan_output_axes' has 2 numbers; accepted: "
                        "1"));
}

/// Loops in loops, each unrolled because its state changes its shape.
TEST(ImporterLoop, DoesNotGrowWithoutBounds) {
  std::string body = onnxNode("Concat", {"s0", "x"}, intAttr("axis", 0), "r0");
  for (unsigned depth = 1; depth < 6; ++depth) {
    std::string inner = "s" + std::to_string(depth - 1);
    std::string outer = "s" + std::to_string(depth);
    std::string number = std::to_string(depth);
    body =
        "node { op_type: \"Loop\" input: \"n\" input: \"\" input: \"" + outer +
        "\" output: \"r" + number + "\" " +
        graphAttr("body",
                  names("input", {"i" + number, "c" + number, inner}) + body +
                      onnxNode("Identity", {"c" + number}, "", "d" + number) +
                      names("output",
                            {"d" + number, "r" + std::to_string(depth - 1)})) +
        "} ";
  }
  TextModel model = makeModel(scalar("n", int64Kind, 30) +
                              onnxNode("Identity", {"x"}, "", "s5") + body +
                              onnxNode("Identity", {"r5"}));
  EXPECT_THAT(model.importError(), HasSubstr("too many nodes"));
}
