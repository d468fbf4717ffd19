//===- TFLiteRobustnessTest.cpp - Malformed TensorFlow Lite models
//----------===//

#include "../unit/TFLiteModels.h"
#include "../unit/TestFolder.h"
#include "Extremes.h"
#include "Mutations.h"
#include "Robustness.h"
#include "common/SourceFolder.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Importer/TFLite.h"

using namespace glowish;
using namespace glowish::robustness;

/// Small models of the test data, where there are any: sorted, so that a number
/// is always the same model. The first are of our own.
static std::vector<std::string> findSeeds() {
  std::vector<std::string> seeds = {makeQuantizedConvolution(),
                                    makeControlFlow()};
  const char *given = std::getenv("GLOWISH_TEST_DATA");
  std::string root = given ? given : getSourcePath("../shared/data");
  std::vector<std::string> paths;
  for (const char *part : {"glow-models", "quantized", "tflite"}) {
    std::error_code code;
    std::filesystem::recursive_directory_iterator i(root + "/" + part, code);
    for (; !code && i != std::filesystem::recursive_directory_iterator();
         i.increment(code))
      if (i->path().extension() == ".tflite" && i->file_size() < 65536)
        paths.push_back(i->path().string());
  }
  llvm::sort(paths);
  for (const std::string &path : paths)
    if (auto buffer = llvm::MemoryBuffer::getFile(path))
      seeds.push_back((*buffer)->getBuffer().str());
  return seeds;
}

namespace {

class MalformedTFLite : public TestFolder {
protected:
  /// Takes the model \p bytes through everything.
  void check(const std::string &name, const std::string &bytes) {
    saveCase(name + ".tflite", bytes);
    cases.add(name, [this, bytes] {
      put("model.tflite", bytes);
      return compileAll(bytes.size(), [&] {
        ImportOptions options;
        options.evaluate = evaluateNode;
        options.maxTripCount = 4;
        return importTFLiteFile(in("model.tflite"), options);
      });
    });
  }

  /// Takes seeds that \p mutate changes through everything.
  void
  checkMutations(const char *name,
                 llvm::function_ref<void(std::string &, Random &)> mutate) {
    std::vector<std::string> seeds = findSeeds();
    auto [first, count] = getRange(100);
    for (uint64_t i = first; i < first + count; ++i) {
      Random random(i);
      std::string bytes = seeds[random.below(seeds.size())];
      for (uint64_t left = 1 + random.below(4); left > 0; --left)
        mutate(bytes, random);
      check(name + std::to_string(i), bytes);
    }
    EXPECT_FALSE(cases.run().refused.empty());
  }

  Cases cases;
};

} // namespace

TEST_F(MalformedTFLite, SeedsAreGood) {
  check("convolution", makeQuantizedConvolution());
  check("control-flow", makeControlFlow());
  EXPECT_EQ(cases.run().accepted, 2u);
}

TEST_F(MalformedTFLite, Bytes) { checkMutations("bytes-", mutateBytes); }

/// Numbers in tables: offsets and lengths, shapes, indices, options.
TEST_F(MalformedTFLite, Words) {
  checkMutations("words-", [](std::string &bytes, Random &random) {
    static constexpr int32_t words[] = {
        0, 1, -1, 2, 3, 4, 7, 8, 16, 255, -2, 64, 97, 1 << 20, INT32_MAX};
    size_t at = 4 * random.below(bytes.size() / 4);
    int32_t word = words[random.below(std::size(words))];
    std::memcpy(&bytes[at], &word, sizeof word);
  });
}

TEST_F(MalformedTFLite, ExtremeIntegers) {
  checkMutations("extreme-", setExtremeInTFLite);
}
