//===- KernelAccessesTest.cpp - Loads and stores of kernels ---------------===//

#include "IRHelpers.h"
#include "glowish/Backends/CPU/CPUBackend.h"

using namespace glowish;
using namespace glowish::test;

namespace {

TargetOptions getCortexM4() {
  TargetOptions target;
  target.triple = "thumbv7em-none-eabihf";
  target.cpu = "cortex-m4";
  return target;
}

TargetOptions getAVX2() {
  TargetOptions target;
  target.triple = "x86_64-unknown-linux-gnu";
  target.cpu = "x86-64-v3";
  return target;
}

/// The accesses of the last instruction of a program with these buffers and
/// this code to its operand \p index.
double count(const TargetOptions &target, llvm::StringRef buffers,
             llvm::StringRef code, unsigned index) {
  auto backend = llvm::cantFail(CPUBackend::create(target));
  auto function =
      parse("ir \"main\" {\n" + buffers.str() + "code {\n" + code.str() + "}}");
  return function ? backend->countAccesses(function->getInstrs().back(), index)
                  : -1;
}

/// Of a 3x3 convolution of a 1x5x5x8 image with padding to 16 channels.
double countOf3x3(const TargetOptions &target, llvm::StringRef kind,
                  llvm::StringRef algorithm, unsigned index) {
  std::string buffers = llvm::formatv(R"(
    mutable %x : {0}<1x5x5x8> input "x"
    mutable %w : {0}<8192> input "w"
    mutable %y : {0}<1x5x5x16> output "y"
  )",
                                      kind);
  std::string code =
      llvm::formatv("CPUConvolution(@out %y, @in %x, @in %w, none, none, none) "
                    "{{kernels = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1],"
                    " dilations = [1, 1], group = 1, algorithm = \"{0}\"}\n",
                    algorithm);
  return count(target, buffers, code, index);
}

TEST(KernelAccesses, ATileIsServedByOneLoad) {
  constexpr double multiplyAdds = 25 * 16 * 9 * 8;
  EXPECT_EQ(countOf3x3(getCortexM4(), "float", "direct 4x3", 1),
            multiplyAdds / 3);
  EXPECT_EQ(countOf3x3(getAVX2(), "float", "direct 6x2", 1),
            multiplyAdds / (2 * 8));
}

TEST(KernelAccesses, WhatIsCopiedIsLoadedOnce) {
  EXPECT_EQ(countOf3x3(getCortexM4(), "float", "winograd 2x2 4", 1), 25 * 8);
  EXPECT_EQ(countOf3x3(getAVX2(), "float", "winograd 2x2 16", 1), 25);
}

TEST(KernelAccesses, ResultsAreStoredByVectors) {
  EXPECT_EQ(countOf3x3(getCortexM4(), "float", "direct 4x3", 0), 25 * 16);
  EXPECT_EQ(countOf3x3(getAVX2(), "float", "direct 6x2", 0), 25 * 2);
  llvm::StringRef buffers = R"(
    mutable %x : int8<100> input "x"
    mutable %y : int8<100> output "y"
  )",
                  code = "ElementWiseLoop(@out %y, @in %x) {program = "
                         "{v1:int8 = Neg(v0)}}\n";
  EXPECT_EQ(count(getCortexM4(), buffers, code, 0), 100);
  EXPECT_EQ(count(getAVX2(), buffers, code, 1), 100.0 / 32);
}

/// Bytes are widened on the stack, from words.
TEST(KernelAccesses, BytesAreCopiedByWords) {
  llvm::StringRef buffers = R"(
    mutable %x : int8<1x5x5x8> input "x"
    mutable %w : int8<8192> input "w"
    mutable %y : int32<1x5x5x16> output "y"
  )",
                  code = R"(
    CPUConvolution(@out %y, @in %x, @in %w, none, none, none)
      {kernels = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1],
       dilations = [1, 1], group = 1, algorithm = "dual 3x2"}
  )";
  EXPECT_EQ(count(getCortexM4(), buffers, code, 1), 25 * 8 / 4);
  EXPECT_EQ(count(getCortexM4(), buffers, code, 0), 25 * 16);
}

} // namespace
