//===- Robustness.h - Checks of malformed input -----------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_ROBUSTNESS_ROBUSTNESS_H
#define GLOWISH_TESTS_ROBUSTNESS_ROBUSTNESS_H

#include "glowish/Graph/Module.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace glowish::robustness {

/// How a child process ends that did what it should. Other exit codes are
/// faults.
enum Outcome : int { Refused = 10, Accepted = 11 };
/// And how it ends when it did what it must not.
enum Fault : int { TooLarge = 12, BadMessage = 13 };

/// The cases to run, from the environment: GLOWISH_ROBUSTNESS=FIRST,COUNT.
struct Range {
  uint64_t first, count;
};
Range getRange(uint64_t defaultCount);

/// Bytes that \p size bytes of a file may make the compiler allocate at once.
size_t getAllocationLimit(size_t size);
/// The same for a module that has been accepted: its types may be large.
size_t getAllocationLimit(size_t size, const Module &module);

/// The outcome of what ended with \p error, if any. A message that is of
/// no use to a user is a fault, and printed.
int judge(llvm::Error error);

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
