//===- GlowFlags.h - The flags of Glow's model-compiler ---------*- C++ -*-===//
//
// Build scripts for Glow's model-compiler are run with ours: each flag works,
// or is refused by a line that says what to do instead. GlowFlags.def is the
// table.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_TOOLS_COMMON_GLOWFLAGS_H
#define GLOWISH_TOOLS_COMMON_GLOWFLAGS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace glowish {

/// Makes the flags that are refused, and that the tool has no option of its own
/// for, known to the command line, hidden from -help. Called before it is
/// parsed.
void registerGlowFlags();

/// The error of the first flag of the command line that is refused.
llvm::Error checkGlowFlags();

/// An error where only Glow reads the model at \p path, by its name.
llvm::Error checkGlowModel(llvm::StringRef path);

/// Whether all flags that work are options of this tool, and those that are
/// refused are none: so it is of model-compiler.
bool hasAllGlowFlags();

/// Prints docs/from-glow.md: all flags, and what else changes for users of
/// Glow.
void printGlowFlags(llvm::raw_ostream &os);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_GLOWFLAGS_H
