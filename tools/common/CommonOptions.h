//===- CommonOptions.h - Options shared by the tools ------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_COMMONOPTIONS_H
#define GLOWISH_TOOLS_COMMON_COMMONOPTIONS_H

#include "common/ImportFlags.h"
#include "glowish/Compiler/TargetSettings.h"
#include "llvm/Support/CommandLine.h"

namespace glowish {

extern llvm::cl::OptionCategory debugCategory;
extern llvm::cl::OptionCategory targetCategory;

/// -model; empty where it is not given, and the first where it is given twice.
llvm::StringRef getModelPath();
/// An error where -model is not given, or only Glow reads such a model.
llvm::Error checkModelPath();
/// -onnx-define-symbol and -model-input; an error shows the right form.
/// Symbols with several values go to \p several.
llvm::Expected<ImportOptions>
getImportOptions(std::vector<SymbolValues> &several);
/// The same where a symbol must have one value; several are an error.
llvm::Expected<ImportOptions> getImportOptions();
/// The functions of a bundle that has several (ModelSettings::getFunctions): of
/// one model, or one for each -model.
llvm::Expected<std::vector<FunctionSource>>
getFunctions(std::vector<SymbolValues> &several);
/// -dump-graph, -print-after... ; an error names an unknown phase or pass.
/// \p timer measures the phases.
llvm::Expected<CompilationOptions> getCompilationOptions(PhaseTimer &timer);
/// Whether \p options, or -dump-llvm-ir and -dump-llvm-asm, have something
/// printed or drawn.
bool asksForDumps(const CompilationOptions &options);
/// Whether -dump-llvm-ir or -dump-llvm-asm is given.
bool asksForCode();
/// Prints \p timer's table to stderr if -time is given.
void reportTime(const PhaseTimer &timer);
/// -target, -mcpu, -mattr, ...
TargetOptions getTargetOptions();
/// That of -backend; -load may bring others than "CPU" and "Interpreter".
llvm::Expected<std::unique_ptr<Backend>> createBackend();
/// The same for tools that run what they compile: the error says why this
/// machine can't run code for \p target. Not checked where \p stopAfter ends
/// the compilation before there is any.
llvm::Expected<std::unique_ptr<Backend>>
createLocalBackend(std::optional<Phase> stopAfter);
/// The back end \p name, which -\p option has been given, as such a tool has
/// it; \p target is used by "CPU".
llvm::Expected<std::unique_ptr<Backend>>
createLocalBackend(llvm::StringRef option, llvm::StringRef name,
                   const TargetOptions &target);
llvm::StringRef getBackendName();

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_COMMONOPTIONS_H
