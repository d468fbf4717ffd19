//===- glowish-conformance.cpp - ONNX's own tests -------------------------===//

#include "ExpectedFailures.h"
#include "NodeTest.h"
#include "Workers.h"
#include "common/Tool.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"
#include <set>
#include <thread>

using namespace glowish;
namespace cl = llvm::cl;

static cl::OptionCategory category("Conformance options");
static cl::opt<std::string> root(cl::Positional, cl::Required,
                                 cl::desc("<folder with tests>"),
                                 cl::cat(category));
static cl::list<std::string>
    backendNames("backend", cl::desc("CPU, Interpreter (default: both)"),
                 cl::cat(category));
static cl::opt<std::string>
    filter("filter", cl::desc("Run tests whose name this expression matches"),
           cl::value_desc("regex"), cl::cat(category));
static cl::opt<std::string>
    expectedFile("expected-failures",
                 cl::desc("Check that just these tests fail"),
                 cl::value_desc("file"), cl::cat(category));
static cl::opt<bool> update("update",
                            cl::desc("Rewrite the file of expected failures"),
                            cl::cat(category));
static cl::opt<bool> listFailures("list", cl::desc("Print all failures"),
                                  cl::cat(category));
static cl::opt<bool>
    byOperator("by-operator",
               cl::desc("Print numbers of each operator that fails somewhere"),
               cl::cat(category));
static cl::opt<unsigned> numWorkers("j", cl::desc("Tests at a time"),
                                    cl::init(0), cl::cat(category));
static cl::opt<unsigned> timeLimit("time-limit",
                                   cl::desc("Seconds for a test (default 60)"),
                                   cl::init(60), cl::cat(category));

namespace {

/// A test with its results, one a back end.
struct Row {
  NodeTest test;
  std::vector<JobResult> results;
};

struct Count {
  unsigned passed = 0, all = 0;
};

} // namespace

static std::vector<std::string> getBackends() {
  if (!backendNames.empty())
    return std::vector<std::string>(backendNames);
  return {"Interpreter", "CPU"};
}

static llvm::Expected<std::vector<Row>> runTests() {
  GLOWISH_TRY(std::vector<NodeTest> tests, findNodeTests(root));
  if (!filter.empty()) {
    llvm::Regex regex(filter);
    std::string reason;
    if (!regex.isValid(reason))
      return makeError("-filter={0}: {1}", filter, reason);
    llvm::erase_if(
        tests, [&](const NodeTest &test) { return !regex.match(test.name); });
  }
  std::vector<std::string> backends = getBackends();
  for (const std::string &name : backends)
    if (name != "CPU" && name != "Interpreter")
      return makeError("-backend={0}: the back ends are CPU and Interpreter",
                       name);
  unsigned count = backends.size();
  GLOWISH_TRY(
      std::vector<JobResult> results,
      runJobs(tests.size() * count,
              numWorkers ? numWorkers : std::thread::hardware_concurrency(),
              timeLimit, [&](unsigned i) {
                return runNodeTest(tests[i / count], backends[i % count], {});
              }));
  std::vector<Row> rows;
  for (unsigned i = 0; i < tests.size(); ++i) {
    Row row{std::move(tests[i]), {}};
    for (unsigned k = 0; k < count; ++k)
      row.results.push_back(std::move(results[i * count + k]));
    rows.push_back(std::move(row));
  }
  return rows;
}

/// One line of a message that can be long: without the paths, and of a list of
/// operators the start.
static std::string shorten(const NodeTest &test, llvm::StringRef message) {
  std::string prefix = "'" + test.folder + "/model.onnx': ";
  size_t at = message.find(prefix);
  std::string text =
      at == llvm::StringRef::npos
          ? message.str()
          : (message.take_front(at) + message.substr(at + prefix.size())).str();
  for (size_t i; (i = text.find(test.folder + "/")) != std::string::npos;)
    text.erase(i, test.folder.size() + 1);
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

static void printCounts(llvm::StringRef heading,
                        const std::map<std::string, std::vector<Count>> &counts,
                        bool onlyFailing) {
  std::vector<std::string> backends = getBackends();
  llvm::outs() << llvm::formatv("{0,-28}", heading);
  for (const std::string &name : backends)
    llvm::outs() << llvm::formatv("{0,18}", name);
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

static void printSummary(llvm::ArrayRef<Row> rows) {
  std::map<std::string, std::vector<Count>> classes, operators;
  size_t numBackends = getBackends().size();
  for (const Row &row : rows)
    for (unsigned i = 0; i < numBackends; ++i) {
      auto add = [&](std::vector<Count> &counts) {
        counts.resize(numBackends);
        ++counts[i].all;
        counts[i].passed += row.results[i].passed;
      };
      add(classes[row.test.testClass]);
      add(classes["~ all"]);
      for (const std::string &name : row.test.operators)
        add(operators[name]);
    }
  printCounts("class", classes, /*onlyFailing=*/false);
  if (byOperator)
    printCounts("operator", operators, /*onlyFailing=*/true);
}

/// The failures as they are.
static ExpectedFailures getFailures(llvm::ArrayRef<Row> rows) {
  ExpectedFailures failures;
  std::vector<std::string> backends = getBackends();
  for (const Row &row : rows) {
    std::vector<unsigned> failing;
    for (unsigned i = 0; i < backends.size(); ++i)
      if (!row.results[i].passed)
        failing.push_back(i);
    if (failing.empty())
      continue;
    failures[row.test.name] = {
        failing.size() == 2 ? "both" : backends[failing[0]],
        shorten(row.test, row.results[failing[0]].message)};
  }
  return failures;
}

/// Prints what is not as expected; returns how many that are.
static unsigned checkFailures(llvm::ArrayRef<Row> rows,
                              const ExpectedFailures &expected) {
  unsigned numWrong = 0;
  std::vector<std::string> backends = getBackends();
  std::set<std::string> names;
  for (const Row &row : rows) {
    names.insert(row.test.name);
    auto found = expected.find(row.test.name);
    for (unsigned i = 0; i < backends.size(); ++i) {
      bool mayFail = found != expected.end() && found->second.isOn(backends[i]);
      if (row.results[i].passed == !mayFail)
        continue;
      ++numWrong;
      llvm::outs() << (mayFail ? "PASSES" : "FAILS") << " unexpectedly on "
                   << backends[i] << ": " << row.test.name << "\n";
      if (!mayFail)
        llvm::outs() << "  " << shorten(row.test, row.results[i].message)
                     << "\n";
    }
  }
  for (const auto &[name, failure] : expected) {
    if (names.count(name) || !filter.empty())
      continue;
    ++numWrong;
    llvm::outs() << "there is no such test: " << name << "\n";
  }
  return numWrong;
}

static llvm::Expected<int> runConformance() {
  GLOWISH_TRY(std::vector<Row> rows, runTests());
  if (rows.empty())
    return makeError("'{0}' has no tests", root);
  printSummary(rows);
  if (listFailures)
    for (const Row &row : rows)
      for (unsigned i = 0; i < row.results.size(); ++i)
        if (!row.results[i].passed)
          llvm::outs() << row.test.name << " " << getBackends()[i] << ": "
                       << shorten(row.test, row.results[i].message) << "\n";
  if (expectedFile.empty())
    return ExitCode::success;
  if (update) {
    if (!filter.empty() || getBackends().size() != 2)
      return makeError("-update needs all tests on both back ends");
    GLOWISH_CHECK(writeExpectedFailures(expectedFile, getFailures(rows)));
    return ExitCode::success;
  }
  GLOWISH_TRY(ExpectedFailures expected, readExpectedFailures(expectedFile));
  unsigned numWrong = checkFailures(rows, expected);
  if (numWrong)
    llvm::outs() << numWrong << " results are not as expected\n";
  return numWrong ? ExitCode::mismatch : ExitCode::success;
}

int main(int argc, char **argv) {
  return runTool(argc, argv,
                 "Runs ONNX's own tests, each in a process of its own.\n",
                 {&category}, runConformance);
}
