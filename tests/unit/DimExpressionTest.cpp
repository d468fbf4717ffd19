//===- DimExpressionTest.cpp - Extents as expressions, and their texts ----===//

#include "GraphTexts.h"
#include "Messages.h"
#include "glowish/Graph/GraphText.h"
#include "llvm/Support/FormatVariadic.h"

using namespace glowish;

namespace {

using Ranges = std::map<std::string, IntRange>;

//===- Expressions --------------------------------------------------------===//

std::string bound(llvm::StringRef text, const Ranges &ranges) {
  auto range = boundDim(text, ranges);
  if (!range)
    return llvm::toString(range.takeError());
  return *range ? llvm::formatv("{0}..{1}", (*range)->low, (*range)->high).str()
                : "none";
}

TEST(DimExpression, Bounds) {
  Ranges ranges = {{"a", {1, 4}}, {"b", {2, 9}}, {"a-b", {5, 6}}};
  EXPECT_EQ(bound("a", ranges), "1..4");
  EXPECT_EQ(bound("a + b", ranges), "3..13");
  EXPECT_EQ(bound("a*b", ranges), "2..36");
  EXPECT_EQ(bound("b - a + 2", ranges), "0..10");
  EXPECT_EQ(bound("(b + 1)//a", ranges), "0..10");
  EXPECT_EQ(bound("-a*-b", ranges), "2..36");
  EXPECT_EQ(bound("a-b", ranges), "5..6");
  EXPECT_EQ(bound("a + c", ranges), "none");
  EXPECT_EQ(bound("a b", ranges), "none");
  EXPECT_EQ(bound("b*4611686018427387904", ranges),
            "the dimension 'b*4611686018427387904' does not fit 64 bits");
}

//===- Text forms ---------------------------------------------------------===//

constexpr llvm::StringLiteral graphText = R"(module "m"
placeholder %S : int64<> input "S" range "S" [1, 4]
placeholder %x : float<2x5{S + 1}> input "x"
placeholder %y : float<2x5> output "y"
function "main" {
  %n = Neg(%x) : float<2x5{S + 1}>
  Save(%n, %y)
}
)";

std::string reprint(const std::string &text) {
  auto module = parseModule(text, "f", nullptr);
  if (!module)
    return llvm::toString(module.takeError());
  return print(**module);
}

TEST(DimExpression, GraphsHaveThemInTheirText) {
  EXPECT_EQ(reprint(graphText.str()), graphText);
}

std::string replaced(llvm::StringRef from, llvm::StringRef to) {
  std::string text = graphText.str();
  size_t start = text.find(from.str());
  EXPECT_NE(start, std::string::npos);
  return text.replace(start, from.size(), to.str());
}

TEST(DimExpression, GraphsAreVerified) {
  auto verifyWith = [](llvm::StringRef from, llvm::StringRef to) {
    std::string text = replaced(from, to);
    // The placeholders alone: nodes of wrong ones cannot be made.
    text = text.substr(0, text.find("  %n")) + "}\n";
    auto module = parseModule(text, "f", nullptr);
    return module ? "" : llvm::toString(module.takeError());
  };
  EXPECT_EQ(verifyWith("[1, 4]", "[1, 5]"),
            "'x' is float<2x5{S + 1}>, with the extent 'S + 1'; accepted: an "
            "expression of stated symbols that is from 0 to 5");
  EXPECT_EQ(verifyWith("S + 1", "T + 1"),
            "'x' is float<2x5{T + 1}>, with the extent 'T + 1'; accepted: an "
            "expression of stated symbols that is from 0 to 5");
  EXPECT_EQ(verifyWith("[1, 4]", "[4, 1]"),
            "'S' states the extent 'S' from 4 to 1; accepted: a name, and "
            "bounds of at least 0 in ascending order");
  EXPECT_EQ(verifyWith("int64<>", "int32<>"),
            "'S' is int32<> and states the extent 'S'; accepted: an input "
            "int64<>");
  EXPECT_EQ(
      verifyWith("5{S + 1}> input", "5{S + 1}> output"),
      "'x' is float<2x5{S + 1}> with 2 extents before a run; accepted: an "
      "input, with one for each dimension");
  EXPECT_EQ(
      verifyWith("{S + 1}", "{S +}"),
      "f:3:27: 'S +' is no extent; expected an expression of integers and "
      "symbols with +, -, * and //");
  EXPECT_EQ(verifyWith("[1, 4]", "[1]"),
            "f:3:1: expected the least and the largest extent of 'S'");
}

} // namespace
