//===- RematerializedOrderTest.cpp - What is computed again ---------------===//

#include "IRHelpers.h"
#include "glowish/IRGen/Rematerialization.h"
#include "gmock/gmock.h"

using namespace glowish;
using namespace glowish::test;
using testing::Contains;
using testing::IsSupersetOf;
using testing::Not;

namespace {

/// The names of the nodes of a training step in the order that needs little
/// memory; "loss" is the loss.
std::vector<std::string> schedule(llvm::StringRef text,
                                  const RematerializationConfig &config) {
  auto module = llvm::cantFail(parseModule(text, "g", nullptr));
  Function &function = *module->getFunctions().front();
  const Placeholder *loss = module->findPlaceholder("loss");
  EXPECT_TRUE(loss);
  std::vector<std::string> names;
  for (Node *node : scheduleWithRematerialization(function, *loss, config))
    names.push_back(node->getName().str());
  return names;
}

/// The backward pass reads %m alone, for which %k is needed again.
TEST(RematerializedOrder, CheapNodesAreComputedAgainWithTheirSources) {
  EXPECT_THAT(schedule(R"(module "m"
placeholder %x : float<1000> input "x"
placeholder %y : float<3000> input "y"
placeholder %loss : float<1> output "loss"
placeholder %gradient : float<1000> output "gradient"
function "main" {
  %k = Exp(%x) : float<1000>
  %m = Neg(%k) : float<1000>
  %s = Reduce(%m) {mode = "sum", axes = [0], keepDims = true} : float<1>
  %u = Add(%y, %s) : float<3000>
  %t = Softmax(%u) {axis = 0} : float<3000>
  %t2 = Softmax(%t) {axis = 0} : float<3000>
  %l = Reduce(%t2) {mode = "sum", axes = [0], keepDims = true} : float<1>
  Save(%l, %loss)
  %g = Mul(%m, %l) : float<1000>
  %n = Softmax(%g) {axis = 0} : float<1000>
  Save(%n, %gradient)
}
)",
                       {.cheapNodes = true}),
              IsSupersetOf({"k.again", "m.again"}));
}

/// Eight layers of the same size, and a backward pass through all of them.
TEST(RematerializedOrder, OfTwoSegmentsTheLastIsKept) {
  std::string text = R"(module "m"
placeholder %x : float<10x10> input "x"
placeholder %w : float<10x10> input "w"
placeholder %loss : float<1x1> output "loss"
placeholder %gradient : float<10x10> output "gradient"
function "main" {
  %f0 = MatMul(%x, %w) : float<10x10>
)";
  for (int i = 1; i < 8; ++i)
    text +=
        llvm::formatv("  %f{0} = MatMul(%f{1}, %w) : float<10x10>\n", i, i - 1);
  text +=
      R"(  %l = Reduce(%f7) {mode = "sum", axes = [0, 1], keepDims = true} : float<1x1>
  Save(%l, %loss)
  %b7 = Mul(%f7, %l) : float<10x10>
)";
  for (int i = 6; i >= 0; --i)
    text += llvm::formatv("  %p{0} = Mul(%f{0}, %b{1}) : float<10x10>\n"
                          "  %b{0} = MatMul(%p{0}, %w) : float<10x10>\n",
                          i, i + 1);
  text += "  Save(%b0, %gradient)\n}\n";
  std::vector<std::string> names = schedule(text, {.numSegments = 2});
  EXPECT_THAT(names, Contains("f0.again"));
  for (const char *kept : {"f4.again", "f5.again", "f6.again", "f7.again"})
    EXPECT_THAT(names, Not(Contains(kept)));
}

} // namespace
