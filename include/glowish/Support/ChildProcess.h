//===- ChildProcess.h - Code that may crash ---------------------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_CHILDPROCESS_H
#define GLOWISH_SUPPORT_CHILDPROCESS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <string>

namespace glowish {

/// Calls \p function in a copy of this process and returns what it returned.
/// Where it crashes, ends the process, or takes more than \p maxSeconds, unless
/// that is 0, the error says so, with the last line that it wrote to stderr.
llvm::Expected<std::string>
runInChildProcess(unsigned maxSeconds,
                  llvm::function_ref<std::string()> function);

} // namespace glowish

#endif // GLOWISH_SUPPORT_CHILDPROCESS_H
