//===- Main.cpp - All fuzzers without libFuzzer ---------------------------===//
//
// glowish-parsers-test NAME PATH...: runs the fuzzer NAME on the files PATH,
// and on those of the folders. Some of them must be good inputs. With
// -mutants=N, N models that are made of each follow (onnx). With -seeds=FOLDER
// it writes the seeds of NAME, and with -dictionary prints its dictionary.
//
//===----------------------------------------------------------------------===//

#include "glowish/Support/File.h"
#include "parsers/Fuzzing.h"
#include "parsers/Inputs.h"
#include "parsers/OnnxMutations.h"
#include "parsers/ParserSeeds.h"
#include "robustness/Mutations.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include <csignal>
#include <unistd.h>

using namespace glowish;
using namespace glowish::parsers;
namespace cl = llvm::cl;

static cl::opt<std::string> name(cl::Positional, cl::Required,
                                 cl::desc("<fuzzer>"));
static cl::list<std::string> paths(cl::Positional, cl::desc("<inputs>"));
static cl::opt<std::string> seedFolder("seeds", cl::value_desc("folder"),
                                       cl::desc("Write the seeds"));
static cl::opt<bool> printsDictionary("dictionary",
                                      cl::desc("Print the dictionary"));

static cl::opt<unsigned> numMutants("mutants", cl::value_desc("N"),
                                    cl::desc("Inputs to make of each input"));
static cl::opt<std::string> mutantFile("save-mutant", cl::value_desc("file"),
                                       cl::desc("Write each mutant before it "
                                                "runs"));

static std::vector<std::string> listInputs() {
  std::vector<std::string> files;
  std::error_code code;
  for (const std::string &path : paths) {
    if (!llvm::sys::fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (llvm::sys::fs::directory_iterator i(path, code), end;
         !code && i != end; i.increment(code))
      files.push_back(i->path());
  }
  llvm::sort(files);
  return files;
}

/// Another input made of \p bytes: of a model by its meaning, of other inputs a
/// part as a text or as bytes.
static std::string mutate(llvm::StringRef bytes, Random &random) {
  onnx::ModelProto model;
  if (name == "onnx" && model.ParseFromArray(bytes.data(), int(bytes.size()))) {
    for (uint64_t left = 1 + random.below(4); left > 0; --left)
      mutateModel(model, random);
    return model.SerializePartialAsString();
  }
  Parts parts = splitParts(bytes);
  for (uint64_t left = 1 + random.below(3); left > 0; --left) {
    std::string &part = parts[random.below(parts.size())].second;
    if (random.below(2))
      robustness::mutateText(part, random);
    else
      robustness::mutateBytes(part, random);
  }
  return joinParts(parts);
}

/// SIGALRM ends an input that never ends as a crash does, with its name and a
/// stack trace, sooner than ctest's limit ends the program. More seconds than
/// runInput accepts, of a clock that runs for other programs, too.
static void runAlone(Fuzzer fuzzer, llvm::StringRef input) {
  constexpr unsigned maxSeconds = 120;
  // Of its own size: what is read beyond it is found.
  std::vector<char> exact(input.begin(), input.end());
  alarm(maxSeconds);
  runInput(fuzzer, {exact.data(), exact.size()});
  alarm(0);
}

/// Runs \p fuzzer on inputs that are made of \p bytes: those of one number are
/// always the same.
static void runMutants(Fuzzer fuzzer, llvm::StringRef bytes) {
  for (unsigned number = 1; number <= numMutants; ++number) {
    llvm::PrettyStackTraceFormat trace("its mutant %u", number);
    Random random(number);
    std::string mutant = mutate(bytes, random);
    if (!mutantFile.empty())
      llvm::cantFail(writeFile(mutantFile, mutant));
    runAlone(fuzzer, mutant);
  }
}

static int runInputs(Fuzzer fuzzer) {
  std::vector<std::string> files = listInputs();
  for (const std::string &file : files) {
    llvm::PrettyStackTraceFormat trace("the input %s", file.c_str());
    auto buffer = llvm::cantFail(readFile(file));
    runAlone(fuzzer, buffer->getBuffer());
    runMutants(fuzzer, buffer->getBuffer());
  }
  Counts counts = getCounts();
  llvm::outs() << llvm::formatv("{0}: {1} inputs, {2} results accepted, {3} "
                                "refused\n",
                                name, files.size(), counts.accepted,
                                counts.refused);
  if (counts.accepted)
    return 0;
  llvm::errs() << "no input is good: the corpus is of another format\n";
  return 1;
}

static void writeSeeds() {
  for (const auto &[seed, bytes] : makeParserSeeds(name)) {
    llvm::SmallString<128> path(seedFolder);
    llvm::sys::path::append(path, seed);
    llvm::cantFail(writeFile(path, bytes));
  }
}

int main(int argc, char **argv) {
  llvm::sys::PrintStackTraceOnErrorSignal(argv[0]);
  llvm::EnablePrettyStackTrace();
  llvm::setBugReportMsg("");
  std::signal(SIGALRM, [](int) { std::abort(); });
  cl::ParseCommandLineOptions(argc, argv);
  auto found = getFuzzers().find(name);
  if (found == getFuzzers().end()) {
    llvm::errs() << "there is no fuzzer '" << name << "'\n";
    return 1;
  }
  if (printsDictionary)
    llvm::outs() << makeDictionary(name);
  if (!seedFolder.empty())
    writeSeeds();
  return printsDictionary || !seedFolder.empty() ? 0 : runInputs(found->second);
}
