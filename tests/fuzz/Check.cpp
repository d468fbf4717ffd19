//===- Check.cpp - Whether a graph is compiled right ----------------------===//

#include "Check.h"
#include "../unit/ChildProcess.h"
#include "GraphSpec.h"
#include "Reference.h"
#include "glowish/Support/Error.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/ErrorHandling.h"
#include <cstring>
#include <new>
#include <sys/resource.h>

using namespace glowish;
using namespace glowish::fuzz;

static void endTooLarge() {
  constexpr llvm::StringLiteral message = "takes too much memory";
  // Nothing can be done where this fails.
  (void)!write(STDERR_FILENO, message.data(), message.size());
  _exit(int(Verdict::TooLarge));
}

void fuzz::limitMemory() {
  // The shadow memory of sanitizers is larger than any limit.
  if (LLVM_ADDRESS_SANITIZER_BUILD || LLVM_THREAD_SANITIZER_BUILD)
    return;
  constexpr rlim_t mostBytes = rlim_t(3) << 29;
  rlimit limit = {mostBytes, mostBytes};
  setrlimit(RLIMIT_AS, &limit);
  std::set_new_handler(endTooLarge);
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *, bool) { endTooLarge(); });
}

static ElementCounts countCompared(llvm::ArrayRef<Expectation> expected,
                                   const CompileConfig &config) {
  ElementCounts counts;
  for (const Expectation &output : expected) {
    counts.all += output.bounds.size();
    for (size_t i = 0; i < output.bounds.size(); ++i)
      counts.compared += isCompared(output, i, config.mayReorder());
  }
  return counts;
}

/// The first output of \p actual that is not what was expected.
static std::string describeOutputs(llvm::ArrayRef<Expectation> expected,
                                   const Outputs &actual,
                                   const CompileConfig &config) {
  for (const Expectation &output : expected) {
    auto found = actual.find(output.name);
    if (found == actual.end())
      return "output '" + output.name + "' is missing";
    std::string difference =
        describeDifference(output, found->second, config.mayReorder());
    if (!difference.empty())
      return "output '" + output.name + "': " + difference;
  }
  return "";
}

/// The first output whose bits differ in \p actual and \p others.
static std::string compareBits(llvm::ArrayRef<Expectation> expected,
                               const Outputs &actual, const Outputs &others,
                               const CompileConfig &config) {
  for (const Expectation &output : expected) {
    std::string difference =
        describeOtherBits(output, actual.at(output.name),
                          others.at(output.name), config.mayReorder());
    if (!difference.empty())
      return "output '" + output.name + "': " + difference;
  }
  return "";
}

static llvm::Expected<std::vector<Expectation>>
interpretText(llvm::StringRef text, unsigned numTrials) {
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, parseGraph(text));
  return interpretGraph(*module, numTrials);
}

Finding fuzz::check(llvm::StringRef text,
                    llvm::ArrayRef<CompileConfig> configs) {
  // Few trials say for nearly all graphs that all is right. What differs by a
  // rounding that they did not come upon is found by more.
  constexpr unsigned fewTrials = 5, manyTrials = 100;
  auto refuse = [](const CompileConfig &config, llvm::StringRef prefix,
                   llvm::Error error) {
    return Finding{Verdict::Refused, config,
                   (prefix + llvm::toString(std::move(error))).str()};
  };
  constexpr llvm::StringLiteral single = "interpreting single nodes: ";
  auto expected = interpretText(text, fewTrials);
  if (!expected)
    return refuse(configs.front(), single, expected.takeError());
  bool hasFewTrials = true;
  ElementCounts elements;
  for (const CompileConfig &config : configs) {
    auto describe = [&](const Outputs &actual) {
      std::string difference = describeOutputs(*expected, actual, config);
      if (difference.empty() || !std::exchange(hasFewTrials, false))
        return difference;
      expected = llvm::cantFail(interpretText(text, manyTrials));
      return describeOutputs(*expected, actual, config);
    };
    auto actual = runGraph(text, config, describe);
    if (!actual)
      return refuse(config, "", actual.takeError());
    std::string difference = describe(*actual);
    if (!difference.empty())
      return {Verdict::Differs, config, difference};
    if (config.isReproducible) {
      auto others = runGraph(text, getCommonConfig(config), describe);
      if (!others)
        return refuse(config, "", others.takeError());
      difference = compareBits(*expected, *actual, *others, config);
      if (!difference.empty())
        return {Verdict::Differs, config, difference};
    }
    elements += countCompared(*expected, config);
  }
  return {Verdict::Same, {}, "", elements};
}

Finding fuzz::checkInChild(llvm::StringRef text,
                           llvm::ArrayRef<CompileConfig> configs) {
  constexpr unsigned secondsForOne = 30;
  for (const CompileConfig &config : configs) {
    ChildResult result = runChild([&] {
      // Of the processor: a busy machine takes its time.
      rlimit time = {secondsForOne, secondsForOne};
      setrlimit(RLIMIT_CPU, &time);
      limitMemory();
      Finding finding = check(text, config);
      llvm::errs() << finding.message;
      return int(finding.verdict);
    });
    if (result.exitCode >= 0 && result.exitCode <= int(Verdict::TooLarge)) {
      if (result.exitCode)
        return {Verdict(result.exitCode), config, result.text};
      continue;
    }
    std::string how = result.signal
                          ? strsignal(result.signal)
                          : "exit code " + std::to_string(result.exitCode);
    // An assertion says what is wrong in its first line.
    return {Verdict::Crashed, config,
            how + ": " + llvm::StringRef(result.text).split('\n').first.str()};
  }
  return {};
}
