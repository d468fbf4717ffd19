//===- ArenaRegionsTest.cpp - An arena of several memories ----------------===//

#include "IRHelpers.h"
#include "Messages.h"
#include "PlanChecks.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/IR/Instrs.h"
#include "glowish/IRGen/IRGen.h"
#include "llvm/ADT/SmallSet.h"
#include "gmock/gmock.h"

using namespace glowish;
using namespace glowish::test;

namespace {

PlanOptions getOptions(std::vector<RegionLimit> limits) {
  PlanOptions options;
  options.arenaRegions = std::move(limits);
  return options;
}

/// A buffer of \p bytes that is live from step \p begin to before step \p end,
/// and written \p writes times.
struct Lifetime {
  int64_t bytes;
  unsigned begin, end, writes;
};

/// Buffers "a", "b"... with these lifetimes; of those that begin at one step in
/// their order.
std::unique_ptr<IRFunction> makeProgram(llvm::ArrayRef<Lifetime> lifetimes) {
  auto function = std::make_unique<IRFunction>("f");
  std::vector<Buffer *> buffers;
  unsigned last = 0;
  for (auto [i, lifetime] : llvm::enumerate(lifetimes)) {
    buffers.push_back(
        function->createActivation(std::string(1, char('a' + i)),
                                   Type(ElemKind::UInt8, {lifetime.bytes})));
    last = std::max(last, lifetime.end);
  }
  for (unsigned step = 0; step <= last; ++step) {
    for (auto [buffer, lifetime] : llvm::zip_equal(buffers, lifetimes))
      if (lifetime.end == step)
        function->create<DeallocInstr>("", buffer);
    for (auto [buffer, lifetime] : llvm::zip_equal(buffers, lifetimes)) {
      if (lifetime.begin != step)
        continue;
      function->create<AllocInstr>("", buffer);
      for (unsigned i = 0; i < lifetime.writes; ++i)
        function->create<FillInstr>("", buffer, 0.0);
    }
  }
  return function;
}

/// The names of the regions' buffers, "a b | c".
std::string describe(const IRFunction &function, const MemoryPlan &plan) {
  std::vector<std::string> texts(plan.arenaRegions.size());
  for (const auto &buffer : function.getBuffers())
    if (plan.isInArena(buffer.get())) {
      std::string &text = texts[plan.getArenaPlace(buffer.get()).region];
      text += (text.empty() ? "" : " ") + buffer->getName().str();
    }
  return llvm::join(texts, " | ");
}

/// Plans \p function and verifies that.
MemoryPlan planInRegions(const IRFunction &function,
                         std::vector<RegionLimit> limits) {
  MemoryPlan plan = planMemory(function, getOptions(std::move(limits)));
  EXPECT_EQ(getMessage(verifyPlan(function, plan)), "");
  return plan;
}

TEST(ArenaRegions, WhatIsAccessedMostForItsSizeIsInTheFirst) {
  auto function = makeProgram(
      {{640, 0, 1, 2}, {64, 0, 1, 9}, {64, 0, 1, 1}, {64, 0, 1, 5}});
  MemoryPlan plan = planInRegions(*function, {{"fast", 128}, {"slow", 4096}});
  EXPECT_EQ(describe(*function, plan), "b d | a c");
  ASSERT_EQ(plan.arenaRegions.size(), 2u);
  const ArenaRegion &fast = plan.arenaRegions[0], &slow = plan.arenaRegions[1];
  EXPECT_EQ(fast.name, "fast");
  EXPECT_EQ(fast.start, 0u);
  EXPECT_EQ(fast.size, 128u);
  EXPECT_EQ(slow.name, "slow");
  EXPECT_EQ(slow.start, 128u);
  EXPECT_EQ(slow.size, 704u);
  EXPECT_EQ(plan.activationSize, 832u);
  EXPECT_EQ(plan.peakLiveBytes, 832u);
  EXPECT_EQ(fast.accesses, 64 * 14);
  EXPECT_EQ(slow.accesses, 640 * 2 + 64);
  EXPECT_DOUBLE_EQ(plan.getAccessShare(0), 896.0 / 2240);
  ArenaPlace place = plan.getArenaPlace(function->findBuffer("c"));
  EXPECT_EQ(place.region, 1u);
  EXPECT_EQ(place.offset + 128, plan.getOffset(function->findBuffer("c")));
}

TEST(ArenaRegions, MemoryIsUsedAgainInEachRegion) {
  auto function = makeProgram({{64, 0, 1, 9},
                               {640, 0, 2, 1},
                               {64, 1, 2, 9},
                               {640, 2, 3, 1},
                               {64, 2, 3, 9}});
  MemoryPlan plan = planInRegions(*function, {{"fast", 64}, {"slow", 640}});
  EXPECT_EQ(describe(*function, plan), "a c e | b d");
  EXPECT_EQ(plan.activationSize, 704u);
}

TEST(ArenaRegions, WhereAllFitsIntoOneTheOthersAreEmpty) {
  auto function = makeProgram({{64, 0, 2, 1}, {100, 1, 2, 1}, {0, 0, 2, 1}});
  MemoryPlan plan = planInRegions(*function, {{"fast", 192}, {"slow", 64}});
  EXPECT_EQ(plan.arenaRegions[0].size, 192u);
  EXPECT_EQ(plan.arenaRegions[1].size, 0u);
  EXPECT_EQ(plan.activationSize, 192u);
  EXPECT_EQ(plan.getAccessShare(0), 1);
  plan = planInRegions(*function, {{"tiny", 1}, {"fast", 192}, {"slow", 64}});
  EXPECT_EQ(plan.arenaRegions[0].size, 0u);
  EXPECT_EQ(plan.arenaRegions[1].size, 192u);
  EXPECT_EQ(plan.arenaRegions[2].start, 192u);
}

TEST(ArenaRegions, NothingNeedsNothing) {
  IRFunction function("f");
  MemoryPlan plan = planInRegions(function, {{"fast", 64}, {"slow", 64}});
  EXPECT_EQ(plan.activationSize, 0u);
  EXPECT_EQ(plan.getAccessShare(0), 0);
}

/// By accesses for each byte, b would leave no space for a, which fits nowhere
/// else.
TEST(ArenaRegions, OtherOrdersAreTriedWhereTheRestWouldNotFit) {
  auto function = makeProgram({{192, 0, 1, 1}, {64, 0, 1, 9}});
  MemoryPlan plan = planInRegions(*function, {{"fast", 192}, {"slow", 256}});
  EXPECT_EQ(describe(*function, plan), "b | a");
  plan = planInRegions(*function, {{"fast", 192}, {"slow", 64}});
  EXPECT_EQ(describe(*function, plan), "a | b");
}

/// Of two orders that fit, the one with more accesses in the first region: a is
/// accessed more often than b, but not for each byte.
TEST(ArenaRegions, TheOrderWithTheMostAccessesInTheFirstIsTaken) {
  auto function = makeProgram({{128, 0, 1, 2}, {64, 0, 1, 3}});
  MemoryPlan plan = planInRegions(*function, {{"fast", 128}, {"slow", 256}});
  EXPECT_EQ(describe(*function, plan), "a | b");
}

/// When c comes, there are two gaps of 64 bytes; with b moved there is one of
/// 128.
TEST(ArenaRegions, GapsAreJoined) {
  auto function = makeProgram(
      {{64, 0, 1, 9}, {64, 0, 2, 8}, {128, 1, 2, 3}, {64, 0, 2, 1}});
  MemoryPlan plan = planInRegions(*function, {{"fast", 192}, {"slow", 64}});
  EXPECT_EQ(describe(*function, plan), "a b c | d");
}

TEST(ArenaRegions, TheLastOneTakesWhatDoesNotFit) {
  auto function = makeProgram({{640, 0, 1, 1}, {320, 0, 1, 1}});
  MemoryPlan plan = planInRegions(*function, {{"fast", 64}, {"slow", 64}});
  EXPECT_EQ(describe(*function, plan), " | a b");
  EXPECT_EQ(plan.arenaRegions[1].size, 960u);
  // Of all orders the one that needs least.
  plan = planInRegions(*function, {{"fast", 640}, {"slow", 64}});
  EXPECT_EQ(plan.arenaRegions[1].size, 320u);
}

TEST(ArenaRegions, VerifyPlanFindsWhatCrossesABorder) {
  auto function = makeProgram({{640, 0, 1, 2}, {64, 0, 1, 9}});
  MemoryPlan plan = planInRegions(*function, {{"fast", 64}, {"slow", 640}});
  MemoryPlan wrong = plan;
  wrong.arenaRegions[0].size = 128;
  wrong.arenaRegions[1].start = 128;
  wrong.arenaRegions[1].size = 576;
  EXPECT_EQ(getMessage(verifyPlan(*function, wrong)),
            "internal: activation 'a' crosses the border of a region in the "
            "memory plan");
  wrong = plan;
  wrong.arenaRegions[1].start = 128;
  EXPECT_EQ(getMessage(verifyPlan(*function, wrong)),
            "internal: region 'slow' begins at 128 in the memory plan");
  wrong = plan;
  wrong.arenaRegions[1].size = 576;
  EXPECT_EQ(getMessage(verifyPlan(*function, wrong)),
            "internal: the regions of the memory plan end at 640, and the "
            "arena at 704");
}

/// Random lifetimes and regions.
TEST(ArenaRegions, RandomProgramsFit) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Random random(seed);
    std::vector<Lifetime> lifetimes;
    unsigned count = 1 + random.below(20);
    for (unsigned i = 0; i < count; ++i) {
      auto begin = unsigned(random.below(count));
      lifetimes.push_back({int64_t(random.below(1 << random.below(12))), begin,
                           begin + 1 + unsigned(random.below(5)),
                           1 + unsigned(random.below(9))});
    }
    auto function = makeProgram(lifetimes);
    std::vector<RegionLimit> limits;
    for (unsigned i = 0; i < 1 + seed % 4; ++i)
      limits.push_back(
          {"r" + std::to_string(i), 1 + random.below(1 << (6 + seed % 7))});
    MemoryPlan plan = planInRegions(*function, limits);
    for (auto [region, limit] : llvm::zip_equal(plan.arenaRegions, limits)) {
      EXPECT_EQ(region.start % plan.alignment, 0u);
      EXPECT_EQ(region.name, limit.name);
      if (&region != &plan.arenaRegions.back())
        EXPECT_LE(region.size, limit.bytes) << seed;
    }
    EXPECT_GE(plan.activationSize, plan.peakLiveBytes);
    EXPECT_EQ(plan.peakLiveBytes, planMemory(*function).peakLiveBytes);
    EXPECT_EQ(describe(*function, plan),
              describe(*function, planInRegions(*function, limits)))
        << "the same each time";
  }
}

/// What a loop needs is in one region: its body runs three times.
TEST(ArenaRegions, ABodyIsInOneRegion) {
  auto ir = generateFrom(R"(
module "m"
placeholder %x : float<33> input "x"
placeholder %y : float<33> output "y"
function "main" {
  %kept = Relu(%x) : float<33>
  %loop:2 = Loop(none, none, %x, %kept) {body = body "body" (%i : int64<>, %c : bool<>, %s : float<33>, %k : float<33>) -> (%nc : bool<>, %ns : float<33>) {
    %sum = Add(%s, %k) : float<33>
    %soft = Softmax(%sum) {axis = 0} : float<33>
    Save(%soft, %ns)
    Save(%c, %nc)
  }, numStates = 1, maxTripCount = 3} : float<33>, int64<>
  Save(%loop:0, %y)
}
)");
  PlanOptions options = getArenaOptions();
  for (uint64_t bytes : {64, 512, 1024}) {
    options.arenaRegions = {{"fast", bytes}, {"slow", 4096}};
    MemoryPlan plan = planMemory(*ir, options);
    EXPECT_EQ(getMessage(verifyPlan(*ir, plan)), "");
    EXPECT_EQ(getMessage(verifyPlanWithShadow(*ir, plan)), "");
    llvm::SmallSet<unsigned, 2> inside;
    for (const auto &buffer : getNested(*ir).front()->getBuffers())
      if (buffer->getKind() == Buffer::Kind::Activation)
        inside.insert(plan.getArenaPlace(buffer.get()).region);
    EXPECT_EQ(inside.size(), 1u);
    EXPECT_EQ(interpretOutputs(*ir, 7, options), interpretOutputs(*ir, 7, {}));
  }
}

} // namespace
