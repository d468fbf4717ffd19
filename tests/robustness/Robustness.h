//===- Robustness.h - Checks of malformed input -----------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_ROBUSTNESS_ROBUSTNESS_H
#define GLOWISH_TESTS_ROBUSTNESS_ROBUSTNESS_H

#include "Outcome.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

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
  unsigned refused = 0, accepted = 0;
  /// Those that another library crashed for.
  unsigned foreign = 0;
};

/// Runs \p check in a child process with a limit of time; counts its outcome
/// in \p counts, and is a failure of the test where that is none.
/// \p name: for messages. \p isForeign: whether another library made the fault,
/// by what was written to stderr.
void checkInChildProcess(
    const std::string &name, llvm::function_ref<int()> check, Counts &counts,
    llvm::function_ref<bool(llvm::StringRef text)> isForeign = nullptr);

} // namespace glowish::robustness

#endif // GLOWISH_TESTS_ROBUSTNESS_ROBUSTNESS_H
