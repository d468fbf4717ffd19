//===- ExpectedFailures.h - Tests known to fail -----------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_CONFORMANCE_EXPECTEDFAILURES_H
#define GLOWISH_TESTS_CONFORMANCE_EXPECTEDFAILURES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <set>
#include <string>

namespace glowish {

/// A test of ONNX's that fails, on which back ends, and why.
struct ExpectedFailure {
  /// Those that isTestBackend() knows.
  std::set<std::string> backends;
  std::string cause;
};

/// What a cause begins with that is not known; the symptom follows.
inline constexpr llvm::StringLiteral unknownCause = "unknown, ";

/// By the test's name.
using ExpectedFailures = std::map<std::string, ExpectedFailure>;

/// Returns the tests whose cause is unknown.
std::vector<std::string> findUnexplained(const ExpectedFailures &failures);

/// Whether tests can run on the back end \p name.
bool isTestBackend(llvm::StringRef name);

/// Reads lines of the form `NAME BACKEND,...: CAUSE`, or `NAME all: CAUSE`;
/// those that begin with # are comments. Lines that are not sorted by name are
/// an error, so that the file has one form only.
llvm::Expected<ExpectedFailures> readExpectedFailures(llvm::StringRef path);

/// Writes such a file.
llvm::Error writeExpectedFailures(llvm::StringRef path,
                                  const ExpectedFailures &failures);

} // namespace glowish

#endif // GLOWISH_TESTS_CONFORMANCE_EXPECTEDFAILURES_H
