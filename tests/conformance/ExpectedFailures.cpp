//===- ExpectedFailures.cpp - Tests known to fail -------------------------===//

#include "ExpectedFailures.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/File.h"

using namespace glowish;

static constexpr llvm::StringLiteral heading =
    "# Tests of ONNX's that fail: NAME BACKENDS: CAUSE, sorted by name. "
    "Written\n"
    "# by `run.sh -update`. A test that is listed and passes is an error, "
    "too.\n";

llvm::Expected<ExpectedFailures>
glowish::readExpectedFailures(llvm::StringRef path) {
  GLOWISH_TRY(auto buffer, readFile(path));
  ExpectedFailures failures;
  llvm::SmallVector<llvm::StringRef> lines;
  buffer->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines) {
    if (line.starts_with("#"))
      continue;
    auto [head, cause] = line.split(": ");
    auto [name, backends] = head.split(' ');
    if (cause.empty() ||
        (backends != "both" && backends != "CPU" && backends != "Interpreter"))
      return makeError("'{0}': the form is NAME BACKENDS: CAUSE, with BACKENDS "
                       "both, CPU or Interpreter, not: {1}",
                       path, line);
    if (!failures.empty() && failures.rbegin()->first >= name.str())
      return makeError("'{0}': '{1}' does not belong behind '{2}'", path, name,
                       failures.rbegin()->first);
    failures[name.str()] = {backends.str(), cause.str()};
  }
  return failures;
}

llvm::Error glowish::writeExpectedFailures(llvm::StringRef path,
                                           const ExpectedFailures &failures) {
  std::string text = heading.str();
  for (const auto &[name, failure] : failures)
    text += name + " " + failure.backends + ": " + failure.cause + "\n";
  return writeFile(path, text);
}
