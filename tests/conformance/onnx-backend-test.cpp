//===- onnx-backend-test.cpp - ONNX's own tests ---------------------------===//

#include "Bundles.h"
#include "NodeTest.h"
#include "Report.h"
#include "common/Foreign/OnnxRuntime.h"
#include "common/Tool.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Regex.h"
#include <thread>

using namespace glowish;
namespace cl = llvm::cl;

static cl::OptionCategory category("Test options");
static cl::opt<std::string>
    suite("suite", cl::Required,
          cl::desc("Folder with tests, or with folders of them, at any depth"),
          cl::value_desc("folder"), cl::cat(category));
static cl::list<std::string>
    backendNames("backend", cl::OneOrMore,
                 cl::desc("Interpreter, CPU, bundle: linked C programs, "
                          "aarch64 or wasm: programs in an emulator, "
                          "Written or WrittenOptimized: the model written as "
                          "ONNX and imported again, CheckPasses: CPU, and "
                          "interpreted after every pass, OpenInterpreter or "
                          "OpenCPU: with a range for the first dimension of "
                          "inputs"),
                 cl::value_desc("name"), cl::cat(category));
static cl::opt<std::string>
    filter("filter", cl::desc("Run tests whose name this expression matches"),
           cl::value_desc("regex"), cl::cat(category));
static cl::opt<unsigned>
    numWorkers("j",
               cl::desc("Tests at the same time (default: one a processor)"),
               cl::value_desc("N"), cl::init(0), cl::cat(category));
static cl::opt<unsigned> timeLimit("time-limit",
                                   cl::desc("Seconds for a test (default 300)"),
                                   cl::value_desc("N"), cl::init(300),
                                   cl::cat(category));
static cl::opt<std::string>
    expectedFile("expected-failures",
                 cl::desc("Just these tests may fail, and must"),
                 cl::value_desc("file"), cl::cat(category));
static cl::opt<std::string>
    keepWritten("keep-written",
                cl::desc("Leave written models in FOLDER/BACKEND/NAME.onnx"),
                cl::value_desc("folder"), cl::cat(category));
static cl::opt<bool>
    update("update",
           cl::desc("Rewrite the file of expected failures for the tests and "
                    "back ends that were run"),
           cl::cat(category));
static cl::opt<bool>
    listBound("list-bound",
              cl::desc("List the tests that pass with inputs as constants that "
                       "scope.csv does not name"),
              cl::cat(category));
static cl::opt<bool>
    listTests("list-tests",
              cl::desc("List the tests that are not skipped, and run none"),
              cl::cat(category));
static cl::opt<std::string>
    resultsFile("results",
                cl::desc("Write a table of all results, for programs"),
                cl::value_desc("file"), cl::cat(category));
static cl::opt<bool>
    byClass("by-class", cl::desc("Print how many tests of each class passed"),
            cl::cat(category));
static cl::opt<bool>
    byOperator("by-operator",
               cl::desc("The same of each operator that fails somewhere"),
               cl::cat(category));

static llvm::Expected<std::vector<NodeTest>> chooseTests() {
  if (!llvm::sys::fs::is_directory(suite))
    return makeError("-suite={0}: there is no such folder", suite);
  // All back ends run the same tests.
  bool isWritten = llvm::any_of(backendNames, [](llvm::StringRef name) {
    return name.starts_with("Written");
  });
  GLOWISH_ASSIGN_OR_RETURN(std::vector<NodeTest> tests,
                           findNodeTests(suite, isWritten));
  if (!filter.empty()) {
    llvm::Regex regex(filter);
    std::string reason;
    if (!regex.isValid(reason))
      return makeError("-filter={0}: {1}", filter, reason);
    llvm::erase_if(
        tests, [&](const NodeTest &test) { return !regex.match(test.name); });
  }
  if (tests.empty())
    return makeError("-suite={0}: there are no tests{1}", suite,
                     filter.empty() ? "" : " whose names -filter matches");
  return tests;
}

static bool isForeign(llvm::StringRef backend) {
  return backend == "aarch64" || backend == "wasm";
}

/// \p foreign: the machine of the back end; null for this one.
static llvm::Expected<BackendResults> runTests(llvm::ArrayRef<NodeTest> tests,
                                               const std::string &backend,
                                               const ForeignTarget *foreign) {
  BackendResults all{backend, std::vector<TestResult>(tests.size())};
  std::vector<NodeTest> chosen;
  std::vector<size_t> indices;
  for (auto [i, test] : llvm::enumerate(tests))
    if (!test.skip) {
      chosen.push_back(test);
      indices.push_back(i);
      all.results[i].passed = true;
    }
  // A test can have several results: one for each set of data.
  auto done = [&](uint64_t i, JobResult result) {
    TestResult &sofar = all.results[indices[i]];
    if (result.passed)
      sofar.details.add(PassedTest::parse(result.text));
    else if (sofar.passed)
      sofar = {/*passed=*/false, std::move(result.text)};
  };
  JobOptions options;
  options.numWorkers = numWorkers
                           ? numWorkers
                           : std::max(1u, std::thread::hardware_concurrency());
  options.seconds = timeLimit;
  // In a new copy of this process the first compilation is slow, as each page
  // of LLVM that it uses is a page fault.
  options.jobsPerProcess = 16;
  if (backend == "bundle") {
    GLOWISH_RETURN_IF_ERROR(runBundleTests(chosen, options, done));
    return all;
  }
  auto job = [&](uint64_t i) -> llvm::Expected<std::string> {
    GLOWISH_ASSIGN_OR_RETURN(
        PassedTest passed,
        runNodeTest(chosen[i], backend, keepWritten, foreign));
    return passed.str();
  };
  GLOWISH_RETURN_IF_ERROR(runJobs(chosen.size(), options, job, done));
  return all;
}

/// Takes off the list what no test has that is run; where not all tests are
/// there, nothing. Returns the names.
static std::vector<std::string> eraseUnknown(llvm::ArrayRef<NodeTest> tests,
                                             ExpectedFailures &expected) {
  std::set<std::string> names;
  for (const NodeTest &test : tests)
    if (!test.skip)
      names.insert(test.name);
  std::vector<std::string> unknown;
  for (const auto &[name, failure] : expected)
    if (filter.empty() && !names.count(name))
      unknown.push_back(name);
  for (const std::string &name : unknown)
    expected.erase(name);
  return unknown;
}

/// Prints the expected failures without a cause; returns how many there are.
static size_t printUnexplained(const ExpectedFailures &expected) {
  std::vector<std::string> names = findUnexplained(expected);
  for (const std::string &name : names)
    llvm::outs() << "its cause is unknown, to be stated in " << expectedFile
                 << ": " << name << "\n";
  return names.size();
}

/// What ctest takes for a test that was skipped.
static constexpr int skippedExitCode = 77;

/// Runs the tests on all back ends. None where an emulator or ONNX Runtime is
/// not installed, which is said.
static llvm::Expected<std::optional<std::vector<BackendResults>>>
runOnBackends(llvm::ArrayRef<NodeTest> tests) {
  std::vector<BackendResults> all;
  for (const std::string &name : backendNames) {
    std::unique_ptr<ForeignTarget> foreign;
    if (isForeign(name)) {
      GLOWISH_ASSIGN_OR_RETURN(foreign, ForeignTarget::create(name, timeLimit));
      if (!foreign)
        return std::nullopt;
    }
    if (std::string missing = findMissingOnnxRuntime();
        name == "OnnxRuntime" && !missing.empty()) {
      llvm::outs() << "skipped: " << missing << "\n";
      return std::nullopt;
    }
    GLOWISH_ASSIGN_OR_RETURN(BackendResults results,
                             runTests(tests, name, foreign.get()));
    all.push_back(std::move(results));
  }
  return all;
}

static llvm::Expected<int> runSuite() {
  for (const std::string &name : backendNames)
    if (!isTestBackend(name))
      return makeError("-backend={0}: the back ends are Interpreter, CPU, "
                       "bundle, aarch64, wasm, Written, WrittenOptimized, "
                       "CheckPasses, OpenInterpreter, OpenCPU and OnnxRuntime",
                       name);
  if (update && expectedFile.empty())
    return makeError("-update needs -expected-failures");
  GLOWISH_ASSIGN_OR_RETURN(std::vector<NodeTest> tests, chooseTests());
  if (listTests) {
    for (const NodeTest &test : tests)
      if (!test.skip)
        llvm::outs() << test.name << "\n";
    return ExitCode::success;
  }
  ExpectedFailures expected;
  if (!expectedFile.empty()) {
    GLOWISH_ASSIGN_OR_RETURN(expected, readExpectedFailures(expectedFile));
  }
  const ExpectedFailures *known = expectedFile.empty() ? nullptr : &expected;
  GLOWISH_ASSIGN_OR_RETURN(auto found, runOnBackends(tests));
  if (!found)
    return skippedExitCode;
  std::vector<BackendResults> all = std::move(*found);
  unsigned numWrong = 0;
  for (const BackendResults &results : all) {
    if (backendNames.size() > 1)
      llvm::outs() << results.backend << ":\n";
    printBound(tests, results, listBound);
    numWrong += printResults(tests, results, known);
  }
  if (!resultsFile.empty())
    GLOWISH_RETURN_IF_ERROR(writeResults(tests, all, known, resultsFile));
  if (byClass)
    printClasses(tests, all);
  if (byOperator)
    printOperators(tests, all);
  std::vector<std::string> unknown = eraseUnknown(tests, expected);
  if (update) {
    for (const BackendResults &results : all)
      updateFailures(expected, tests, results);
    GLOWISH_RETURN_IF_ERROR(writeExpectedFailures(expectedFile, expected));
    printUnexplained(expected);
    return ExitCode::success;
  }
  for (const std::string &name : unknown)
    llvm::outs() << "listed as failing, but not run: " << name << "\n";
  numWrong += unknown.size() + printUnexplained(expected);
  return numWrong ? ExitCode::failure : ExitCode::success;
}

int main(int argc, char **argv) {
  return runTool(argc, argv,
                 "Runs ONNX's own tests in child processes. Closes "
                 "with how many passed,\nfailed and were skipped; exits 1 if "
                 "any failed.\n",
                 {&category}, runSuite);
}
