//===- OperationsTest.cpp - The arithmetic of kernels ---------------------===//

#include "IRHelpers.h"
#include "glowish/Backends/CPU/CPUBackend.h"

using namespace glowish;
using namespace glowish::test;

namespace {

/// The operations of the last instruction of a program with these buffers and
/// this code, on x86-64 with AVX2.
double countOf(llvm::StringRef buffers, llvm::StringRef code) {
  TargetOptions target;
  target.triple = "x86_64-unknown-linux-gnu";
  target.cpu = "x86-64-v3";
  auto backend = llvm::cantFail(CPUBackend::create(target));
  auto function =
      parse("ir \"main\" {\n" + buffers.str() + "code {\n" + code.str() + "}}");
  return function ? backend->countOperations(function->getInstrs().back()) : 0;
}

/// A 3x3 convolution of a 1x5x5x8 image with padding to 16 channels.
double countOf3x3(llvm::StringRef algorithm, llvm::StringRef attributes = "") {
  return countOf(R"(
    mutable %x : float<1x5x5x8> input "x"
    mutable %w : float<8192> input "w"
    mutable %y : float<1x5x5x16> output "y"
  )",
                 ("CPUConvolution(@out %y, @in %x, @in %w, none, none, none) {"
                  "kernels = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1], "
                  "dilations = [1, 1], group = 1, algorithm = \"" +
                  algorithm + "\"" + attributes + "}\n")
                     .str());
}

TEST(Operations, TapsOutsideOfTheImageDoNotCount) {
  EXPECT_EQ(countOf3x3("direct 6x2"), 2 * 13 * 13 * 8 * 16);
}

TEST(Operations, EpiloguesCount) {
  EXPECT_EQ(countOf3x3("direct 6x2", ", epilogue = {v1:float = Relu(v0)}"),
            2 * 13 * 13 * 8 * 16 + 25 * 16);
}

TEST(Operations, WinogradCountsItsPointsAndTransforms) {
  // 3x3 tiles of 4x4 points.
  double multiplied = 2 * 9 * 16 * 8 * 16,
         count = countOf3x3("winograd 2x2 16");
  EXPECT_GT(count, multiplied);
  // Each of the 4 + 4 transforms of 4 inputs takes at most 4 * 4 multiply-adds,
  // each of 4 + 2 to outputs at most 2 * 4.
  EXPECT_LT(count, multiplied + 9 * (8 * 32 * 8 + 6 * 16 * 16));
}

double countOfLoop(llvm::StringRef program) {
  return countOf(
      R"(
    mutable %x : float<100> input "x"
    mutable %y : float<100> output "y"
  )",
      ("ElementWiseLoop(@out %y, @in %x) {program = {" + program + "}}\n")
          .str());
}

TEST(Operations, StepsOfLoops) {
  EXPECT_EQ(countOfLoop("v1:float = Add(v0, v0); v2:float = Mul(v1, v0)"), 200);
  // Neither changes of bits nor comparisons alone.
  EXPECT_EQ(countOfLoop("v1:float = Neg(v0)"), 0);
  // Limits, a polynomial of degree 6, and a scale.
  double exp = countOfLoop("v1:float = Exp(v0)");
  EXPECT_GE(exp, 100 * 16);
  EXPECT_LE(exp, 100 * 30);
  EXPECT_EQ(countOfLoop("v1:float = Sigmoid(v0)"), exp + 200);
}

TEST(Operations, Reductions) {
  EXPECT_EQ(countOf(R"(
    mutable %x : float<3x7x5> input "x"
    mutable %y : float<3x5> output "y"
  )",
                    "Reduce(@out %y, @in %x) {mode = \"sum\", axes = [1], "
                    "keepDims = false}\n"),
            3 * 7 * 5);
}

} // namespace
