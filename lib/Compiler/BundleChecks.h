//===- BundleChecks.h - What can't be together in a bundle ------*- C++ -*-===//

#ifndef GLOWISH_LIB_COMPILER_BUNDLECHECKS_H
#define GLOWISH_LIB_COMPILER_BUNDLECHECKS_H

#include "glowish/Compiler/BundleCompilation.h"

namespace glowish {

/// Refuses what can't be together in \p request, by the names of the settings
/// that state it. Nothing is read or compiled.
llvm::Error checkBundleRequest(const BundleRequest &request);

} // namespace glowish

#endif // GLOWISH_LIB_COMPILER_BUNDLECHECKS_H
