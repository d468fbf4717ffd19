//===- ExpectedFailures.cpp - Tests known to fail -------------------------===//

#include "ExpectedFailures.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

static constexpr llvm::StringLiteral heading =
    "# Tests of ONNX's that fail: NAME BACKENDS: CAUSE, sorted by name. "
    "`run.sh\n"
    "# -update` adds and removes tests and keeps the causes; that of a new one "
    "is\n"
    "# `unknown, SYMPTOM`, and runs fail until it is replaced. A test "
    "that is\n"
    "# listed and passes is an error, too.\n";

static const std::set<std::string> allBackends = {"CPU", "Interpreter",
                                                  "aarch64", "bundle", "wasm"};
/// Of models that were written again, with passes checked, and of another
/// runtime; not what "all" means.
static const std::set<std::string> otherBackends = {
    "Written",         "WrittenOptimized", "CheckPasses",
    "OpenInterpreter", "OpenCPU",          "OnnxRuntime"};

bool glowish::isTestBackend(llvm::StringRef name) {
  return allBackends.count(name.str()) || otherBackends.count(name.str());
}

static llvm::Expected<std::set<std::string>>
parseBackends(llvm::StringRef text) {
  if (text == "all")
    return allBackends;
  std::set<std::string> backends;
  for (llvm::StringRef name : llvm::split(text, ',')) {
    if (!isTestBackend(name))
      return makeError("'{0}' is not a back end; accepted: all, or some of "
                       "{1},{2}",
                       name, llvm::join(allBackends, ","),
                       llvm::join(otherBackends, ","));
    backends.insert(name.str());
  }
  return backends;
}

llvm::Expected<ExpectedFailures>
glowish::readExpectedFailures(llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(auto buffer, readFile(path));
  ExpectedFailures failures;
  llvm::SmallVector<llvm::StringRef> lines;
  buffer->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines) {
    if (line.starts_with("#"))
      continue;
    auto [head, cause] = line.split(": ");
    auto [name, names] = head.split(' ');
    if (cause.empty())
      return makeError("'{0}': the form is NAME BACKENDS: CAUSE, not: {1}",
                       path, line);
    llvm::Expected<std::set<std::string>> backends = parseBackends(names);
    if (!backends)
      return addContext(backends.takeError(), "'" + path + "': " + name + ": ");
    if (!failures.empty() && failures.rbegin()->first >= name.str())
      return makeError("'{0}': '{1}' does not belong behind '{2}'", path, name,
                       failures.rbegin()->first);
    failures[name.str()] = {std::move(*backends), cause.str()};
  }
  return failures;
}

std::vector<std::string>
glowish::findUnexplained(const ExpectedFailures &failures) {
  std::vector<std::string> names;
  for (const auto &[name, failure] : failures)
    if (llvm::StringRef(failure.cause).starts_with(unknownCause))
      names.push_back(name);
  return names;
}

llvm::Error glowish::writeExpectedFailures(llvm::StringRef path,
                                           const ExpectedFailures &failures) {
  std::string text = heading.str();
  for (const auto &[name, failure] : failures)
    text +=
        name + " " +
        (failure.backends == allBackends ? "all"
                                         : llvm::join(failure.backends, ",")) +
        ": " + failure.cause + "\n";
  return writeFile(path, text);
}
