//===- CostTest.cpp - Work of instructions --------------------------------===//

#include "glowish/IR/Cost.h"
#include "IRHelpers.h"
#include "glowish/IR/Instrs.h"

using namespace glowish;
using namespace glowish::test;

namespace {

/// The cost of the last instruction of a program with these buffers and this
/// code.
Cost costOf(llvm::StringRef buffers, llvm::StringRef code) {
  auto function =
      parse("ir \"main\" {\n" + buffers.str() + "code {\n" + code.str() + "}}");
  return function ? getCost(function->getInstrs().back()) : Cost();
}

constexpr llvm::StringLiteral plain =
    "strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], ";

TEST(Cost, Convolution) {
  // Each of 1 * 5 * 3 * 6 elements is a sum over 3 * 1 * 2 (of 4 channels in
  // two groups).
  Cost cost = costOf(R"(
    mutable %x : float<1x7x3x4> input "x"
    mutable %w : float<6x3x1x2> input "w"
    mutable %b : float<6> input "b"
    mutable %y : float<1x5x3x6> output "y"
  )",
                     ("Convolution(@out %y, @in %x, @in %w, @in %b) {" + plain +
                      "group = 2}\n")
                         .str());
  EXPECT_EQ(cost.flops, 2 * 90 * 6);
  EXPECT_EQ(cost.bytes, 4 * (7 * 3 * 4 + 6 * 3 * 2 + 6 + 90));
}

TEST(Cost, PackedConvolutionCountsWhatIsDefined) {
  // The filter is padded to 16 outputs; three are counted.
  Cost cost =
      costOf(R"(
    mutable %x : float<1x1x33x8> input "x"
    mutable %w : float<128> input "w"
    mutable %y : float<1x1x33x3> output "y"
  )",
             ("CPUConvolution(@out %y, @in %x, @in %w, none, none, none) {"
              "kernels = [1, 1], " +
              plain + "group = 1, algorithm = \"direct 14x1\"}\n")
                 .str());
  EXPECT_EQ(cost.flops, 2 * 33 * 3 * 8);
  EXPECT_EQ(cost.bytes, 4 * (33 * 8 + 128 + 33 * 3));
}

TEST(Cost, MatMulOfBatches) {
  Cost cost = costOf(R"(
    mutable %a : double<3x1x5x7> input "a"
    mutable %b : double<2x7x9> input "b"
    mutable %y : double<3x2x5x9> output "y"
  )",
                     "MatMul(@out %y, @in %a, @in %b)\n");
  EXPECT_EQ(cost.flops, 2 * 3 * 2 * 5 * 9 * 7);
  EXPECT_EQ(cost.bytes, 8 * (3 * 5 * 7 + 2 * 7 * 9 + 3 * 2 * 5 * 9));
}

TEST(Cost, NothingOfNothing) {
  Cost cost = costOf(R"(
    mutable %a : float<0x7> input "a"
    mutable %b : float<7x9> input "b"
    mutable %y : float<0x9> output "y"
  )",
                     "MatMul(@out %y, @in %a, @in %b)\n");
  EXPECT_EQ(cost.flops, 0);
  EXPECT_EQ(cost.bytes, 4 * 7 * 9);
}

TEST(Cost, RepeatedElementsCountOnce) {
  Cost cost = costOf(R"(
    mutable %x : float<17> input "x"
    view %row = %x offset 0 strides [0, 1] : float<1000x17>
    mutable %y : float<1000x17> output "y"
  )",
                     "Copy(@out %y, @in %row)\n");
  EXPECT_EQ(cost.flops, 0);
  EXPECT_EQ(cost.bytes, 4 * (17 + 17000));
}

TEST(Cost, BodiesCountAsOftenAsTheyMayRun) {
  auto function = generateFrom(R"(
module "m"
placeholder %x : float<7> input "x"
placeholder %y : float<7> output "y"
function "main" {
  %loop:2 = Loop(none, none, %x) {body = body "body" (%i : int64<>, %c : bool<>, %s : float<7>) -> (%nc : bool<>, %ns : float<7>) {
    Save(%s, %ns)
    Save(%c, %nc)
  }, numStates = 1, maxTripCount = 100} : float<7>, int64<>
  Save(%loop:0, %y)
}
)");
  const auto *loop = findInstr<LoopInstr>(*function);
  ASSERT_TRUE(loop);
  Cost cost = getCost(*loop);
  EXPECT_EQ(cost.flops, 0);
  EXPECT_EQ(cost.bytes, 100 * (2 * 7 * 4 + 2));
}

TEST(Cost, MarksOfLifetimesAreFree) {
  Cost cost = costOf(R"(
    activation %a : float<33>
  )",
                     "Alloc(@out %a)\nFill(@out %a) {value = 1.0}\n"
                     "Dealloc(@out %a)\n");
  EXPECT_EQ(cost.flops, 0);
  EXPECT_EQ(cost.bytes, 0);
}

} // namespace
