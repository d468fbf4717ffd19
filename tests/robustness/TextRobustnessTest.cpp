//===- TextRobustnessTest.cpp - Malformed text forms ----------------------===//

#include "Allocations.h"
#include "Extremes.h"
#include "Mutations.h"
#include "Robustness.h"
#include "TextSeeds.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/Graph/Verifier.h"
#include "glowish/IR/IRText.h"
#include "glowish/IR/Passes.h"
#include "gmock/gmock.h"

using namespace glowish;
using namespace glowish::robustness;

//===- What is done with a text -------------------------------------------===//

/// As glowish-opt -pipeline and the drivers do, and all there is after it.
static int checkGraph(const TextSeed &seed) {
  size_t size = seed.text.size() + seed.weights.size();
  return compileAll(size, [&] {
    return parseModule(seed.text, "mutated.graph", seed.getSideFile());
  });
}

static llvm::Error passIR(const TextSeed &seed) {
  GLOWISH_ASSIGN_OR_RETURN(
      std::unique_ptr<IRFunction> function,
      parseIR(seed.text, "mutated.ir", seed.getSideFile()));
  GLOWISH_RETURN_IF_ERROR(runPipeline<IRFunction, IRPassContext>(
                              getIRPipeline(), getIRPasses(), *function,
                              IRPassContext(), PassHooks<IRFunction>())
                              .takeError());
  GLOWISH_RETURN_IF_ERROR(verify(*function));
  std::string text, weights;
  llvm::raw_string_ostream os(text), side(weights);
  printIR(os, *function, &side);
  auto again = parseIR(text, "again.ir",
                       std::shared_ptr<llvm::MemoryBuffer>(
                           llvm::MemoryBuffer::getMemBufferCopy(weights)));
  if (!again)
    return makeError("internal: what was printed is refused: {0}",
                     llvm::toString(again.takeError()));
  return llvm::Error::success();
}

static int checkIR(const TextSeed &seed) {
  limitAllocations(getAllocationLimit(seed.text.size() + seed.weights.size()),
                   TooLarge);
  return judge(passIR(seed));
}

static void mutate(TextSeed &seed, Random &random) {
  mutateText(seed.text, random);
  if (random.below(20) == 0)
    mutateBytes(seed.weights, random);
}

static void setExtremeIn(TextSeed &seed, Random &random) {
  setExtremeInText(seed.text, random);
}

static void
checkMutated(const std::vector<TextSeed> &seeds,
             llvm::function_ref<int(const TextSeed &)> check,
             llvm::function_ref<void(TextSeed &, Random &)> mutate) {
  Cases cases;
  Range range = getRange(/*defaultCount=*/200);
  for (uint64_t i = range.first; i < range.first + range.count; ++i) {
    Random random(i);
    TextSeed seed = seeds[i % seeds.size()];
    for (uint64_t left = 1 + random.below(2); left > 0; --left)
      mutate(seed, random);
    std::string name = std::to_string(i) + "-" + seed.name;
    saveCase(name + ".txt", seed.text);
    cases.add(name, [check, seed] { return check(seed); });
  }
  Counts counts = cases.run();
  llvm::outs() << counts.refused.size() << " refused, " << counts.accepted
               << " accepted\n";
  if (range.count >= 100) {
    EXPECT_GT(counts.refused.size(), range.count / 10);
    EXPECT_GT(counts.accepted, range.count / 50);
  }
}

TEST(MalformedTexts, SeedsAreGood) {
  Cases cases;
  for (const TextSeed &seed :
       makeTextSeeds({TextForm::Graph, TextForm::LoweredGraph}))
    cases.add(seed.name, [seed] { return checkGraph(seed); });
  for (const TextSeed &seed : makeTextSeeds({TextForm::IR}))
    cases.add(seed.name, [seed] { return checkIR(seed); });
  Counts counts = cases.run();
  EXPECT_GE(counts.accepted, 150u);
  EXPECT_THAT(counts.refused, testing::IsEmpty());
}

TEST(MalformedTexts, OfGraphsGiveErrorsOnly) {
  checkMutated(makeTextSeeds({TextForm::Graph, TextForm::LoweredGraph}),
               checkGraph, mutate);
}

TEST(MalformedTexts, ExtremeIntegersOfGraphs) {
  checkMutated(makeTextSeeds({TextForm::Graph, TextForm::LoweredGraph}),
               checkGraph, setExtremeIn);
}

TEST(MalformedTexts, OfIRGiveErrorsOnly) {
  checkMutated(makeTextSeeds({TextForm::IR}), checkIR, mutate);
}

TEST(MalformedTexts, ExtremeIntegersOfIR) {
  checkMutated(makeTextSeeds({TextForm::IR}), checkIR, setExtremeIn);
}
