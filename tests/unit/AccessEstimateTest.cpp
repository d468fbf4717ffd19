//===- AccessEstimateTest.cpp - How often buffers are accessed ------------===//

#include "glowish/IR/AccessEstimate.h"
#include "IRHelpers.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/IR/MemoryPlan.h"
#include "glowish/IRGen/IRGen.h"

using namespace glowish;
using namespace glowish::test;

namespace {

/// The accesses to buffer \p name in a program with these buffers and this
/// code.
double count(llvm::StringRef buffers, llvm::StringRef code,
             llvm::StringRef name) {
  auto function =
      parse("ir \"main\" {\n" + buffers.str() + "code {\n" + code.str() + "}}");
  if (!function)
    return -1;
  return AccessEstimate(*function, countAccesses)
      .get(function->findBuffer(name));
}

TEST(AccessEstimate, WhatIsMultipliedIsLoadedForEachMultiplyAdd) {
  llvm::StringRef buffers = R"(
    mutable %x : float<1x7x3x4> input "x"
    mutable %w : float<6x3x1x2> input "w"
    mutable %b : float<6> input "b"
    mutable %y : float<1x5x3x6> output "y"
  )",
                  code = R"(
    Convolution(@out %y, @in %x, @in %w, @in %b) {strides = [1, 1],
      pads = [0, 0, 0, 0], dilations = [1, 1], group = 2}
  )";
  // 90 sums of six multiply-adds each.
  EXPECT_EQ(count(buffers, code, "x"), 90 * 6);
  EXPECT_EQ(count(buffers, code, "w"), 90 * 6);
  EXPECT_EQ(count(buffers, code, "b"), 6) << "it is added";
  EXPECT_EQ(count(buffers, code, "y"), 90);
}

TEST(AccessEstimate, EpiloguesLoadOnce) {
  llvm::StringRef buffers = R"(
    mutable %a : float<5x7> input "a"
    mutable %b : float<7x9> input "b"
    mutable %c : float<5x9> input "c"
    mutable %y : float<5x9> output "y"
  )",
                  code = R"(
    MatMul(@out %y, @in %a, @in %b, @in %c) {epilogue = {v2:float = Add(v0, v1)}}
  )";
  EXPECT_EQ(count(buffers, code, "a"), 5 * 9 * 7);
  EXPECT_EQ(count(buffers, code, "b"), 5 * 9 * 7);
  EXPECT_EQ(count(buffers, code, "c"), 5 * 9);
}

TEST(AccessEstimate, WindowsOverlap) {
  llvm::StringRef buffers = R"(
    mutable %x : int8<1x7x7x3> input "x"
    mutable %y : int8<1x5x5x3> output "y"
  )",
                  code = R"(
    MaxPool(@out %y, @in %x) {kernels = [3, 3], strides = [1, 1],
      pads = [0, 0, 0, 0], dilations = [1, 1]}
  )";
  EXPECT_EQ(count(buffers, code, "x"), 9 * 75);
  EXPECT_EQ(count(buffers, code, "y"), 75);
}

TEST(AccessEstimate, RepeatedElementsAndPartsCountAsTheyAreLoaded) {
  llvm::StringRef buffers = R"(
    mutable %x : float<17> input "x"
    view %row = %x offset 0 strides [0, 1] : float<100x17>
    view %part = %x offset 3 strides [1] : float<5>
    mutable %y : float<100x17> output "y"
    mutable %z : float<5> output "z"
  )",
                  code = "Copy(@out %y, @in %row)\nCopy(@out %z, @in %part)\n";
  EXPECT_EQ(count(buffers, code, "x"), (1700 + 5));
}

TEST(AccessEstimate, BodiesCountAsOftenAsTheyMayRun) {
  auto ir = generateFrom(R"(
module "m"
placeholder %x : float<7> input "x"
placeholder %y : float<7> output "y"
function "main" {
  %kept = Neg(%x) : float<7>
  %loop:2 = Loop(none, none, %x, %kept) {body = body "body" (%i : int64<>, %c : bool<>, %s : float<7>, %k : float<7>) -> (%nc : bool<>, %ns : float<7>) {
    %soft = Softmax(%k) {axis = 0} : float<7>
    %sum = Add(%s, %soft) : float<7>
    Save(%sum, %ns)
    Save(%c, %nc)
  }, numStates = 1, maxTripCount = 100} : float<7>, int64<>
  Save(%loop:0, %y)
}
)");
  AccessEstimate estimate(*ir, countAccesses);
  const Instruction *loop = nullptr;
  const Buffer *kept = nullptr;
  for (const Instruction &instr : ir->getInstrs()) {
    if (llvm::isa<LoopInstr>(instr))
      loop = &instr;
    if (instr.getName() == "kept")
      kept = instr.getOperand(0)->getRoot();
  }
  ASSERT_TRUE(loop && kept);
  // The body reads what it captures each time.
  EXPECT_GE(estimate.get(kept), 7 * 100);
  EXPECT_LE(estimate.get(kept), 7 * 103);
  EXPECT_GE(estimate.getInside(*loop), 7 * 200);
}

TEST(AccessEstimate, BranchesReadWhatTheyCapture) {
  auto ir = generateFrom(R"(
module "m"
placeholder %flag : bool<> input "flag"
placeholder %x : float<7> input "x"
placeholder %y : float<7> output "y"
function "main" {
  %kept = Neg(%x) : float<7>
  %if = If(%flag, %kept) {thenBody = body "then" (%tx : float<7>) -> (%ty : float<7>) {
    %soft = Softmax(%tx) {axis = 0} : float<7>
    Save(%soft, %ty)
  }, elseBody = body "else" (%ex : float<7>) -> (%ey : float<7>) {
    Save(%ex, %ey)
  }} : float<7>
  Save(%if, %y)
}
)");
  AccessEstimate estimate(*ir, countAccesses);
  const auto *branch = findInstr<IfInstr>(*ir);
  ASSERT_TRUE(branch);
  // Its write and the instruction's read, and one in each branch.
  const Buffer *kept = branch->getOperand(2)->getRoot();
  EXPECT_EQ(kept->getName(), "kept");
  EXPECT_EQ(estimate.get(kept), 7 * 4);
}

TEST(AccessEstimate, ABackEndMaySayOtherwise) {
  auto function = parse(R"(
ir "main" {
  mutable %x : float<17> input "x"
  mutable %y : float<17> output "y"
  code {
    Copy(@out %y, @in %x)
  }
}
)");
  ASSERT_TRUE(function);
  AccessEstimate estimate(*function,
                          [](const Instruction &instr, unsigned index) {
                            return instr.reads(index) ? 2.5 : 3;
                          });
  EXPECT_EQ(estimate.get(function->findBuffer("x")), 2.5);
  EXPECT_EQ(estimate.get(function->findBuffer("y")), 3);
}

} // namespace
