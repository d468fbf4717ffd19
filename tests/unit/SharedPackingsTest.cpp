//===- SharedPackingsTest.cpp - Packings that programs share --------------===//

#include "Selection/SharedPackings.h"
#include "glowish/IR/Instrs.h"
#include "gtest/gtest.h"

using namespace glowish;

namespace {

/// Programs with filters of 3x3x64x64, of which each has a time with each
/// packing.
class Programs {
public:
  explicit Programs(bool packsOnce = false, ElemKind kind = ElemKind::Float)
      : packings(packsOnce), kind(kind) {}

  /// A candidate, its cycles, and what of them is the price of its size.
  struct Estimate {
    std::string candidate;
    double cycles, sizePrice = 0;
  };

  /// Adds the use of \p filter by \p program, with \p estimates.
  void add(unsigned program, unsigned filter, std::vector<Estimate> estimates) {
    Uses &uses = filters[filter];
    if (!uses.filter) {
      Type type(kind, {64, 3, 3, 64});
      uses.filter =
          function.createConstant("w", std::make_shared<const Tensor>(type));
      function.create<CopyInstr>("conv" + std::to_string(filter),
                                 function.createActivation("a", type),
                                 uses.filter);
    }
    auto &ranked = uses.ranked[program];
    for (const Estimate &estimate : estimates) {
      ranked.push_back(*ConvolutionCandidate::parse(estimate.candidate));
      ranked.back().cycles = estimate.cycles;
      ranked.back().sizePrice = estimate.sizePrice;
    }
    ConvolutionShape shape;
    shape.channels = shape.outChannels = 64;
    shape.kernelH = shape.kernelW = 3;
    packings.add(program, *uses.filter, shape, ranked);
  }

  /// The candidate for \p program and \p filter.
  std::string choose(unsigned program, unsigned filter) const {
    const Uses &uses = filters.at(filter);
    return packings.choose(uses.filter->getTensor(), uses.ranked.at(program))
        .str();
  }

  /// Decides, and expects that programs 0 and 1 take \p packing for filter 0,
  /// the only one that is stored.
  void expectShared(const std::string &packing) {
    packings.decide();
    EXPECT_EQ(choose(0, 0), packing);
    EXPECT_EQ(choose(1, 0), packing);
    EXPECT_EQ(packings.getNote(), "");
  }

  SharedPackings packings;

private:
  struct Uses {
    Buffer *filter = nullptr;
    std::map<unsigned, std::vector<ConvolutionCandidate>> ranked;
  };
  ElemKind kind;
  IRFunction function{"main"};
  std::map<unsigned, Uses> filters;
};

TEST(SharedPackings, OneWithWhichNoProgramIsMuchSlower) {
  Programs programs;
  programs.add(0, 0, {{"direct 1x8", 100}, {"direct 4x2", 120}});
  programs.add(1, 0, {{"direct 4x2", 300}, {"direct 1x8", 900}});
  programs.expectShared("direct 4x2");
}

// 12.5 % in place of 30 % and of 25 % of the other.
TEST(SharedPackings, OneBetweenThoseOfThePrograms) {
  Programs programs;
  programs.add(0, 0,
               {{"direct 1x8", 80}, {"direct 2x5", 90}, {"direct 4x2", 100}});
  programs.add(
      1, 0, {{"direct 4x2", 800}, {"direct 2x5", 900}, {"direct 1x8", 1040}});
  programs.expectShared("direct 2x5");
}

// The price of a packing's size decides what a program takes by itself, but it
// is no time.
TEST(SharedPackings, TimeWithoutThePriceOfSizes) {
  Programs programs;
  programs.add(0, 0, {{"direct 4x2", 100}, {"winograd 4x4 32", 180, 90}});
  programs.add(1, 0, {{"winograd 4x4 32", 400, 90}, {"direct 4x2", 600}});
  programs.expectShared("winograd 4x4 32");
}

TEST(SharedPackings, TheSmallestOfThoseThatAreAsFast) {
  Programs programs;
  // Of 9 weights, F(4x4) has 36 and F(2x2) 16.
  programs.add(0, 0, {{"winograd 4x4 32", 100}, {"winograd 2x2 32", 104}});
  programs.add(1, 0, {{"winograd 4x4 32", 800}, {"winograd 2x2 32", 830}});
  programs.packings.decide();
  EXPECT_EQ(programs.choose(0, 0), "winograd 2x2 32");
  Programs slower;
  slower.add(0, 0, {{"winograd 4x4 32", 100}, {"winograd 2x2 32", 110}});
  slower.add(1, 0, {{"winograd 4x4 32", 800}, {"winograd 2x2 32", 880}});
  slower.packings.decide();
  EXPECT_EQ(slower.choose(0, 0), "winograd 4x4 32");
}

/// Filter 0 has a way of its own in each program, with \p other cycles for the
/// way of the other; filter 1, which takes most of the time, has not.
void addApart(Programs &programs, double other) {
  programs.add(0, 0, {{"direct 4x2", 100}, {"winograd 2x2 32", other}});
  programs.add(1, 0, {{"winograd 2x2 32", 800}, {"direct 4x2", 1600}});
  programs.add(0, 1, {{"direct 4x2", 900}});
  programs.add(1, 1, {{"direct 4x2", 7200}});
  programs.packings.decide();
}

TEST(SharedPackings, OneThatMakesNoProgramMuchSlower) {
  // 49 of 1000 cycles more.
  Programs programs;
  addApart(programs, 149);
  EXPECT_EQ(programs.choose(0, 0), "winograd 2x2 32");
  EXPECT_EQ(programs.choose(1, 0), "winograd 2x2 32");
  EXPECT_EQ(programs.packings.getNote(), "");
}

TEST(SharedPackings, AnotherWhereTheFasterOneMakesAProgramMuchSlower) {
  Programs programs;
  programs.add(0, 0, {{"direct 4x2", 500}, {"winograd 2x2 32", 750}});
  programs.add(1, 0, {{"winograd 2x2 32", 400}, {"direct 4x2", 640}});
  programs.add(0, 1, {{"direct 4x2", 500}});
  programs.add(1, 1, {{"direct 4x2", 7600}});
  programs.packings.decide();
  EXPECT_EQ(programs.choose(0, 0), "direct 4x2");
  EXPECT_EQ(programs.choose(1, 0), "direct 4x2");
}

TEST(SharedPackings, SeveralWhereOneIsSlow) {
  Programs programs;
  programs.add(0, 0, {{"direct 4x2", 100}, {"winograd 2x2 32", 150}});
  programs.add(1, 0, {{"winograd 2x2 32", 800}, {"direct 4x2", 1600}});
  programs.packings.decide();
  EXPECT_EQ(programs.choose(0, 0), "direct 4x2");
  EXPECT_EQ(programs.choose(1, 0), "winograd 2x2 32");
  // 64 * 64 weights of 16 points and of 9 taps.
  EXPECT_EQ(programs.packings.getNote(),
            "the weight of 'conv0' has more than one packing, as with one for "
            "all programs, one of them would take 50 % longer; that takes 144 "
            "KiB more; «pack-weights-once» packs each once");
}

TEST(SharedPackings, OneHoweverSlow) {
  Programs programs(/*packsOnce=*/true);
  programs.add(0, 0, {{"direct 4x2", 100}, {"winograd 2x2 32", 150}});
  programs.add(1, 0, {{"winograd 2x2 32", 800}, {"direct 4x2", 1600}});
  programs.expectShared("winograd 2x2 32");
}

// As where a tuning file says so.
TEST(SharedPackings, SeveralWhereThereIsNoneForAll) {
  Programs programs(/*packsOnce=*/true);
  programs.add(0, 0, {{"direct 4x2", 100}});
  programs.add(1, 0, {{"direct 4x3", 100}});
  programs.packings.decide();
  EXPECT_EQ(programs.choose(0, 0), "direct 4x2");
  EXPECT_EQ(programs.choose(1, 0), "direct 4x3");
  EXPECT_EQ(programs.packings.getNote(),
            "the weight of 'conv0' has more than one packing, as none is for "
            "all programs; that takes 144 KiB more");
}

TEST(SharedPackings, BytesThatBecomePairs) {
  Programs programs(/*packsOnce=*/true, ElemKind::Int8);
  programs.add(0, 0, {{"dot 4 4x2", 100}});
  programs.add(1, 0, {{"dot 2 4x2", 100}});
  programs.packings.decide();
  // 64 * 64 weights of 9 taps, as int16.
  EXPECT_EQ(programs.packings.getNote(),
            "the weight of 'conv0' has more than one packing, as none is for "
            "all programs; that takes 72 KiB more");
}

} // namespace
