//===- Report.h - Report of ONNX's tests ------------------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_CONFORMANCE_REPORT_H
#define GLOWISH_TESTS_CONFORMANCE_REPORT_H

#include "ExpectedFailures.h"
#include "NodeTest.h"

namespace glowish {

/// The result of one test with all its sets of data.
struct TestResult {
  bool passed = false;
  /// Of one that failed: the error's message.
  std::string message = "";
  /// Of one that passed.
  PassedTest details = {};
};

/// The results of a suite on one back end.
struct BackendResults {
  std::string backend;
  /// One a test; of tests that are skipped without meaning.
  std::vector<TestResult> results;
};

/// One line for a test that failed: without the paths of its files.
std::string shortenMessage(const NodeTest &test, llvm::StringRef message);

/// A line for each failure, or only for those that are not as \p expected (null
/// for none), one for each kind of skips, and "N passed, N failed, N skipped".
/// Returns how many failures there are, or results not as expected.
unsigned printResults(llvm::ArrayRef<NodeTest> tests,
                      const BackendResults &results,
                      const ExpectedFailures *expected);

/// Says how many tests pass with inputs as constants that scope.csv does not
/// name, and which if \p list.
void printBound(llvm::ArrayRef<NodeTest> tests, const BackendResults &results,
                bool list);

/// Tables of how many tests passed: of each class, or of each operator that
/// fails somewhere.
void printClasses(llvm::ArrayRef<NodeTest> tests,
                  llvm::ArrayRef<BackendResults> results);
void printOperators(llvm::ArrayRef<NodeTest> tests,
                    llvm::ArrayRef<BackendResults> results);

/// Writes a table of all tests and \p results to \p path, for programs: fields
/// with tabs between them, and a heading. Of a test on a back end it has
/// "passed" with the largest error in units in the last place, "failed" with
/// the cause that
/// \p expected states (null for none) or else the message, or "skipped" with
/// the reason.
llvm::Error writeResults(llvm::ArrayRef<NodeTest> tests,
                         llvm::ArrayRef<BackendResults> results,
                         const ExpectedFailures *expected,
                         const std::string &path);

/// Makes \p failures those of \p results; what it says of other back ends and
/// of tests that were not run stays, as do the causes. The cause of a new
/// failure is unknown.
void updateFailures(ExpectedFailures &failures, llvm::ArrayRef<NodeTest> tests,
                    const BackendResults &results);

} // namespace glowish

#endif // GLOWISH_TESTS_CONFORMANCE_REPORT_H
