//===- OpenExpansionTest.cpp - Extents that broadcasts want to be equal ---===//
//
// A dimension that a run decides does not broadcast: each run checks that it is
// what the other operand has.
//
//===----------------------------------------------------------------------===//

#include "OpenOperators.h"

using namespace glowish;
using namespace glowish::openoperators;

namespace {

/// A model with the inputs x[N, 4] and z[M, 4].
TextModel makeTwo(const std::string &body) {
  TextModel model = makeModel({"", {"N", "4"}, body});
  model.body += symbolicInput("z", {"M", "4"});
  return model;
}

/// Expects of \p model, compiled for \p ranges, that it computes in \p runs
/// what the model for their values does, and in \p refused gets \p message.
void checkRequired(
    TextModel &model, const ExtentRanges &ranges,
    llvm::ArrayRef<ExtentValues> runs,
    llvm::ArrayRef<std::pair<ExtentValues, std::string>> refused) {
  for (bool isCPU : {false, true}) {
    Program open = compile(model, isCPU, {}, ranges);
    for (const ExtentValues &values : runs) {
      SCOPED_TRACE(print(values));
      Program fixed = compile(model, /*isCPU=*/false, values, {});
      compareRuns(open, fixed, values);
    }
    for (const auto &[values, message] : refused) {
      EXPECT_EQ(getMessage(setInputs(open, nullptr, values)), "");
      EXPECT_EQ(getMessage(open.session->run()), message);
    }
  }
}

std::string differ(llvm::StringRef a, int x, llvm::StringRef b, int y) {
  return llvm::formatv("the extents '{0}' and '{1}' are {2} and {3}; accepted: "
                       "equal ones",
                       a, b, x, y);
}

TEST(OpenExpansion, ToAConstant) {
  TextModel model = makeModel(
      {"", {"N", "4"}, int64s("s", {3, 4}) + node("Expand", {"x", "s"})});
  for (int64_t most : {3, 6})
    checkRequired(model, {{"N", {1, most}}}, {{{"N", 3}}},
                  {{{{"N", 2}}, differ("N", 2, "3", 3)},
                   {{{"N", 1}}, differ("N", 1, "3", 3)}});
  EXPECT_EQ(importError(model, {{"N", {1, 2}}}),
            "'m': node 'y' (Expand): an extent is 3, but one that must equal "
            "it is at most 2");
  // A 1 keeps a dimension, and dimensions in front are added.
  model = makeModel(
      {"", {"N", "1"}, int64s("s", {2, 1, 3}) + node("Expand", {"x", "s"})});
  checkFromNothing(model, {{"N", {1, 4}}}, {{{"N", 1}}, {{"N", 4}}});
}

TEST(OpenExpansion, ToAnotherExtent) {
  std::string shape = node("Shape", {"z"}, "", "s");
  TextModel model = makeTwo(shape + node("Expand", {"x", "s"}));
  std::vector<std::pair<ExtentValues, std::string>> refused = {
      {{{"N", 1}, {"M", 3}}, differ("N", 1, "M", 3)},
      {{{"N", 3}, {"M", 1}}, differ("N", 3, "M", 1)},
      {{{"N", 2}, {"M", 3}}, differ("N", 2, "M", 3)}};
  for (int64_t most : {3, 7})
    for (int64_t other : {3, 7})
      checkRequired(
          model, {{"N", {0, most}}, {"M", {0, other}}},
          {{{"N", 3}, {"M", 3}}, {{"N", 1}, {"M", 1}}, {{"N", 0}, {"M", 0}}},
          refused);
  // Both have at most one row.
  checkRequired(model, {{"N", {0, 1}}, {"M", {0, 1}}},
                {{{"N", 0}, {"M", 0}}, {{"N", 1}, {"M", 1}}},
                {{{{"N", 1}, {"M", 0}}, differ("N", 1, "M", 0)}});
  checkRequired(model, {{"N", {0, 1}}, {"M", {0, 4}}}, {{{"N", 1}, {"M", 4}}},
                {{{{"N", 0}, {"M", 4}}, differ("N", 0, "1", 1)}});
  // A constant has the rows that it has.
  model = makeTwo(weights("c", {3, 4}) + shape + node("Expand", {"c", "s"}) +
                  node("Neg", {"x"}, "", "unused"));
  checkRequired(model, {{"N", {1, 2}}, {"M", {1, 5}}}, {{{"N", 1}, {"M", 3}}},
                {{{{"N", 1}, {"M", 1}}, differ("3", 3, "M", 1)}});
}

TEST(OpenExpansion, OfElementWiseOperands) {
  TextModel model = makeModel(
      {"", {"N", "4"}, weights("c", {3, 4}) + node("Add", {"x", "c"})});
  checkRequired(model, {{"N", {1, 3}}}, {{{"N", 3}}},
                {{{{"N", 2}}, differ("N", 2, "3", 3)}});
  model = makeTwo(node("Mul", {"x", "z"}));
  checkRequired(model, {{"N", {1, 3}}, {"M", {1, 5}}}, {{{"N", 2}, {"M", 2}}},
                {{{{"N", 2}, {"M", 5}}, differ("N", 2, "M", 5)}});
}

} // namespace
