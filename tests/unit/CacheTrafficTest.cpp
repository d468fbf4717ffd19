//===- CacheTrafficTest.cpp - Where operands lie --------------------------===//

#include "glowish/IR/CacheTraffic.h"
#include "IRHelpers.h"
#include "gmock/gmock.h"

using namespace glowish;
using namespace glowish::test;
using testing::ElementsAre;

namespace {

/// The traffic of a program with these buffers and this code.
std::vector<BytesByLevel> countTraffic(llvm::StringRef buffers,
                                       llvm::StringRef code,
                                       llvm::ArrayRef<uint64_t> caches) {
  auto function =
      parse("ir \"main\" {\n" + buffers.str() + "code {\n" + code.str() + "}}");
  if (!function)
    return {};
  return countCacheTraffic(*function, planMemory(*function), caches);
}

constexpr llvm::StringLiteral chain = R"(
  mutable %x : float<1024> input "x"
  mutable %a : float<1024> output "a"
  mutable %y : float<1024> output "y"
)";
constexpr llvm::StringLiteral chainCode =
    "Copy(@out %a, @in %x)\nCopy(@out %y, @in %a)\n";

TEST(CacheTraffic, AllIsInACacheThatHoldsAll) {
  EXPECT_THAT(countTraffic(chain, chainCode, {12 << 10}),
              ElementsAre(ElementsAre(8192, 0), ElementsAre(8192, 0)));
}

TEST(CacheTraffic, WhatWasUsedLastIsInASmallerOne) {
  // Between its uses 8 KB of other bytes are used. Of %a, which is written with
  // %x read, the second half is among the last 6 KB when it is read; when the
  // next run writes it, it was used last.
  EXPECT_THAT(countTraffic(chain, chainCode, {6 << 10}),
              ElementsAre(ElementsAre(4096, 4096), ElementsAre(2048, 6144)));
  EXPECT_THAT(
      countTraffic(chain, chainCode, {6 << 10, 1 << 20}),
      ElementsAre(ElementsAre(4096, 4096, 0), ElementsAre(2048, 6144, 0)));
}

TEST(CacheTraffic, WithoutCachesAllIsInMemory) {
  EXPECT_THAT(countTraffic(chain, chainCode, {}),
              ElementsAre(ElementsAre(8192), ElementsAre(8192)));
}

TEST(CacheTraffic, OfATableWhatIsPickedIsMoved) {
  EXPECT_THAT(countTraffic(R"(
    mutable %t : float<1000x128> input "t"
    mutable %i : int64<64> input "i"
    mutable %y : float<64x128> output "y"
  )",
                           "Gather(@out %y, @in %t, @in %i) {axis = 0}\n", {}),
              ElementsAre(ElementsAre(2 * 64 * 128 * 4 + 64 * 8)));
}

TEST(CacheTraffic, RepeatedElementsAreMovedOnce) {
  EXPECT_THAT(countTraffic(R"(
    mutable %x : float<128> input "x"
    view %row = %x offset 0 strides [0, 1] : float<100x128>
    mutable %y : float<100x128> output "y"
  )",
                           "Copy(@out %y, @in %row)\n", {}),
              ElementsAre(ElementsAre(4 * 101 * 128)));
}

TEST(CacheTraffic, NothingIsMovedOfNothing) {
  EXPECT_THAT(countTraffic(R"(
    mutable %x : float<0x100> input "x"
    mutable %b : float<100> input "b"
    mutable %y : float<0x100> output "y"
  )",
                           "Copy(@out %y, @in %x)\n", {}),
              ElementsAre(ElementsAre(0)));
  EXPECT_THAT(countTraffic(R"(
    activation %a : float<1024>
    view %none = %a offset 0 strides [64, 1] : float<3x0>
    view %all = %a offset 0 strides [1] : float<1024>
    mutable %y : float<3x0> output "y"
  )",
                           "Alloc(@out %a)\nFill(@out %all) {value = 1.0}\n"
                           "Copy(@out %y, @in %none)\nDealloc(@out %a)\n",
                           {1 << 20}),
              ElementsAre(ElementsAre(4096, 0), ElementsAre(0, 0)));
}

TEST(CacheTraffic, TheSecondUseOfAnInstructionIsNear) {
  EXPECT_THAT(countTraffic("activation %a : float<8192>\n",
                           "Alloc(@out %a)\nFill(@out %a) {value = 1.0}\n"
                           "ElementWiseLoop(@out %a, @in %a) {program = "
                           "{v1:float = Neg(v0)}}\nDealloc(@out %a)\n",
                           {1 << 10}),
              ElementsAre(ElementsAre(1024, 32768 - 1024),
                          ElementsAre(32768 + 1024, 32768 - 1024)));
}

} // namespace
