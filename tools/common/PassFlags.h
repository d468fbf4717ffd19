//===- PassFlags.h - Flags about single passes ------------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_PASSFLAGS_H
#define GLOWISH_TOOLS_COMMON_PASSFLAGS_H

#include "glowish/Driver/Compilation.h"

namespace glowish {

/// Reads the flags of Glow's pass manager, its schedules and its memory into
/// \p options. They are hidden from -help, as -print-after... are for the same
/// things. An error names a pass that does not exist.
llvm::Error readPassFlags(CompilationOptions &options);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_PASSFLAGS_H
