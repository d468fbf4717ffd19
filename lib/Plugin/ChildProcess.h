//===- ChildProcess.h - Code that may crash ---------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_PLUGIN_CHILDPROCESS_H
#define GLOWISH_LIB_PLUGIN_CHILDPROCESS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <string>

namespace glowish {

/// Calls \p function in a copy of this process and returns what it returned.
/// Where it crashes, ends the process, or takes more than 10 seconds, the error
/// says so, with the last line that it wrote to stderr.
llvm::Expected<std::string>
runInChildProcess(llvm::function_ref<std::string()> function);

} // namespace glowish

#endif // GLOWISH_LIB_PLUGIN_CHILDPROCESS_H
