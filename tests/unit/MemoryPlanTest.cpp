//===- MemoryPlanTest.cpp - Where every buffer is placed ------------------===//

#include "glowish/IR/MemoryPlan.h"
#include "IRHelpers.h"
#include "Messages.h"
#include "PlanChecks.h"
#include "glowish/IR/Instrs.h"
#include "glowish/Support/Random.h"
#include "gtest/gtest.h"
#include <map>

using namespace glowish;
using namespace glowish::test;

namespace {

Buffer *makeActivation(IRFunction &function, int64_t bytes) {
  return function.createActivation("a", Type(ElemKind::UInt8, {bytes}));
}

/// Random lifetimes: each step begins one, or ends one that has begun.
std::unique_ptr<IRFunction> makeProgram(uint64_t seed, unsigned count,
                                        unsigned maxAlive) {
  auto function = std::make_unique<IRFunction>("f");
  Random random(seed);
  std::vector<Buffer *> alive;
  auto endOne = [&] {
    size_t victim = random.below(alive.size());
    function->create<DeallocInstr>("", alive[victim]);
    alive.erase(alive.begin() + victim);
  };
  while (count > 0) {
    if (alive.size() == maxAlive || (!alive.empty() && random.below(2))) {
      endOne();
      continue;
    }
    int64_t bytes = int64_t(1) << random.below(16);
    alive.push_back(makeActivation(*function, bytes + random.below(bytes)));
    function->create<AllocInstr>("", alive.back());
    --count;
  }
  while (!alive.empty())
    endOne();
  return function;
}

TEST(MemoryPlan, RandomProgramsFitClosely) {
  double worst = 1, sum = 0;
  constexpr unsigned rounds = 200;
  for (unsigned seed = 0; seed < rounds; ++seed) {
    auto function = makeProgram(seed, 60, 2 + seed % 14);
    MemoryPlan plan = planMemory(*function);
    ASSERT_FALSE(llvm::errorToBool(verifyPlan(*function, plan))) << seed;
    EXPECT_LE(plan.peakLiveBytes, plan.activationSize);
    for (const auto &buffer : function->getBuffers())
      EXPECT_EQ(plan.getOffset(buffer.get()) % plan.alignment, 0u);
    worst = std::min(worst, plan.getEfficiency());
    sum += plan.getEfficiency();
  }
  EXPECT_GT(worst, 0.85);
  EXPECT_GT(sum / rounds, 0.98);
}

TEST(MemoryPlan, SameProgramSamePlan) {
  auto one = makeProgram(7, 300, 20), two = makeProgram(7, 300, 20);
  MemoryPlan a = planMemory(*one), b = planMemory(*two);
  EXPECT_EQ(a.activationSize, b.activationSize);
  auto x = one->getBuffers().begin();
  for (const auto &buffer : two->getBuffers())
    EXPECT_EQ(a.getOffset((x++)->get()), b.getOffset(buffer.get()));
}

/// With all of them alive at once, only the placement in time is affordable.
TEST(MemoryPlan, TenThousandBuffersAreSeparate) {
  for (unsigned maxAlive : {10, 100, 10000}) {
    auto function = makeProgram(maxAlive, 10000, maxAlive);
    MemoryPlan plan = planMemory(*function);
    EXPECT_FALSE(llvm::errorToBool(verifyPlan(*function, plan))) << maxAlive;
  }
}

/// Neither the first gap that is large enough nor the end would do.
TEST(MemoryPlan, TheSmallestGapIsTriedToo) {
  auto function = makeProgram(/*seed=*/12957, /*count=*/47, /*maxAlive=*/11);
  MemoryPlan plan = planMemory(*function);
  EXPECT_EQ(getMessage(verifyPlan(*function, plan)), "");
  EXPECT_EQ(plan.activationSize, plan.peakLiveBytes);
}

/// Of the places that the last buffer may have, the one at which a run of one
/// row has touched the memory before.
TEST(MemoryPlan, SmallRunsTouchFewBytes) {
  auto function = parse(R"(
ir "f" {
  mutable %N : int64<> input "N" range "N" [1, 16]
  activation %large : uint8<16x1920>
  activation %beside : uint8<16x640>
  activation %one : uint8<16x512>
  activation %other : uint8<16x512>
  code {
    Alloc(@out %large)
    "large" Fill(@out %large) {value = 0.0} bounds {result[0] = "N"}
    Alloc(@out %beside)
    "beside" Fill(@out %beside) {value = 0.0} bounds {result[0] = "N"}
    Dealloc(@out %large)
    Dealloc(@out %beside)
    Alloc(@out %one)
    "one" Fill(@out %one) {value = 0.0} bounds {result[0] = "N"}
    Alloc(@out %other)
    "other" Fill(@out %other) {value = 0.0} bounds {result[0] = "N"}
    Dealloc(@out %one)
    Dealloc(@out %other)
  }
}
)");
  ASSERT_TRUE(function);
  auto getOffset = [&](const MemoryPlan &plan, llvm::StringRef name) {
    return plan.getOffset(function->findBuffer(name));
  };
  MemoryPlan plan = planMemory(*function);
  EXPECT_EQ(getMessage(verifyPlan(*function, plan)), "");
  EXPECT_EQ(plan.activationSize, plan.peakLiveBytes);
  EXPECT_EQ(getOffset(plan, "large"), getOffset(plan, "one"));
  EXPECT_EQ(getOffset(plan, "beside"), getOffset(plan, "other"));
  // All rows are always needed: the lowest place does.
  for (Instruction &instr : function->getInstrs())
    instr.setLoopBounds({});
  MemoryPlan whole = planMemory(*function);
  EXPECT_EQ(getOffset(whole, "other"), 16u * 512);
}

/// More than a million pairs of buffers live at the same time: what does not
/// fit where others have ended lies behind them.
TEST(MemoryPlan, VeryManyAtOnceAreOnlyPlacedInTime) {
  IRFunction function("f");
  std::vector<Buffer *> small, large;
  auto begin = [&](std::vector<Buffer *> &buffers, int64_t bytes) {
    buffers.push_back(makeActivation(function, bytes));
    function.create<AllocInstr>("", buffers.back());
  };
  for (unsigned i = 0; i < 1500; ++i)
    begin(small, 64);
  for (unsigned i = 0; i < small.size(); i += 2)
    function.create<DeallocInstr>("", small[i]);
  for (unsigned i = 0; i < 300; ++i)
    begin(large, 128);
  for (unsigned i = 1; i < small.size(); i += 2)
    function.create<DeallocInstr>("", small[i]);
  for (Buffer *buffer : large)
    function.create<DeallocInstr>("", buffer);
  MemoryPlan plan = planMemory(function);
  EXPECT_EQ(getMessage(verifyPlan(function, plan)), "");
  EXPECT_EQ(plan.peakLiveBytes, 1500u * 64);
  EXPECT_EQ(plan.activationSize, 1500u * 64 + 300 * 128);
}

TEST(MemoryPlan, RegionsFollowCreation) {
  IRFunction function("f");
  auto makePayload = [] {
    return std::make_shared<const Tensor>(Type(ElemKind::Float, {17}));
  };
  auto shared = makePayload();
  Buffer *out = function.createMutable("out", Type(ElemKind::Float, {33}),
                                       "prob", false, true);
  Buffer *first = function.createConstant("w", shared);
  Buffer *in = function.createMutable("in", Type(ElemKind::Bool, {1}), "data",
                                      true, false);
  Buffer *second = function.createConstant("b", makePayload());
  Buffer *again = function.createConstant("again", shared);
  MemoryPlan plan = planMemory(function);
  EXPECT_EQ(plan.getOffset(out), 0u);
  EXPECT_EQ(plan.getOffset(in), 192u);
  EXPECT_EQ(plan.mutableSize, 256u);
  EXPECT_EQ(plan.getOffset(first), 0u);
  EXPECT_EQ(plan.getOffset(second), 128u);
  EXPECT_EQ(plan.getOffset(again), 0u);
  EXPECT_EQ(plan.constantSize, 256u);
  EXPECT_EQ(plan.activationSize, 0u);
  EXPECT_EQ(plan.getEfficiency(), 1.0);
}

TEST(MemoryPlan, ABufferBeginsWhereAnotherHasEnded) {
  IRFunction function("f");
  Buffer *a = makeActivation(function, 64), *b = makeActivation(function, 64);
  function.create<AllocInstr>("", a);
  function.create<DeallocInstr>("", a);
  function.create<AllocInstr>("", b);
  function.create<DeallocInstr>("", b);
  MemoryPlan plan = planMemory(function);
  EXPECT_EQ(plan.activationSize, 64u);
  EXPECT_EQ(plan.peakLiveBytes, 64u);
}

TEST(MemoryPlan, NoBytesNoPlace) {
  IRFunction function("f");
  Buffer *a = makeActivation(function, 0), *b = makeActivation(function, 1);
  function.create<AllocInstr>("", a);
  function.create<AllocInstr>("", b);
  function.create<DeallocInstr>("", a);
  function.create<DeallocInstr>("", b);
  MemoryPlan plan = planMemory(function);
  EXPECT_EQ(plan.activationSize, 64u);
  EXPECT_FALSE(llvm::errorToBool(verifyPlan(function, plan)));
}

/// x -> a -> y, an input and an output without uses, and a state.
const char *withPlaceholders = R"(
ir "f" {
  mutable %x : uint8<256> input "x"
  mutable %unused : uint8<128> input "unused"
  mutable %state : uint8<64> input output "state"
  mutable %y : uint8<192> output "y"
  mutable %untouched : uint8<64> output "untouched"
  activation %a : uint8<320>
  view %top = %a offset 0 strides [1] : uint8<256>
  view %rest = %a offset 256 strides [1] : uint8<64>
  view %begin = %a offset 0 strides [1] : uint8<192>
  code {
    Alloc(@out %a)
    "top" Copy(@out %top, @in %x)
    "rest" Copy(@out %rest, @in %state)
    "y" Copy(@out %y, @in %begin)
    Dealloc(@out %a)
  }
}
)";

TEST(MemoryPlan, InputsAndOutputsInTheArena) {
  auto function = parse(withPlaceholders);
  ASSERT_TRUE(function);
  auto find = [&](llvm::StringRef name) { return function->findBuffer(name); };
  MemoryPlan plan = planMemory(*function, getArenaOptions());
  EXPECT_EQ(getMessage(verifyPlan(*function, plan)), "");
  for (llvm::StringRef name : {"x", "unused", "y", "untouched"})
    EXPECT_TRUE(plan.isInArena(find(name))) << name.str();
  EXPECT_FALSE(plan.isInArena(find("state")));
  EXPECT_EQ(plan.mutableSize, 64u);
  // x and a live together, and what the others need fits beside a.
  EXPECT_EQ(plan.peakLiveBytes, 576u);
  EXPECT_EQ(plan.activationSize, 576u);
  auto overlap = [&](llvm::StringRef one, llvm::StringRef other) {
    auto begin = [&](llvm::StringRef name) {
      return plan.getOffset(find(name));
    };
    auto end = [&](llvm::StringRef name) {
      return begin(name) + find(name)->getType().getSizeInBytes();
    };
    return begin(one) < end(other) && begin(other) < end(one);
  };
  EXPECT_FALSE(overlap("x", "unused")) << "the application writes both";
  EXPECT_FALSE(overlap("x", "a"));
  EXPECT_FALSE(overlap("y", "a"));
  EXPECT_FALSE(overlap("y", "untouched")) << "the application reads both";
  plan.offsets[find("unused")] = plan.offsets[find("x")];
  EXPECT_EQ(getMessage(verifyPlan(*function, plan)),
            "internal: placeholder 'unused' overlaps another in the memory "
            "plan");
}

TEST(MemoryPlan, InputsAndOutputsHaveTheirOwnRegionByDefault) {
  auto function = parse(withPlaceholders);
  ASSERT_TRUE(function);
  MemoryPlan plan = planMemory(*function);
  EXPECT_EQ(plan.mutableSize, 704u);
  EXPECT_EQ(plan.activationSize, 320u);
  EXPECT_TRUE(plan.arenaPlaceholders.empty());
}

TEST(MemoryPlan, EmptyInputsAndOutputsInTheArena) {
  auto function = parse(R"(
ir "f" {
  mutable %x : float<0x3> input "x"
  mutable %y : float<3x0> output "y"
  code {
  }
}
)");
  ASSERT_TRUE(function);
  MemoryPlan plan = planMemory(*function, getArenaOptions());
  EXPECT_EQ(plan.activationSize, 0u);
  EXPECT_EQ(getMessage(verifyPlan(*function, plan)), "");
  EXPECT_EQ(getMessage(verifyPlanWithShadow(*function, plan)), "");
}

TEST(MemoryPlan, VerifyPlanSeesOverlaps) {
  IRFunction function("f");
  Buffer *a = makeActivation(function, 100), *b = makeActivation(function, 64);
  function.create<AllocInstr>("", a);
  function.create<AllocInstr>("", b);
  function.create<DeallocInstr>("", b);
  function.create<DeallocInstr>("", a);
  MemoryPlan plan = planMemory(function);
  plan.offsets[a] = 0;
  plan.offsets[b] = 64;
  EXPECT_TRUE(llvm::errorToBool(verifyPlan(function, plan)));
  plan.offsets[b] = 128;
  EXPECT_FALSE(llvm::errorToBool(verifyPlan(function, plan)));
  plan.activationSize = 128; // too small
  EXPECT_TRUE(llvm::errorToBool(verifyPlan(function, plan)));
}

} // namespace
