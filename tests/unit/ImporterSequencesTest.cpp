//===- ImporterSequencesTest.cpp - Sequences and optionals ----------------===//

#include "RunText.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;

namespace {

/// An int64 scalar.
std::string scalar(llvm::StringRef name, int64_t value) {
  return "initializer { name: \"" + name.str() +
         "\" data_type: 7 int64_data: " + std::to_string(value) + " } ";
}

/// The constants a to c, of one to three elements, the positions 0 to 2 and -1,
/// and \p nodes.
TextModel model(std::string nodes) {
  TextModel result;
  result.opset = 18;
  result.inputs = {{"x", {1}}};
  result.body = floats("a", {1}, {1}) + floats("b", {2}, {2, 3}) +
                floats("c", {3}, {4, 5, 6}) + scalar("zero", 0) +
                scalar("one", 1) + scalar("two", 2) + scalar("last", -1) +
                nodes;
  return result;
}

std::string construct = onnxNode("SequenceConstruct", {"a", "b", "c"}, "", "s");

} // namespace

TEST(ImporterSequences, At) {
  auto at = [](llvm::StringRef position) {
    return runText(
        model(construct + onnxNode("SequenceAt", {"s", position.str()})));
  };
  EXPECT_EQ(at("zero"), "float<1>: 1");
  EXPECT_EQ(at("two"), "float<3>: 4 5 6");
  EXPECT_EQ(at("last"), "float<3>: 4 5 6");
}

TEST(ImporterSequences, Map) {
  // Sums of each element and of what is around, and the elements doubled.
  std::string body =
      "attribute { name: \"body\" type: GRAPH g { name: \"b\" node { op_type: "
      "\"Add\" input: \"e\" input: \"t\" output: \"sum\" } node { op_type: "
      "\"Add\" input: \"e\" input: \"e\" output: \"twice\" } input { name: "
      "\"e\" } input { name: \"t\" } output { name: \"sum\" } output { name: "
      "\"twice\" } } } ";
  std::string map = "node { op_type: \"SequenceMap\" input: \"s\" input: \"a\" "
                    "output: \"sums\" output: \"doubles\" " +
                    body + "} ";
  auto join = [&](llvm::StringRef name) {
    return runText(model(
        construct + map +
        onnxNode("ConcatFromSequence", {name.str()}, intAttr("axis", 0))));
  };
  EXPECT_EQ(join("sums"), "float<6>: 2 3 4 5 6 7");
  EXPECT_EQ(join("doubles"), "float<6>: 2 4 6 8 10 12");
}

TEST(ImporterSequences, InsertAndErase) {
  auto join = [](std::string nodes) {
    return runText(
        model(construct + nodes +
              onnxNode("ConcatFromSequence", {"t"}, intAttr("axis", 0))));
  };
  EXPECT_EQ(join(onnxNode("SequenceInsert", {"s", "a"}, "", "t")),
            "float<7>: 1 2 3 4 5 6 1");
  EXPECT_EQ(join(onnxNode("SequenceInsert", {"s", "a", "one"}, "", "t")),
            "float<7>: 1 1 2 3 4 5 6");
  EXPECT_EQ(join(onnxNode("SequenceInsert", {"s", "a", "last"}, "", "t")),
            "float<7>: 1 2 3 1 4 5 6");
  EXPECT_EQ(join(onnxNode("SequenceErase", {"s"}, "", "t")), "float<3>: 1 2 3");
  EXPECT_EQ(join(onnxNode("SequenceErase", {"s", "zero"}, "", "t")),
            "float<5>: 2 3 4 5 6");
  EXPECT_EQ(join(onnxNode("Identity", {"s"}, "", "t")),
            "float<6>: 1 2 3 4 5 6");
}

TEST(ImporterSequences, EmptyAndLength) {
  std::string empty = onnxNode("SequenceEmpty", {}, intAttr("dtype", 1), "e");
  EXPECT_EQ(runText(model(empty + onnxNode("SequenceLength", {"e"}))),
            "int64<>: 0");
  EXPECT_EQ(runText(model(construct + onnxNode("SequenceLength", {"s"}))),
            "int64<>: 3");
  EXPECT_THAT(
      model(empty + onnxNode("ConcatFromSequence", {"e"}, intAttr("axis", 0)))
          .importError(),
      HasSubstr("the sequence has no elements"));
  EXPECT_THAT(
      model(empty + onnxNode("SequenceAt", {"e", "zero"})).importError(),
      HasSubstr("the position is 0; accepted: 0 to -1"));
}

TEST(ImporterSequences, NewAxis) {
  std::string pair = onnxNode("SequenceConstruct", {"b", "b"}, "", "s");
  EXPECT_EQ(runText(model(
                pair + onnxNode("ConcatFromSequence", {"s"},
                                intAttr("axis", -1) + intAttr("new_axis", 1)))),
            "float<2x2>: 2 2 3 3");
  EXPECT_THAT(
      model(construct + onnxNode("ConcatFromSequence", {"s"},
                                 intAttr("axis", 1) + intAttr("new_axis", 1)))
          .importError(),
      HasSubstr("Concat"));
}

TEST(ImporterSequences, Split) {
  auto at = [](std::vector<std::string> inputs, std::string attributes,
               llvm::StringRef position) {
    return runText(model(onnxNode("SplitToSequence", std::move(inputs),
                                  std::move(attributes), "s") +
                         onnxNode("SequenceAt", {"s", position.str()})));
  };
  EXPECT_EQ(at({"c"}, "", "one"), "float<1>: 5");
  EXPECT_EQ(at({"c"}, intAttr("keepdims", 0), "one"), "float<>: 5");
  EXPECT_EQ(at({"c", "two"}, "", "zero"), "float<2>: 4 5");
  EXPECT_EQ(at({"c", "two"}, intAttr("keepdims", 0), "one"), "float<1>: 6");
  TextModel sizes = model(int64s("sizes", {0, 3}) +
                          onnxNode("SplitToSequence", {"c", "sizes"}, "", "s") +
                          onnxNode("SequenceAt", {"s", "one"}));
  EXPECT_EQ(runText(std::move(sizes)), "float<3>: 4 5 6");
  TextModel wrong = model(int64s("sizes", {1, 1}) +
                          onnxNode("SplitToSequence", {"c", "sizes"}, "", "s"));
  EXPECT_THAT(wrong.importError(), HasSubstr("the parts have 2 elements in "
                                             "all; the dimension has 3"));
  EXPECT_THAT(
      model(onnxNode("SplitToSequence", {"c", "zero"}, "", "s")).importError(),
      HasSubstr("the size of the parts is 0; accepted: at least 1"));
}

/// Lists grow with each insertion: what a small file can make has an end.
TEST(ImporterSequences, Limits) {
  TextModel parts =
      oneNode("SplitToSequence", {"x"}, "", 13, {{"x", {(1 << 16) + 1}}});
  EXPECT_THAT(parts.importError(),
              HasSubstr("65537 elements in parts of 1; accepted: up to 65536 "
                        "parts"));
  std::string nodes = onnxNode("SequenceEmpty", {}, "", "s0");
  for (int i = 0; i < 2100; ++i)
    nodes += onnxNode("SequenceInsert", {"s" + std::to_string(i), "a"}, "",
                      "s" + std::to_string(i + 1));
  EXPECT_THAT(model(nodes).importError(),
              HasSubstr("the sequences of the model have more than 2097152 "
                        "elements"));
}

TEST(ImporterSequences, Optionals) {
  auto has = [](std::string nodes, std::vector<std::string> inputs) {
    return runText(
        model(nodes + onnxNode("OptionalHasElement", std::move(inputs))));
  };
  std::string type = "attribute { name: \"type\" type: TYPE_PROTO tp { "
                     "tensor_type { elem_type: 1 } } } ";
  EXPECT_EQ(has("", {}), "bool<>: 0");
  EXPECT_EQ(has("", {""}), "bool<>: 0");
  EXPECT_EQ(has("", {"a"}), "bool<>: 1");
  EXPECT_EQ(has(construct, {"s"}), "bool<>: 1");
  EXPECT_EQ(has(onnxNode("Optional", {}, type, "o"), {"o"}), "bool<>: 0");
  EXPECT_EQ(has(onnxNode("Optional", {"a"}, "", "o"), {"o"}), "bool<>: 1");
  EXPECT_EQ(runText(model(onnxNode("Optional", {"b"}, "", "o") +
                          onnxNode("OptionalGetElement", {"o"}))),
            "float<2>: 2 3");
  EXPECT_THAT(model(onnxNode("Optional", {}, type, "o") +
                    onnxNode("OptionalGetElement", {"o"}))
                  .importError(),
              HasSubstr("input 0 is an optional without a value"));
}

TEST(ImporterSequences, WhatIsRefused) {
  // A position that only the running model knows.
  EXPECT_THAT(
      model(construct + onnxNode("SequenceAt", {"s", "x"})).importError(),
      HasSubstr("is computed when the model runs; accepted: a constant"));
  EXPECT_THAT(model(construct + onnxNode("Relu", {"s"})).importError(),
              HasSubstr("input 0 ('s') is a sequence or an optional; accepted: "
                        "a tensor"));
  EXPECT_THAT(model(onnxNode("SequenceAt", {"a", "zero"})).importError(),
              HasSubstr("input 0 is no sequence"));
  EXPECT_THAT(model(onnxNode("SequenceConstruct", {"a", "zero"}, "", "s"))
                  .importError(),
              HasSubstr("accepted: one element kind"));
  EXPECT_THAT(model(construct + construct).importError(),
              HasSubstr("the value 's' is defined twice"));
}

//===- Outputs ------------------------------------------------------------===//

namespace {

/// The names and types of the outputs of \p model.
std::string listOutputs(TextModel model, ImportOptions options = {}) {
  auto module = model.import(std::move(options));
  if (!module)
    return llvm::toString(module.takeError());
  std::string text;
  for (const auto &placeholder : (*module)->getPlaceholders())
    if (placeholder->isOutput())
      text += placeholder->getModelName().str() + ": " +
              placeholder->getType().str() + "; ";
  return text;
}

} // namespace

TEST(ImporterSequences, Outputs) {
  std::vector<SequenceOutput> sequences;
  ImportOptions options;
  options.sequenceOutputs = &sequences;
  TextModel two = model(construct + onnxNode("Neg", {"a"}, "", "n"));
  two.outputs = "output { name: \"n\" } output { name: \"s\" } ";
  EXPECT_EQ(listOutputs(std::move(two), options),
            "n: float<1>; s.0: float<1>; "
            "s.1: float<2>; s.2: float<3>; ");
  ASSERT_EQ(sequences.size(), 1u);
  EXPECT_EQ(sequences[0].name, "s");
  EXPECT_EQ(sequences[0].index, 1u);
  EXPECT_EQ(sequences[0].length, 3u);
  // An optional with a value is that value.
  EXPECT_EQ(
      listOutputs(model(construct + onnxNode("Optional", {"s"})), options),
      "y.0: float<1>; y.1: float<2>; y.2: float<3>; ");
  ASSERT_EQ(sequences.size(), 1u);
  EXPECT_EQ(sequences[0].name, "y");
  // An empty sequence is no output of the module.
  TextModel empty = model(onnxNode("SequenceEmpty", {}, "", "e") +
                          onnxNode("Neg", {"a"}, "", "y"));
  empty.outputs = "output { name: \"e\" } output { name: \"y\" } ";
  EXPECT_EQ(listOutputs(std::move(empty), options), "y: float<1>; ");
  ASSERT_EQ(sequences.size(), 1u);
  EXPECT_EQ(sequences[0].length, 0u);
}

TEST(ImporterSequences, OutputsThatAreRefused) {
  EXPECT_THAT(model(onnxNode("SequenceEmpty", {})).importError(),
              HasSubstr("all outputs are sequences without elements"));
  EXPECT_THAT(model(onnxNode("Optional", {},
                             "attribute { name: \"type\" type: TYPE_PROTO tp { "
                             "tensor_type { elem_type: 1 } } } "))
                  .importError(),
              HasSubstr("the output 'y' is an optional without a value"));
  TextModel same = model(construct + onnxNode("Neg", {"a"}, "", "s.1"));
  same.outputs = "output { name: \"s.1\" } output { name: \"s\" } ";
  EXPECT_THAT(same.importError(), HasSubstr("two outputs have the name 's.1'"));
}

//===- Branches and loops -------------------------------------------------===//

namespace {

/// A graph as attribute \p name.
std::string graph(llvm::StringRef name, const std::string &fields) {
  return "attribute { name: \"" + name.str() +
         "\" type: GRAPH g { name: \"body\" " + fields + "} } ";
}

/// An If on the input x whose branches give sequences.
TextModel branches(const std::string &otherwise) {
  TextModel result = model(
      onnxNode("Cast", {"x"}, intAttr("to", 9), "c1") +
      onnxNode("If", {"c1"},
               graph("then_branch",
                     onnxNode("Neg", {"b"}, "", "nb") +
                         onnxNode("SequenceConstruct", {"a", "nb"}, "", "t") +
                         "output { name: \"t\" } ") +
                   graph("else_branch", otherwise + "output { name: \"e\" } "),
               "s") +
      onnxNode("ConcatFromSequence", {"s"}, intAttr("axis", 0)));
  return result;
}

/// A Loop of \p trips with the sequence s, initially empty, to which each
/// iteration appends a + i.
std::string appendingLoop(llvm::StringRef trips) {
  std::string body =
      graph("body", onnxNode("Cast", {"i"}, intAttr("to", 1), "fi") +
                        onnxNode("Add", {"a", "fi"}, "", "ai") +
                        onnxNode("SequenceInsert", {"si", "ai"}, "", "so") +
                        onnxNode("Identity", {"ci"}, "", "co") +
                        "input { name: \"i\" } input { name: \"ci\" } "
                        "input { name: \"si\" } output { name: \"co\" } "
                        "output { name: \"so\" } ");
  return onnxNode("SequenceEmpty", {}, "", "s0") +
         onnxNode("Loop", {trips.str(), "", "s0"}, body, "s");
}

} // namespace

TEST(ImporterSequences, Branches) {
  std::string same = onnxNode("SequenceConstruct", {"a", "b"}, "", "e");
  EXPECT_EQ(runText(branches(same)), "float<3>: 1 2 3");
  EXPECT_THAT(
      branches(onnxNode("SequenceConstruct", {"a"}, "", "e")).importError(),
      HasSubstr("output 0 is a sequence of float<1>, float<2> in one "
                "branch and a sequence of float<1> in the other"));
}

TEST(ImporterSequences, StatesOfLoops) {
  std::string join = onnxNode("ConcatFromSequence", {"s"}, intAttr("axis", 0));
  EXPECT_EQ(runText(model(scalar("four", 4) + appendingLoop("four") + join)),
            "float<4>: 1 2 3 4");
  // More iterations than are unrolled by choice.
  TextModel many = model(scalar("many", 300) + appendingLoop("many") +
                         onnxNode("SequenceAt", {"s", "last"}));
  EXPECT_EQ(runText(std::move(many)), "float<1>: 300");
  // No iteration leaves the sequence as it is.
  EXPECT_EQ(
      runText(model(appendingLoop("zero") + onnxNode("SequenceLength", {"s"}))),
      "int64<>: 0");
  // A trip count that only the running model knows.
  EXPECT_THAT(model(onnxNode("Cast", {"x"}, intAttr("to", 7), "n") +
                    appendingLoop("n") + join)
                  .importError(),
              HasSubstr("state 0 is a sequence or an optional; accepted: a "
                        "tensor, or a trip count and conditions that are "
                        "constant, and at most 4096 iterations"));
}

/// A scripted LSTM of PyTorch's: the steps are read from a sequence around the
/// loop, and collected in another.
TEST(ImporterSequences, RecurrentLoop) {
  std::string body = graph(
      "body",
      onnxNode("SequenceAt", {"steps", "i"}, "", "step") +
          onnxNode("Add", {"h", "step"}, "", "h1") +
          onnxNode("SequenceInsert", {"si", "h1"}, "", "so") +
          onnxNode("Identity", {"ci"}, "", "co") +
          "input { name: \"i\" } input { name: \"ci\" } input { name: \"si\" "
          "} input { name: \"h\" } output { name: \"co\" } output { name: "
          "\"so\" } output { name: \"h1\" } ");
  TextModel lstm = model(
      onnxNode("SplitToSequence", {"c", "one"}, "", "steps") +
      onnxNode("SequenceLength", {"steps"}, "", "n") +
      onnxNode("SequenceEmpty", {}, "", "s0") +
      "node { op_type: \"Loop\" input: \"n\" input: \"\" input: \"s0\" input: "
      "\"a\" output: \"s\" output: \"last_h\" " +
      body + "} " +
      onnxNode("ConcatFromSequence", {"s"},
               intAttr("axis", 0) + intAttr("new_axis", 1)));
  EXPECT_EQ(runText(std::move(lstm)), "float<3x1>: 5 10 16");
}
