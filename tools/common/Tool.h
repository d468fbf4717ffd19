//===- Tool.h - Common main function of the tools ---------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_TOOL_H
#define GLOWISH_TOOLS_COMMON_TOOL_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

namespace glowish {

class ProcessGroup;

/// Exit codes of all tools: 0, 1 for an error, 2 for results that differ from
/// the expected ones.
enum ExitCode { success = 0, failure = 1, mismatch = 2 };

/// Prints \p error as reportError does, with settings spelled as options.
int reportToolError(llvm::Error error);

/// Has every tool call \p print before anything else; where it returns true, it
/// has printed what an option asked for, and the tool ends. For static objects.
struct ListPrinter {
  explicit ListPrinter(llvm::Expected<bool> (*print)());
};

/// Parses the command line, showing in --help only the options of
/// \p categories, starts logging, and calls \p body; an error it returns is
/// printed and becomes exit code 1.
int runTool(int argc, char **argv, llvm::StringRef overview,
            llvm::ArrayRef<llvm::cl::OptionCategory *> categories,
            llvm::function_ref<llvm::Expected<int>()> body);

/// The same for a tool that several processes may run together: \p body gets
/// what runInGroup() passes.
int runGroupTool(int argc, char **argv, llvm::StringRef overview,
                 llvm::ArrayRef<llvm::cl::OptionCategory *> categories,
                 llvm::function_ref<llvm::Expected<int>(ProcessGroup *)> body);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_TOOL_H
