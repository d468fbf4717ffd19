//===- Outcome.h - What may become of malformed input -----------*- C++ -*-===//

#ifndef GLOWISH_TESTS_ROBUSTNESS_OUTCOME_H
#define GLOWISH_TESTS_ROBUSTNESS_OUTCOME_H

#include "glowish/Graph/Module.h"

namespace glowish::robustness {

/// How a child process ends that did what it should. Other exit codes are
/// faults.
enum Outcome : int { Refused = 10, Accepted = 11 };
/// And how it ends when it did what it must not.
enum Fault : int { TooLarge = 12, BadMessage = 13 };

/// Bytes that \p size bytes of a file may make the compiler allocate at once.
size_t getAllocationLimit(size_t size);
/// The same for a module that has been accepted: its types may be large.
size_t getAllocationLimit(size_t size, const Module &module);

/// The outcome of what ended with \p error, if any, where \p input was read. A
/// message that is of no use to a user is a fault, and printed.
int judge(llvm::Error error, llvm::StringRef input = "");

} // namespace glowish::robustness

#endif // GLOWISH_TESTS_ROBUSTNESS_OUTCOME_H
