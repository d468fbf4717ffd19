//===- Robustness.h - Checks of malformed input -----------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_ROBUSTNESS_ROBUSTNESS_H
#define GLOWISH_TESTS_ROBUSTNESS_ROBUSTNESS_H

#include "Outcome.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace glowish::robustness {

/// The cases to run, from the environment: GLOWISH_ROBUSTNESS=FIRST,COUNT.
struct Range {
  uint64_t first, count;
};
Range getRange(uint64_t defaultCount);

/// Takes \p import's module through all phases and the code generation of both
/// back ends. To be called in a child process.
int compileAll(
    size_t size,
    llvm::function_ref<llvm::Expected<std::unique_ptr<Module>>()> import);

/// The same of a training step of the model at \p path, with the mean squared
/// error of its first output.
int compileStep(size_t size, llvm::StringRef path);

/// Writes \p bytes to the file \p name in the folder $GLOWISH_ROBUSTNESS_SAVE,
/// if that is set: the cases, to look at.
void saveCase(const std::string &name, const std::string &bytes);

struct Counts {
  unsigned accepted = 0;
  /// Those that another library crashed for.
  unsigned foreign = 0;
  /// The names of the others.
  std::vector<std::string> refused;
};

/// Checks to be run in child processes.
class Cases {
public:
  /// \p check returns an Outcome, or a fault. \p name: for messages.
  void add(std::string name, std::function<int()> check) {
    cases.push_back({std::move(name), std::move(check)});
  }

  /// Runs what has been added, each with a limit of time; a fault is a failure
  /// of the test. A process runs case after case until one makes a fault: a
  /// copy of this process takes longer to begin than most cases.
  /// \p isForeign: whether another library made a fault, by what was written to
  /// stderr.
  Counts
  run(llvm::function_ref<bool(llvm::StringRef text)> isForeign = nullptr) const;

private:
  struct Case {
    std::string name;
    std::function<int()> check;
  };
  std::vector<Case> cases;
};

} // namespace glowish::robustness

#endif // GLOWISH_TESTS_ROBUSTNESS_ROBUSTNESS_H
