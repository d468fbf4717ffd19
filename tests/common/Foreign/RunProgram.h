//===- RunProgram.h - Programs beside the compiler --------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_COMMON_FOREIGN_RUNPROGRAM_H
#define GLOWISH_TESTS_COMMON_FOREIGN_RUNPROGRAM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace glowish {

/// Runs \p command, whose output goes to the file \p log, for at most
/// \p seconds. Returns that output; an error has it, too.
llvm::Expected<std::string> runProgram(llvm::ArrayRef<std::string> command,
                                       const std::string &log,
                                       unsigned seconds = 120);

} // namespace glowish

#endif // GLOWISH_TESTS_COMMON_FOREIGN_RUNPROGRAM_H
