//===- IRRandomTest.cpp - Passes keep what programs compute ---------------===//
//
// Random programs are interpreted before and after each pass; the results are
// the same to the bit.
//
//===----------------------------------------------------------------------===//

#include "IRHelpers.h"
#include "PlanChecks.h"
#include "common/RandomProgram.h"
#include "glowish/IR/PlanProof.h"

using namespace glowish;
using namespace glowish::test;

namespace {

/// A copy of \p function, through its text form.
std::unique_ptr<IRFunction> clone(const IRFunction &function) {
  std::string text, constants;
  llvm::raw_string_ostream os(text), side(constants);
  printIR(os, function, &side);
  auto copy = parseIR(text, "clone.ir",
                      llvm::MemoryBuffer::getMemBufferCopy(constants));
  if (!copy)
    llvm::report_fatal_error(copy.takeError());
  return std::move(*copy);
}

constexpr unsigned numPrograms = 2000;

class RandomPrograms : public ::testing::TestWithParam<const char *> {};

TEST_P(RandomPrograms, ComputeTheSame) {
  unsigned changed = 0;
  for (unsigned seed = 0; seed < numPrograms; ++seed) {
    std::unique_ptr<IRFunction> program = makeRandomProgram(seed);
    ASSERT_FALSE(llvm::errorToBool(verify(*program))) << print(*program);
    std::vector<uint8_t> wanted = interpret(*program, seed);
    std::unique_ptr<IRFunction> optimized = clone(*program);
    // Without what all passes delete, so that `changed` counts their own work.
    if (GetParam() != llvm::StringRef("merge-views"))
      runPass(*optimized, "merge-views");
    std::string before = print(*optimized);
    bool isChanged = runPass(*optimized, GetParam());
    changed += isChanged;
    ASSERT_EQ(isChanged, before != print(*optimized)) << before;
    ASSERT_EQ(interpret(*optimized, seed), wanted)
        << "seed " << seed << "\n"
        << print(*program) << "\nbecame\n"
        << print(*optimized);
    // What a pass leaves it has nothing more to do for: no pass swings.
    for (unsigned round = 0; isChanged; ++round) {
      ASSERT_LT(round, maxFixedPointRounds) << print(*optimized);
      isChanged = runPass(*optimized, GetParam());
    }
    ASSERT_EQ(interpret(*optimized, seed), wanted) << "seed " << seed;
  }
  if (GetParam() != llvm::StringRef("insert-lifetimes")) {
    EXPECT_GT(changed, numPrograms / 50) << "the programs don't exercise it";
    RecordProperty("changed", changed);
  }
}

INSTANTIATE_TEST_SUITE_P(Passes, RandomPrograms,
                         ::testing::Values("copy-elimination", "dse",
                                           "fuse-epilogues", "fuse-loops",
                                           "merge-views", "coalesce-concats",
                                           "insert-lifetimes", "share-buffers"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(RandomPipeline, ComputesTheSame) {
  for (unsigned seed = 0; seed < 2 * numPrograms; ++seed) {
    std::unique_ptr<IRFunction> program = makeRandomProgram(seed);
    std::vector<uint8_t> wanted = interpret(*program, seed);
    std::unique_ptr<IRFunction> optimized = clone(*program);
    IRPassHooks hooks;
    hooks.after = [](llvm::StringRef, IRFunction &function, bool) {
      return verify(function);
    };
    auto result = runPipeline<IRFunction, IRPassContext>(
        getIRPipeline(), getIRPasses(), *optimized, IRPassContext(), hooks);
    ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
    ASSERT_EQ(interpret(*optimized, seed), wanted)
        << "seed " << seed << "\n"
        << print(*program) << "\nbecame\n"
        << print(*optimized);
    auto again = runPipeline<IRFunction, IRPassContext>(
        {getIRPipeline().front()}, getIRPasses(), *optimized, IRPassContext(),
        hooks);
    ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError());
    ASSERT_EQ(interpret(*optimized, seed), wanted) << "seed " << seed;
  }
}

/// Inputs and outputs lie in the arena, and results where inputs were.
TEST(RandomPipeline, ComputesTheSameInTheArena) {
  PlanOptions inArena = getArenaOptions();
  unsigned checked = 0, overwritten = 0;
  for (unsigned seed = 0; seed < 2 * numPrograms; ++seed) {
    std::unique_ptr<IRFunction> program = makeRandomProgram(seed);
    // An output that is not written is left as rubbish.
    if (llvm::errorToBool(verifyPlanWithShadow(*program, planMemory(*program))))
      continue;
    ++checked;
    std::vector<uint8_t> wanted = interpretOutputs(*program, seed, {});
    std::unique_ptr<IRFunction> optimized = clone(*program);
    IRPassContext context;
    context.overwritesInputs = optimized.get();
    auto result = runPipeline<IRFunction, IRPassContext>(
        getIRPipeline(), getIRPasses(), *optimized, context, {});
    ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
    ASSERT_FALSE(llvm::errorToBool(verify(*optimized))) << print(*optimized);
    auto prove = [&](const PlanOptions &options) {
      return llvm::toString(
          provePlan(*optimized, planMemory(*optimized, options)).takeError());
    };
    ASSERT_EQ(prove({}), "") << print(*optimized);
    ASSERT_EQ(prove(inArena), "") << print(*optimized);
    ASSERT_EQ(interpretOutputs(*optimized, seed, inArena), wanted)
        << "seed " << seed << "\n"
        << print(*program) << "\nbecame\n"
        << print(*optimized);
    PlanOptions inRegions = inArena;
    inRegions.arenaRegions = {{"fast", uint64_t(64) << seed % 7},
                              {"slow", 1 << 20}};
    ASSERT_EQ(prove(inRegions), "") << print(*optimized);
    ASSERT_EQ(interpretOutputs(*optimized, seed, inRegions), wanted)
        << "seed " << seed << "\n"
        << print(*optimized);
    for (const Instruction &instr : optimized->getInstrs())
      for (unsigned i = 0; i < instr.getNumOperands(); ++i) {
        const Buffer *buffer = instr.getOperand(i);
        const Buffer *root = buffer ? buffer->getRoot() : nullptr;
        overwritten +=
            root && instr.writes(i) && root->isInput() && !root->isOutput();
      }
  }
  EXPECT_GT(checked, numPrograms / 4);
  EXPECT_GT(overwritten, numPrograms / 50);
}

} // namespace
