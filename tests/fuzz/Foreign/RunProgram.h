//===- RunProgram.h - Programs beside the compiler --------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_FOREIGN_RUNPROGRAM_H
#define GLOWISH_TESTS_FUZZ_FOREIGN_RUNPROGRAM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace glowish::fuzz {

/// Runs \p command, whose output goes to the file \p log. Returns that; an
/// error has it, too.
llvm::Expected<std::string> runProgram(llvm::ArrayRef<std::string> command,
                                       const std::string &log);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_FOREIGN_RUNPROGRAM_H
