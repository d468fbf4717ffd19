//===- CommonOptions.h - Options shared by the tools ------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_COMMONOPTIONS_H
#define GLOWISH_TOOLS_COMMON_COMMONOPTIONS_H

#include "common/ImportFlags.h"
#include "glowish/Compiler/ModelCompiler.h"
#include "llvm/Support/CommandLine.h"

namespace glowish {

extern llvm::cl::OptionCategory debugCategory;
extern llvm::cl::OptionCategory targetCategory;

/// -model; empty where it is not given, and the first where it is given twice.
llvm::StringRef getModelPath();
/// An error where -model is not given.
llvm::Error checkModelPath();
/// Loads what -load names: back ends, passes and formats. Doing it again does
/// nothing.
llvm::Error loadPlugins();
/// Returns what compiles the models of -model by all options that the tool has.
/// An error names an unknown phase or pass. \p timer measures the phases.
llvm::Expected<ModelCompiler> createModelCompiler(PhaseTimer &timer);
/// Whether \p options, or -dump-llvm-ir and -dump-llvm-asm, have something
/// printed or drawn.
bool asksForDumps(const CompilationOptions &options);
/// Prints \p timer's table to stderr if -time is given.
void reportTime(const PhaseTimer &timer);
/// -target, -mcpu, -mattr, ...
TargetOptions getTargetOptions();

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_COMMONOPTIONS_H
