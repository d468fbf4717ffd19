//===- Report.cpp - Report of ONNX's tests --------------------------------===//

#include "Report.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace glowish;

namespace {

struct Count {
  unsigned passed = 0, all = 0;
};

/// Of each class or operator, one a back end.
using Counts = std::map<std::string, std::vector<Count>>;

} // namespace

std::string glowish::shortenMessage(const NodeTest &test,
                                    llvm::StringRef message) {
  std::string text = message.str();
  std::string folder = llvm::sys::path::parent_path(test.model).str() + "/";
  for (const std::string &part : {"'" + test.model + "': ", folder})
    for (size_t i; (i = text.find(part)) != std::string::npos;)
      text.erase(i, part.size());
  for (char &c : text)
    if (uint8_t(c) < 32)
      c = ' ';
  llvm::StringRef unsupported =
      "1 node has an operator that is not supported: ";
  if (llvm::StringRef(text).starts_with(unsupported))
    text = "not supported: " + text.substr(unsupported.size());
  constexpr size_t most = 160;
  if (text.size() > most)
    text = text.substr(0, most) + "...";
  return llvm::StringRef(text).trim().str();
}

static void printSkips(llvm::ArrayRef<NodeTest> tests) {
  llvm::MapVector<const SkipKind *, unsigned> numOfKind;
  for (const NodeTest &test : tests)
    if (test.skip)
      ++numOfKind[test.skip];
  for (auto [kind, count] : numOfKind)
    llvm::outs() << llvm::formatv("SKIPPED {0,4}  {1}: {2}\n", count,
                                  kind->name, kind->reason);
}

unsigned glowish::printResults(llvm::ArrayRef<NodeTest> tests,
                               const BackendResults &results,
                               const ExpectedFailures *expected) {
  unsigned numPassed = 0, numFailed = 0, numSkipped = 0, numUnexpected = 0;
  for (auto [test, result] : llvm::zip_equal(tests, results.results)) {
    if (test.skip) {
      ++numSkipped;
      continue;
    }
    ++(result.passed ? numPassed : numFailed);
    bool mayFail = false;
    if (expected) {
      auto found = expected->find(test.name);
      mayFail = found != expected->end() &&
                found->second.backends.count(results.backend);
    }
    if (result.passed != mayFail)
      continue;
    ++numUnexpected;
    llvm::outs() << (mayFail ? "PASSES and is listed: " : "FAILED ")
                 << test.name;
    if (!mayFail)
      llvm::outs() << ": " << shortenMessage(test, result.message);
    llvm::outs() << "\n";
  }
  printSkips(tests);
  llvm::outs() << llvm::formatv("{0} passed, {1} failed, {2} skipped\n",
                                numPassed, numFailed, numSkipped);
  return numUnexpected;
}

void glowish::printBound(llvm::ArrayRef<NodeTest> tests,
                         const BackendResults &results, bool list) {
  unsigned numTests = 0;
  for (auto [test, result] : llvm::zip_equal(tests, results.results)) {
    if (test.skip || !result.passed)
      continue;
    std::vector<llvm::StringRef> names;
    for (llvm::StringRef name : result.details.constants)
      if (!llvm::is_contained(test.constantInputs, name))
        names.push_back(name);
    numTests += !names.empty();
    if (list && !names.empty())
      llvm::outs() << "BOUND " << test.name << ": " << llvm::join(names, ", ")
                   << "\n";
  }
  if (numTests)
    llvm::outs() << numTests
                 << " tests pass with inputs as constants that scope.csv does "
                    "not name (-list-bound)\n";
}

static void printCounts(llvm::StringRef heading, const Counts &counts,
                        llvm::ArrayRef<BackendResults> results,
                        bool onlyFailing) {
  llvm::outs() << llvm::formatv("{0,-28}", heading);
  for (const BackendResults &each : results)
    llvm::outs() << llvm::formatv("{0,18}", each.backend);
  llvm::outs() << "\n";
  for (const auto &[name, each] : counts) {
    if (onlyFailing && llvm::all_of(each, [](const Count &count) {
          return count.passed == count.all;
        }))
      continue;
    llvm::outs() << llvm::formatv("{0,-28}", name);
    for (const Count &count : each)
      llvm::outs() << llvm::formatv(
          "{0,18}", llvm::formatv("{0} of {1}", count.passed, count.all).str());
    llvm::outs() << "\n";
  }
}

/// Counts the results of each test that was run under all that \p getNames
/// says.
static Counts
count(llvm::ArrayRef<NodeTest> tests, llvm::ArrayRef<BackendResults> results,
      llvm::function_ref<std::vector<std::string>(const NodeTest &)> getNames) {
  Counts counts;
  for (size_t i = 0; i < tests.size(); ++i) {
    if (tests[i].skip)
      continue;
    for (const std::string &name : getNames(tests[i])) {
      std::vector<Count> &each = counts[name];
      each.resize(results.size());
      for (size_t k = 0; k < results.size(); ++k) {
        ++each[k].all;
        each[k].passed += results[k].results[i].passed;
      }
    }
  }
  return counts;
}

void glowish::printClasses(llvm::ArrayRef<NodeTest> tests,
                           llvm::ArrayRef<BackendResults> results) {
  auto getNames = [](const NodeTest &test) {
    return std::vector<std::string>{test.testClass, "~ all"};
  };
  printCounts("class", count(tests, results, getNames), results,
              /*onlyFailing=*/false);
}

void glowish::printOperators(llvm::ArrayRef<NodeTest> tests,
                             llvm::ArrayRef<BackendResults> results) {
  auto getNames = [](const NodeTest &test) { return test.operators; };
  printCounts("operator", count(tests, results, getNames), results,
              /*onlyFailing=*/true);
}

/// The last three fields of a line of writeResults().
static std::string describe(const NodeTest &test, const TestResult &result,
                            llvm::StringRef backend,
                            const ExpectedFailures *expected) {
  if (test.skip)
    return llvm::formatv("skipped\t\t{0}: {1}", test.skip->name,
                         test.skip->reason);
  if (result.passed)
    return llvm::formatv("passed\t{0}\t",
                         llvm::format("%.4g", result.details.ulps));
  std::string cause = shortenMessage(test, result.message);
  if (expected) {
    auto found = expected->find(test.name);
    if (found != expected->end() && found->second.backends.count(backend.str()))
      cause = found->second.cause;
  }
  return "failed\t\t" + cause;
}

llvm::Error glowish::writeResults(llvm::ArrayRef<NodeTest> tests,
                                  llvm::ArrayRef<BackendResults> results,
                                  const ExpectedFailures *expected,
                                  const std::string &path) {
  std::string text = "test\toperators\tbackend\tresult\tulps\treason\n";
  for (size_t i = 0; i < tests.size(); ++i)
    for (const BackendResults &each : results)
      text += llvm::formatv(
          "{0}\t{1}\t{2}\t{3}\n", tests[i].name,
          llvm::join(tests[i].operators, ","), each.backend,
          describe(tests[i], each.results[i], each.backend, expected));
  return writeFile(path, text);
}

void glowish::updateFailures(ExpectedFailures &failures,
                             llvm::ArrayRef<NodeTest> tests,
                             const BackendResults &results) {
  for (auto [test, result] : llvm::zip_equal(tests, results.results)) {
    if (!test.skip && !result.passed) {
      ExpectedFailure &failure = failures[test.name];
      failure.backends.insert(results.backend);
      if (failure.cause.empty())
        failure.cause =
            unknownCause.str() + shortenMessage(test, result.message);
      continue;
    }
    auto found = failures.find(test.name);
    if (found == failures.end())
      continue;
    found->second.backends.erase(results.backend);
    if (found->second.backends.empty())
      failures.erase(found);
  }
}
