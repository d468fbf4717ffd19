//===- ImportFlags.h - Flags that describe the model ------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_IMPORTFLAGS_H
#define GLOWISH_TOOLS_COMMON_IMPORTFLAGS_H

#include "glowish/Driver/ModelFunctions.h"
#include "glowish/Driver/ModelVariants.h"
#include "llvm/Support/CommandLine.h"

namespace glowish {

extern llvm::cl::OptionCategory modelCategory;

/// ModelSettings::getImportOptions of the command line. Warnings of the
/// importer go to stderr.
llvm::Expected<ImportOptions>
getImportFlags(llvm::StringRef path, bool isText,
               std::vector<SymbolValues> &several);
/// ModelSettings::getFunctions of the command line.
llvm::Expected<std::vector<FunctionSource>>
getFunctionFlags(llvm::ArrayRef<std::string> paths,
                 std::vector<SymbolValues> &several);
/// An error where \p several, of getImportFlags, has a symbol.
llvm::Error refuseSeveral(llvm::ArrayRef<SymbolValues> several);
/// -function: which function of a module is meant; empty where it is not given.
llvm::StringRef getFunctionName();

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_IMPORTFLAGS_H
