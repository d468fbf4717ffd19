//===- ProfileDump.h - -dump-profile ----------------------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_PROFILEDUMP_H
#define GLOWISH_TOOLS_COMMON_PROFILEDUMP_H

#include "glowish/Driver/RangeProfiler.h"
#include "glowish/Importer/ImportOptions.h"

namespace glowish {

/// Imports the model again and compiles it as -dump-profile needs it; null
/// without that flag, and where it is for the profile of a quantization within
/// a limit. \p backend outlives the result.
llvm::Expected<std::unique_ptr<RangeProfiler>>
createRangeProfiler(Backend &backend, const CompilationOptions &options,
                    llvm::StringRef modelPath, ImportOptions importOptions);

/// Whether -dump-profile is given.
bool dumpsProfile();

/// Writes the profile to the file of -dump-profile. \p profiler may be null.
llvm::Error writeProfile(const RangeProfiler *profiler);
/// Writes \p profile there, if -dump-profile is given.
llvm::Error writeProfile(const RangeProfile &profile);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_PROFILEDUMP_H
