//===- ProfileDump.h - -dump-profile ----------------------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_PROFILEDUMP_H
#define GLOWISH_TOOLS_COMMON_PROFILEDUMP_H

#include "glowish/Driver/RangeProfiler.h"
#include "glowish/Importer/ImportOptions.h"

namespace glowish {

/// Imports the model again and compiles it as -dump-profile needs it; null
/// without that flag. \p backend outlives the result.
llvm::Expected<std::unique_ptr<RangeProfiler>>
createRangeProfiler(Backend &backend, const CompilationOptions &options,
                    llvm::StringRef modelPath, ImportOptions importOptions);

/// Whether -dump-profile is given.
bool dumpsProfile();

/// Writes the profile to the file of -dump-profile. \p profiler may be null.
llvm::Error writeProfile(const RangeProfiler *profiler);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_PROFILEDUMP_H
