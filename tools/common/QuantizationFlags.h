//===- QuantizationFlags.h - Flags about what replaces floats ---*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_QUANTIZATIONFLAGS_H
#define GLOWISH_TOOLS_COMMON_QUANTIZATIONFLAGS_H

#include "glowish/Driver/Compilation.h"
#include "llvm/Support/CommandLine.h"

namespace glowish {

extern llvm::cl::OptionCategory quantizationCategory;

/// QuantizationSettings::apply of the command line.
llvm::Error readQuantizationFlags(CompilationOptions &options);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_QUANTIZATIONFLAGS_H
