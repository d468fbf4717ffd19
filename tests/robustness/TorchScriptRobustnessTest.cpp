//===- TorchScriptRobustnessTest.cpp - Malformed TorchScript archives -----===//
//
// libtorch reads the archives. It is loaded once, and each archive is read in a
// copy of this process.
//
//===----------------------------------------------------------------------===//

#include "../unit/TestFolder.h"
#include "AtenCalls.h"
#include "Extremes.h"
#include "Mutations.h"
#include "Robustness.h"
#include "TorchArchives.h"
#include "common/SourceFolder.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Compiler/InputTypes.h"
#include "glowish/Importer/Aten.h"
#include "glowish/Importer/TorchScript.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Compiler.h"
#include "gmock/gmock.h"

using namespace glowish;
using namespace glowish::robustness;

namespace {

/// A good archive, and what -model-input states for it.
struct ArchiveSeed {
  std::string path;
  std::vector<std::string> inputs;
};

class MalformedTorchScript : public TestFolder {
protected:
  void SetUp() override;

  /// Imports the archive \p path.
  static llvm::Expected<std::unique_ptr<Module>>
  import(const std::string &path, const std::vector<std::string> &inputs);
  /// Takes the archive model.pt in the folder through everything.
  void check(const std::string &name, const std::vector<std::string> &inputs);
  /// Takes seeds that \p mutate changes through everything; it writes model.pt.
  void checkMutations(
      const char *name,
      llvm::function_ref<void(const std::string &seed, Random &)> mutate);

  std::vector<ArchiveSeed> seeds;
  Cases cases;
};

} // namespace

/// The archives of $GLOWISH_ROBUSTNESS_TORCHSCRIPT, which torchscript.py
/// --keep writes, with their inputs in NAME.pt.inputs, a line each.
static std::vector<ArchiveSeed> findKept(const std::string &folder) {
  std::vector<ArchiveSeed> seeds;
  std::error_code code;
  std::filesystem::directory_iterator i(folder, code);
  for (; !code && i != std::filesystem::directory_iterator();
       i.increment(code)) {
    std::string path = i->path().string();
    auto inputs = llvm::MemoryBuffer::getFile(path + ".inputs");
    if (i->path().extension() != ".pt" || !inputs)
      continue;
    llvm::SmallVector<llvm::StringRef> lines;
    llvm::SplitString((*inputs)->getBuffer(), lines, "\n");
    seeds.push_back({path, {lines.begin(), lines.end()}});
  }
  llvm::sort(seeds, [](const ArchiveSeed &a, const ArchiveSeed &b) {
    return a.path < b.path;
  });
  return seeds;
}

/// Small archives of the test data, where they are.
static std::vector<ArchiveSeed> findSeeds() {
  if (const char *folder = std::getenv("GLOWISH_ROBUSTNESS_TORCHSCRIPT"))
    return findKept(folder);
  const char *given = std::getenv("GLOWISH_TEST_DATA");
  std::string root =
      (given ? given : getSourcePath("../shared/data")) + "/torchscript/";
  std::vector<ArchiveSeed> seeds = {
      {"djl/identity.pt", {"tokenized_data,float,[2,3]"}},
      {"openmm-torch/global.pt", {"pos,float,[5,3]", "k,double,[]"}},
      {"openmm-torch/periodic.pt", {"pos,float,[5,3]", "box,float,[3,3]"}},
      {"tch-rs/foo.pt", {"x,float,[3,4]", "y,float,[3,4]"}},
      {"tch-rs/foo2.pt", {"x,float,[3,4]", "y,float,[3,4]"}},
      {"tch-rs/foo4.pt", {}},
      {"tch-rs/foo6.pt", {"x,float,[3,4]"}},
      {"tch-rs/foo8.pt", {"batch.foo,float,[2]", "batch.bar,float,[3,1]"}},
      {"torchsharp/exported.method.dat", {"x,float,[3]", "y,float,[3]"}},
      {"torchsharp/linrelu.script.dat", {"input,float,[3,10]"}},
  };
  for (ArchiveSeed &seed : seeds)
    seed.path = root + seed.path;
  llvm::erase_if(seeds, [](const ArchiveSeed &seed) {
    return !llvm::sys::fs::exists(seed.path);
  });
  return seeds;
}

void MalformedTorchScript::SetUp() {
  TestFolder::SetUp();
  seeds = findSeeds();
  if (seeds.empty())
    GTEST_SKIP() << "there are no archives";
  // libtorch registers its operators for the first archive.
  static std::string reason = [&] {
    return llvm::toString(
        import(seeds.front().path, seeds.front().inputs).takeError());
  }();
  if (llvm::StringRef(reason).contains("is read with libtorch"))
    GTEST_SKIP() << reason;
  ASSERT_EQ(reason, "");
}

llvm::Expected<std::unique_ptr<Module>>
MalformedTorchScript::import(const std::string &path,
                             const std::vector<std::string> &inputs) {
  ImportOptions options;
  options.evaluate = evaluateNode;
  options.maxTripCount = 4;
  llvm::cantFail(readInputTypes(inputs, options));
  return importTorchScriptFile(path, options);
}

/// Whether the first function of \p text, a sanitizer's report or that of an
/// exception that nothing could catch, is libtorch's: it is not hardened.
static bool isOfLibtorch(llvm::StringRef text) {
  for (llvm::StringRef line : llvm::split(text, '\n')) {
    if (line.contains("glowish::") || line.contains("Importer/"))
      return false;
    if (line.contains("libtorch_cpu.so") || line.contains("libc10.so"))
      return true;
  }
  return false;
}

void MalformedTorchScript::check(const std::string &name,
                                 const std::vector<std::string> &inputs) {
  std::string bytes = read("model.pt");
  saveCase(name + ".pt", bytes);
  cases.add(name, [this, bytes, inputs] {
    put("model.pt", bytes);
    bool isOneLine = true;
    int outcome = compileAll(bytes.size(), [&] {
      auto module = import(in("model.pt"), inputs);
      if (module)
        return module;
      std::string message = llvm::toString(module.takeError());
      isOneLine &= !llvm::StringRef(message).contains('\n');
      if (!isOneLine)
        llvm::errs() << "not one line: " << message << "\n";
      return llvm::Expected<std::unique_ptr<Module>>(
          llvm::createStringError(message));
    });
    return isOneLine ? outcome : int(BadMessage);
  });
}

void MalformedTorchScript::checkMutations(
    const char *name,
    llvm::function_ref<void(const std::string &seed, Random &)> mutate) {
  auto [first, count] = getRange(40);
  for (uint64_t i = first; i < first + count; ++i) {
    Random random(i);
    const ArchiveSeed &seed = seeds[random.below(seeds.size())];
    mutate(seed.path, random);
    check(name + std::to_string(i), seed.inputs);
  }
  Counts counts = cases.run(isOfLibtorch);
  EXPECT_THAT(counts.refused, testing::Not(testing::IsEmpty()));
  EXPECT_LE(counts.foreign * 10, LLVM_ADDRESS_SANITIZER_BUILD ? count : 0);
  llvm::outs() << counts.refused.size() << " refused, " << counts.accepted
               << " accepted, libtorch crashed for " << counts.foreign << "\n";
  llvm::outs().flush();
}

TEST_F(MalformedTorchScript, SeedsAreGood) {
  for (const ArchiveSeed &seed : seeds) {
    put("model.pt", makeArchive(readArchive(seed.path)));
    check(seed.path, seed.inputs);
  }
  EXPECT_EQ(cases.run(isOfLibtorch).accepted, seeds.size());
}

TEST_F(MalformedTorchScript, Bytes) {
  checkMutations("bytes-", [&](const std::string &seed, Random &random) {
    std::string bytes = (*llvm::MemoryBuffer::getFile(seed))->getBuffer().str();
    for (uint64_t left = 1 + random.below(4); left > 0; --left)
      mutateBytes(bytes, random);
    put("model.pt", bytes);
  });
}

/// Code, pickles and tensors, behind checksums that are right: libtorch reads
/// what was mutated, and crashes for some; in a process of its own, but where a
/// sanitizer is to see it.
TEST_F(MalformedTorchScript, Entries) {
  checkMutations("entries-", [&](const std::string &seed, Random &random) {
    ArchiveEntries entries = readArchive(seed);
    for (uint64_t left = 1 + random.below(3); left > 0; --left)
      mutateEntries(entries, random);
    put("model.pt", makeArchive(entries));
  });
}

/// Integers of the archives, and calls of single operators.
TEST_F(MalformedTorchScript, ExtremeIntegers) {
  std::vector<AtenOperatorInfo> operators = listAtenOperators();
  auto [first, count] = getRange(100);
  for (uint64_t i = first; i < first + count; ++i) {
    Random random(i);
    AtenCall call;
    if (random.below(4))
      call = makeScriptCall(operators[random.below(operators.size())].schema,
                            random);
    if (call.entries.empty()) {
      const ArchiveSeed &seed = seeds[random.below(seeds.size())];
      call = {readArchive(seed.path), seed.inputs};
      for (uint64_t left = 1 + random.below(2); left > 0; --left)
        setExtremeInArchive(call.entries, random);
    }
    put("model.pt", makeArchive(call.entries));
    check("extreme-" + std::to_string(i), call.inputs);
  }
  Counts counts = cases.run(isOfLibtorch);
  EXPECT_THAT(counts.refused, testing::Not(testing::IsEmpty()));
  llvm::outs() << counts.refused.size() << " refused, " << counts.accepted
               << " accepted, libtorch crashed for " << counts.foreign << "\n";
  llvm::outs().flush();
}
