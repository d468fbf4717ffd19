//===- PlanProofTest.cpp - What is proved of memory plans -----------------===//

#include "glowish/IR/PlanProof.h"
#include "Messages.h"
#include "PlanPrograms.h"
#include "glowish/IR/ConstantPool.h"
#include "gmock/gmock.h"

using namespace glowish;
using namespace glowish::test;

namespace {

/// Two programs with one constant region and the same placeholders.
struct Pair {
  std::unique_ptr<IRFunction> first, second;
  MemoryPlan firstPlan, secondPlan;
  ConstantPool pool{MemoryPlan::defaultAlignment};

  Pair() : first(parseProgram(halves)), second(parseProgram(halves)) {
    for (auto *function : {&first, &second})
      pool.share(**function);
    firstPlan = planMemory(*first);
    secondPlan = planMemory(*second);
    pool.place(*first, firstPlan);
    pool.place(*second, secondPlan);
  }
  /// The place of the constant or placeholder \p name in the second program. A
  /// constant that was shared has another name, with a number behind it.
  uint64_t &at(llvm::StringRef name) {
    const Buffer *found = nullptr;
    for (const auto &buffer : second->getBuffers())
      if (buffer->isWeight() && buffer->getName().starts_with(name))
        found = buffer.get();
    EXPECT_TRUE(found) << name.str();
    return secondPlan.offsets[found];
  }
  /// The message of the proof that both are right and agree.
  std::string prove(unsigned placeholdersOfSecond = 0,
                    unsigned statesOfSecond = 0) const {
    auto a = provePlan(*first, firstPlan), b = provePlan(*second, secondPlan);
    if (!a || !b)
      return "one of them alone: " + llvm::toString(a.takeError()) +
             llvm::toString(b.takeError());
    return getMessage(proveAgreement(
        {{"N=1", &*a, &firstPlan, 0, 0},
         {"N=2", &*b, &secondPlan, placeholdersOfSecond, statesOfSecond}}));
  }
};

TEST(PlanProof, ProgramsThatDisagreeAreFound) {
  EXPECT_EQ(Pair().prove(), "");
  auto proveHarmed = [](void (*plant)(Pair &pair)) {
    Pair pair;
    plant(pair);
    return pair.prove();
  };
  EXPECT_THAT(proveHarmed([](Pair &pair) {
                pair.at("v") = 0;
                pair.at("w") = 64;
                pair.secondPlan.constantSize = 256;
              }),
              testing::HasSubstr("with N=2: "))
      << "constants that differ at one place";
  EXPECT_THAT(proveHarmed([](Pair &pair) {
                pair.at("w") = 64;
                pair.at("v") = 256;
                pair.secondPlan.constantSize = 320;
              }),
              testing::HasSubstr("in another program"))
      << "one constant at two places with bytes in common";
  EXPECT_THAT(proveHarmed([](Pair &pair) {
                uint64_t end = pair.secondPlan.mutableSize;
                pair.at("x") = end;
                pair.secondPlan.mutableSize += 576;
              }),
              testing::HasSubstr("with N=2: internal: 'x' lies from"))
      << "a placeholder with two places";
  EXPECT_THAT(proveHarmed([](Pair &pair) { pair.secondPlan.alignment = 32; }),
              testing::HasSubstr("the alignment is 32, and 64"))
      << "two alignments";
}

/// Where programs are for values of their own, the application gives each its
/// placeholders.
TEST(PlanProof, OnlyProgramsWithTheSamePlaceholdersHaveOnePlaceForThem) {
  Pair pair;
  uint64_t end = pair.secondPlan.mutableSize;
  pair.at("x") = end;
  pair.secondPlan.mutableSize += 576;
  EXPECT_NE(pair.prove(), "");
  EXPECT_EQ(pair.prove(/*placeholdersOfSecond=*/1), "");
  // A state has one place as long as it is shared.
  pair.at("s") = pair.at("x") + 576;
  pair.secondPlan.mutableSize += 576;
  EXPECT_THAT(pair.prove(/*placeholdersOfSecond=*/1),
              testing::HasSubstr("'s' lies from"));
  EXPECT_EQ(pair.prove(/*placeholdersOfSecond=*/1, /*statesOfSecond=*/1), "");
}

/// What one program keeps between runs, no other may write over.
TEST(PlanProof, AStateUnderAnotherProgramsPlaceholderIsFound) {
  auto state = parse(R"(
ir "step" {
  mutable %w : float<16> input output "w"
  mutable %m : float<16> input output "m"
  code {
    "m" ElementWiseLoop(@out %m, @in %m, @in %w) {program = {v2:float = Add(v0, v1)}}
  }
}
)"),
       output = parse(R"(
ir "inference" {
  mutable %w : float<16> input output "w"
  mutable %y : float<16> output "y"
  code {
    "y" Copy(@out %y, @in %w)
  }
}
)");
  MemoryPlan statePlan = planMemory(*state), outputPlan = planMemory(*output);
  auto prove = [&] {
    auto a = llvm::cantFail(provePlan(*state, statePlan)),
         b = llvm::cantFail(provePlan(*output, outputPlan));
    return getMessage(proveAgreement({{"step", &a, &statePlan, 0, 0},
                                      {"inference", &b, &outputPlan, 1, 0}}));
  };
  EXPECT_EQ(prove(), "with inference: internal: 'y' lies from 64 to 128 in the "
                     "mutable region, and 'm' from 64 to 128 in another "
                     "program");
  outputPlan.offsets[output->findBuffer("y")] = 128;
  outputPlan.mutableSize = 192;
  EXPECT_EQ(prove(), "");
}

//===- The facts ----------------------------------------------------------===//

TEST(PlanProof, StatesPositionsLiveRangesAndAccesses) {
  auto function = parseProgram(control);
  ASSERT_TRUE(function);
  MemoryPlan plan = planMemory(*function);
  auto proof = provePlan(*function, plan);
  ASSERT_TRUE(bool(proof)) << llvm::toString(proof.takeError());
  // kept, loop with four inside and its end, if with three and its end, y.
  EXPECT_EQ(proof->numInstrs, 11u);
  EXPECT_EQ(proof->end, 14u);
  std::map<std::string, const ProvedBuffer *> buffers;
  for (const ProvedBuffer &buffer : proof->buffers)
    buffers[buffer.name] = &buffer;
  EXPECT_EQ(buffers.at("kept")->live, (PositionRange{1, 13}));
  EXPECT_EQ(buffers.at("count")->live, (PositionRange{2, 7}));
  EXPECT_EQ(buffers.at("2:body/sum")->live, (PositionRange{3, 5}));
  EXPECT_EQ(buffers.at("2:body/next")->live, (PositionRange{2, 7}));
  EXPECT_EQ(buffers.at("8:then/inner")->live, (PositionRange{9, 10}));
  EXPECT_EQ(buffers.at("x")->accesses.size(), 3u);
  EXPECT_EQ(buffers.at("y")->accesses.back().range, (PositionRange{14, 14}));
}

/// Half of each row of an activation is written, and the other half is read.
TEST(PlanProof, FollowsAsManyRunsAsItIsAsked) {
  auto function = parseProgram(R"(
ir "f" {
  mutable %x : float<4x4> input "x"
  mutable %y : float<4x4> output "y"
  activation %a : float<4x8>
  view %left = %a offset 0 strides [8, 1] : float<4x4>
  view %right = %a offset 4 strides [8, 1] : float<4x4>
  code {
    Alloc(@out %a)
    "w" Copy(@out %left, @in %x)
    "r" Copy(@out %y, @in %right)
    Dealloc(@out %a)
  }
}
)");
  ASSERT_TRUE(function);
  MemoryPlan plan = planMemory(*function);
  EXPECT_EQ(getMessage(provePlan(*function, plan)),
            "Copy 'r': internal: 'right' is read with bytes that nothing has "
            "written");
  EXPECT_EQ(getMessage(provePlan(*function, plan, {.maxRuns = 1})), "");
}

} // namespace
