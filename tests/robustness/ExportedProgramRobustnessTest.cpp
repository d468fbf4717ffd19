//===- ExportedProgramRobustnessTest.cpp - Malformed .pt2 archives --------===//

#include "../unit/TestFolder.h"
#include "AtenCalls.h"
#include "Extremes.h"
#include "Mutations.h"
#include "Robustness.h"
#include "common/SourceFolder.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Importer/Aten.h"
#include "glowish/Importer/TorchExport.h"
#include "parsers/Inputs.h"
#include "gmock/gmock.h"

using namespace glowish;
using namespace glowish::robustness;

/// The entries of the archives that the fuzzer of .pt2 files begins with.
static std::vector<ArchiveEntries> findSeeds() {
  std::vector<std::string> paths;
  for (const auto &file : std::filesystem::directory_iterator(
           getSourcePath("tests/parsers/corpus/pt2")))
    paths.push_back(file.path().string());
  llvm::sort(paths);
  std::vector<ArchiveEntries> seeds;
  for (const std::string &path : paths) {
    auto buffer = llvm::cantFail(
        llvm::errorOrToExpected(llvm::MemoryBuffer::getFile(path)));
    seeds.push_back(parsers::splitParts(buffer->getBuffer()));
  }
  return seeds;
}

namespace {

class MalformedExportedPrograms : public TestFolder {
protected:
  /// Takes the archive of \p entries through everything.
  void check(const std::string &name, const ArchiveEntries &entries) {
    std::string bytes = makeArchive(entries);
    saveCase(name + ".pt2", bytes);
    cases.add(name, [this, bytes] {
      put("model.pt2", bytes);
      return compileAll(bytes.size(), [&] {
        ImportOptions options;
        options.evaluate = evaluateNode;
        options.maxTripCount = 4;
        return importTorchExportFile(in("model.pt2"), options);
      });
    });
  }

  void run(const Range &range) {
    Counts counts = cases.run();
    llvm::outs() << counts.refused.size() << " refused, " << counts.accepted
                 << " accepted\n";
    if (range.count >= 100) {
      EXPECT_GT(counts.refused.size(), range.count / 20);
      EXPECT_GT(counts.accepted, range.count / 20);
    }
  }

  std::vector<ArchiveEntries> seeds = findSeeds();
  Cases cases;
};

} // namespace

TEST_F(MalformedExportedPrograms, SeedsAreGood) {
  for (auto [i, seed] : llvm::enumerate(seeds))
    check(std::to_string(i), seed);
  Counts counts = cases.run();
  EXPECT_THAT(counts.refused, testing::IsEmpty());
  EXPECT_GE(counts.accepted, 5u);
}

TEST_F(MalformedExportedPrograms, GiveErrorsOnly) {
  Range range = getRange(/*defaultCount=*/100);
  for (uint64_t i = range.first; i < range.first + range.count; ++i) {
    Random random(i);
    ArchiveEntries entries = seeds[random.below(seeds.size())];
    for (uint64_t left = 1 + random.below(3); left > 0; --left)
      mutateText(entries[random.below(entries.size())].second, random);
    check(std::to_string(i), entries);
  }
  run(range);
}

/// Integers of the archives, and calls of single operators.
TEST_F(MalformedExportedPrograms, ExtremeIntegers) {
  std::vector<AtenOperatorInfo> operators = listAtenOperators();
  Range range = getRange(/*defaultCount=*/200);
  for (uint64_t i = range.first; i < range.first + range.count; ++i) {
    Random random(i);
    std::string name = "seed";
    ArchiveEntries entries;
    if (random.below(4)) {
      const AtenOperatorInfo &op = operators[random.below(operators.size())];
      name = op.name;
      entries = makeExportedCall(op.schema, random).entries;
    } else {
      entries = seeds[random.below(seeds.size())];
      for (uint64_t left = 1 + random.below(2); left > 0; --left)
        setExtremeInArchive(entries, random);
    }
    check(std::to_string(i) + "-" + name, entries);
  }
  run(range);
}
