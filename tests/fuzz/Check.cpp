//===- Check.cpp - Whether a graph is compiled right ----------------------===//

#include "Check.h"
#include "../unit/ChildProcess.h"
#include "Reference.h"
#include "glowish/Support/Error.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
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
  rlimit limit;
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = std::min(limit.rlim_max, mostBytes);
  setrlimit(RLIMIT_AS, &limit);
  std::set_new_handler(endTooLarge);
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *, bool) { endTooLarge(); });
}

/// What each output of a run is.
using Expected = std::vector<Expectation>;

static ElementCounts countCompared(llvm::ArrayRef<Expected> runs,
                                   const CompileConfig &config) {
  ElementCounts counts;
  for (const Expected &expected : runs)
    for (const Expectation &output : expected) {
      counts.all += output.bounds.size();
      for (size_t i = 0; i < output.bounds.size(); ++i)
        counts.compared += isCompared(output, i, config.mayReorder());
    }
  return counts;
}

/// The first output of \p actual that is not what was expected of a run of
/// \p test.
static std::string describeOutputs(const TestCase &test,
                                   const Expected &expected,
                                   const Outputs &actual,
                                   const CompileConfig &config) {
  for (const Expectation &output : expected) {
    auto found = actual.find(test.findPlace(output.name));
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
static std::string compareBits(const TestCase &test, const Expected &expected,
                               const Outputs &actual, const Outputs &others,
                               const CompileConfig &config) {
  for (const Expectation &output : expected) {
    std::string place = test.findPlace(output.name);
    std::string difference = describeOtherBits(
        output, actual.at(place), others.at(place), config.mayReorder());
    if (!difference.empty())
      return "output '" + output.name + "': " + difference;
  }
  return "";
}

static llvm::Expected<std::vector<Expected>> interpret(const TestCase &test,
                                                       unsigned numTrials) {
  std::vector<Expected> runs;
  for (const RunExtents &values : test.getRuns()) {
    auto make = [&](const NodeEvaluator &evaluate) {
      return test.makeReference(values, evaluate);
    };
    GLOWISH_ASSIGN_OR_RETURN(runs.emplace_back(),
                             interpretGraph(make, numTrials));
  }
  return runs;
}

namespace {

/// Compares what a test's runs leave with the reference.
class Comparer {
public:
  explicit Comparer(const TestCase &test) : test(test), runs(test.getRuns()) {}

  /// Interprets the test; before anything is compared.
  llvm::Error start() {
    GLOWISH_ASSIGN_OR_RETURN(expected, interpret(test, fewTrials));
    return llvm::Error::success();
  }
  /// What is wrong with the outputs of run \p run.
  std::string describe(size_t run, const Outputs &actual,
                       const CompileConfig &config);
  /// What is wrong with all runs of \p config.
  std::string describeAll(llvm::ArrayRef<Outputs> actual,
                          const CompileConfig &config);
  std::string describeBits(llvm::ArrayRef<Outputs> actual,
                           llvm::ArrayRef<Outputs> others,
                           const CompileConfig &config);
  ElementCounts count(const CompileConfig &config) const {
    return countCompared(expected, config);
  }

private:
  std::string addRun(size_t run, const std::string &difference) const {
    if (difference.empty() || runs[run].empty())
      return difference;
    return "with " + print(runs[run]) + ": " + difference;
  }

  // Few trials say for nearly all graphs that all is right. What differs by a
  // rounding that they did not come upon is found by more.
  static constexpr unsigned fewTrials = 5, manyTrials = 100;
  const TestCase &test;
  std::vector<RunExtents> runs;
  std::vector<Expected> expected;
  bool hasFewTrials = true;
};

} // namespace

std::string Comparer::describe(size_t run, const Outputs &actual,
                               const CompileConfig &config) {
  std::string difference = describeOutputs(test, expected[run], actual, config);
  if (!difference.empty() && std::exchange(hasFewTrials, false)) {
    expected = llvm::cantFail(interpret(test, manyTrials));
    difference = describeOutputs(test, expected[run], actual, config);
  }
  return addRun(run, difference);
}

std::string Comparer::describeAll(llvm::ArrayRef<Outputs> actual,
                                  const CompileConfig &config) {
  for (auto [run, outputs] : llvm::enumerate(actual)) {
    std::string difference = describe(run, outputs, config);
    if (!difference.empty())
      return difference;
  }
  return "";
}

std::string Comparer::describeBits(llvm::ArrayRef<Outputs> actual,
                                   llvm::ArrayRef<Outputs> others,
                                   const CompileConfig &config) {
  for (size_t run = 0; run < actual.size(); ++run) {
    std::string difference =
        compareBits(test, expected[run], actual[run], others[run], config);
    if (!difference.empty())
      return addRun(run, difference);
  }
  return "";
}

Finding fuzz::check(const TestCase &test,
                    llvm::ArrayRef<CompileConfig> configs) {
  auto refuse = [](const CompileConfig &config, llvm::StringRef prefix,
                   llvm::Error error) {
    return Finding{Verdict::Refused, config,
                   (prefix + llvm::toString(std::move(error))).str()};
  };
  constexpr llvm::StringLiteral single = "interpreting single nodes: ";
  Comparer comparer(test);
  if (llvm::Error error = comparer.start())
    return refuse(configs.front(), single, std::move(error));
  ElementCounts elements;
  Omissions omissions;
  std::string omitted;
  auto omit = [&](const Inexpressible &graph) {
    omitted = graph.message();
    ++omissions.programs;
    for (const std::string &reason : graph.getReasons())
      ++omissions.reasons[reason];
  };
  for (const CompileConfig &config : configs) {
    auto describe = [&](size_t run, const Outputs &actual) {
      return comparer.describe(run, actual, config);
    };
    auto actual = runCase(test, config, describe);
    if (!actual) {
      if (llvm::Error error = llvm::handleErrors(actual.takeError(), omit))
        return refuse(config, "", std::move(error));
      continue;
    }
    std::string difference = comparer.describeAll(*actual, config);
    if (!difference.empty())
      return {Verdict::Differs, config, difference};
    if (config.isReproducible) {
      auto others = runCase(test, getCommonConfig(config), describe);
      if (!others)
        return refuse(config, "", others.takeError());
      difference = comparer.describeBits(*actual, *others, config);
      if (!difference.empty())
        return {Verdict::Differs, config, difference};
    }
    elements += comparer.count(config);
  }
  return {Verdict::Same, {}, omitted, elements, std::move(omissions)};
}

/// check() in one child process. A finding names the first of \p configs, which
/// are not empty: with several it is not known which is wrong.
static Finding runInChild(const TestCase &test,
                          llvm::ArrayRef<CompileConfig> configs) {
  constexpr unsigned secondsForOne = 30, secondsForMany = 300;
  // No other text on stderr has it.
  constexpr llvm::StringLiteral mark = "\x01";
  ChildResult result = runChild([&] {
    // Of the processor: a busy machine takes its time.
    rlim_t seconds = configs.size() == 1 ? secondsForOne : secondsForMany;
    rlimit time = {seconds, seconds};
    setrlimit(RLIMIT_CPU, &time);
    limitMemory();
    Finding finding = check(test, configs);
    llvm::errs() << (finding.verdict == Verdict::Same ? mark : "")
                 << finding.message;
    return int(finding.verdict);
  });
  // Without the mark something has called exit(0).
  llvm::StringRef text = result.text;
  if (result.exitCode == int(Verdict::Same) && text.contains(mark))
    return {Verdict::Same, {}, text.rsplit(mark).second.str()};
  if (result.exitCode > 0 && result.exitCode <= int(Verdict::TooLarge))
    return {Verdict(result.exitCode), configs.front(), result.text};
  std::string how = result.signal
                        ? strsignal(result.signal)
                        : "exit code " + std::to_string(result.exitCode);
  // An assertion says what is wrong in its first line.
  return {Verdict::Crashed, configs.front(),
          how + ": " + text.split('\n').first.str()};
}

Finding fuzz::checkInChild(const TestCase &test,
                           llvm::ArrayRef<CompileConfig> configs) {
  // Together first: in a new copy of this process the first compilation is
  // slow, as each page of LLVM that it uses is a page fault.
  Finding together = runInChild(test, configs);
  if (together.verdict == Verdict::Same || configs.size() == 1)
    return together;
  for (const CompileConfig &config : configs) {
    Finding alone = runInChild(test, config);
    if (alone.verdict != Verdict::Same)
      return alone;
  }
  together.verdict = Verdict::WrongTogether;
  return together;
}
