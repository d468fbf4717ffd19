//===- FatalErrors.h - What LLVM ends the process over ----------*- C++ -*-===//

#ifndef GLOWISH_BACKENDS_CPU_FATALERRORS_H
#define GLOWISH_BACKENDS_CPU_FATALERRORS_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace glowish {

/// Returns one line about \p reason, with which LLVM's handler of fatal errors
/// has been called: it names the target and the function that this thread makes
/// code of. The handler is the process's, so programs install one
/// (llvm::install_fatal_error_handler), and the library does not.
std::string describeFatalError(llvm::StringRef reason);

} // namespace glowish

#endif // GLOWISH_BACKENDS_CPU_FATALERRORS_H
