//===- ProgramCacheFlags.h - The options of the cache -----------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_MODEL_RUNNER_PROGRAMCACHEFLAGS_H
#define GLOWISH_TOOLS_MODEL_RUNNER_PROGRAMCACHEFLAGS_H

#include "glowish/Backends/Backend.h"
#include "glowish/Driver/ProgramCache.h"

namespace glowish {

/// The cache that -cache names; null where it is not given. An error says that
/// \p backend has no programs to keep, or names \p other, an option for which
/// the model is compiled in any case; empty: there is none.
llvm::Expected<std::unique_ptr<ProgramCache>>
openProgramCache(Backend &backend, llvm::StringRef other);

} // namespace glowish

#endif // GLOWISH_TOOLS_MODEL_RUNNER_PROGRAMCACHEFLAGS_H
