//===- OpenRecurrentTest.cpp - Recurrent layers with open dimensions ------===//

#include "OpenOperators.h"

using namespace glowish;
using namespace glowish::openoperators;

namespace {

TEST(OpenRecurrent, Layers) {
  std::vector<Case> cases;
  for (auto [type, gates] :
       {std::pair("LSTM", 4), std::pair("GRU", 3), std::pair("RNN", 1)})
    for (const char *direction : {"forward", "reverse", "bidirectional"}) {
      int64_t count = std::string(direction) == "bidirectional" ? 2 : 1;
      std::string parameters = weights("w", {count, gates * 5, 4}) +
                               weights("r", {count, gates * 5, 5}) +
                               weights("b", {count, gates * 10});
      std::string attrs =
          intAttr("hidden_size", 5) + stringAttr("direction", direction);
      std::string own = nodeWith(type, {"x", "w", "r", "b"}, {"y", "h"}, attrs);
      for (const std::vector<llvm::StringRef> &shape :
           std::vector<std::vector<llvm::StringRef>>{
               {"3", "N", "4"}, {"W", "2", "4"}, {"W", "N", "4"}})
        cases.push_back(
            {type, shape, parameters + own, 14, makeOutputs({"y", "h"})});
      cases.push_back(
          {type,
           {"N", "W", "4"},
           parameters + nodeWith(type, {"x", "w", "r", "b"}, {"y", "h"},
                                 attrs + intAttr("layout", 1)),
           14,
           makeOutputs({"y", "h"})});
    }
  checkCases(cases);
}

/// Sequences of lengths that the model computes, some of them 0, and first
/// states of as many sequences as there are.
TEST(OpenRecurrent, LengthsAndStates) {
  std::string parameters = weights("w", {1, 20, 4}) + weights("r", {1, 20, 5}) +
                           floats("three", {}, {3}) + int64s("zero", {0});
  std::string lengths =
      node("Gather", {"x", "zero"}, intAttr("axis", 0), "first") +
      node("Gather", {"first", "zero"}, intAttr("axis", 2), "column") +
      node("Squeeze", {"column"}, intsAttr("axes", {0, 2}), "numbers") +
      node("Abs", {"numbers"}, "", "positive") +
      node("Mul", {"positive", "three"}, "", "scaled") +
      node("Cast", {"scaled"}, intAttr("to", 6), "lengths");
  std::string states =
      node("Concat", {"column", "column", "column", "column", "column"},
           intAttr("axis", 2), "states");
  for (const char *direction : {"forward", "reverse"}) {
    std::string attrs =
        intAttr("hidden_size", 5) + stringAttr("direction", direction);
    checkCases(
        {{"Lengths",
          {"3", "N", "4"},
          parameters + lengths +
              nodeWith("LSTM", {"x", "w", "r", "", "lengths"}, {"y", "h", "c"},
                       attrs),
          11,
          makeOutputs({"y", "h", "c"})},
         {"States",
          {"W", "N", "4"},
          parameters + lengths + states +
              nodeWith("LSTM", {"x", "w", "r", "", "", "states", "states"},
                       {"y", "h", "c"}, attrs),
          11,
          makeOutputs({"y", "h", "c"})}});
  }
}

/// What no sequence has is not in the range that decides a scale.
TEST(OpenRecurrent, Quantized) {
  std::vector<int64_t> bytes;
  for (int64_t i = 0; i < 100; ++i)
    bytes.push_back(i * 37 % 251 - 125);
  std::vector<int64_t> inputs(bytes.begin(), bytes.begin() + 80);
  std::string parameters = integers("w", /*type=*/3, {1, 4, 20}, inputs) +
                           integers("r", /*type=*/3, {1, 5, 20}, bytes) +
                           floats("scale", {1}, {0.01f}) +
                           integers("zero", /*type=*/3, {1}, {3});
  for (const char *direction : {"forward", "reverse"})
    for (const std::vector<llvm::StringRef> &shape :
         std::vector<std::vector<llvm::StringRef>>{
             {"3", "N", "4"}, {"W", "2", "4"}, {"W", "N", "4"}})
      checkCase(
          {"DynamicQuantizeLSTM", shape,
           parameters + microsoft("DynamicQuantizeLSTM",
                                  {"x", "w", "r", "", "", "", "", "", "scale",
                                   "zero", "scale", "zero"},
                                  intAttr("hidden_size", 5) +
                                      stringAttr("direction", direction))});
}

/// Layers upon layers compute the steps of the sequences that there are.
TEST(OpenRecurrent, EndsWithTheBatch) {
  std::string attrs = intAttr("hidden_size", 16);
  TextModel model = makeModel(
      {"",
       {"N", "3", "16"},
       weights("w", {1, 64, 16}) + weights("r", {1, 64, 16}) +
           node("Relu", {"x"}, "", "positive") +
           node("Transpose", {"positive"}, intsAttr("perm", {1, 0, 2}), "t") +
           node("LSTM", {"t", "w", "r"}, attrs, "first") +
           node("Squeeze", {"first"}, intsAttr("axes", {1}), "s") +
           node("LSTM", {"s", "w", "r"}, attrs),
       11});
  Program program = compile(model, /*isCPU=*/true, {}, {{"N", {1, 9}}});
  // A copy for each extent of the result.
  EXPECT_EQ(countUnbounded(program), 4u);
}

} // namespace
