//===- ImportFlags.h - Flags that describe the model ------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_IMPORTFLAGS_H
#define GLOWISH_TOOLS_COMMON_IMPORTFLAGS_H

#include "glowish/Importer/ImportOptions.h"
#include "llvm/Support/CommandLine.h"

namespace glowish {

struct ModelFormat;

extern llvm::cl::OptionCategory modelCategory;

/// Returns ModelSettings::getImportOptions of the command line, for a symbol
/// with one value or a range. Warnings of the importer go to stderr.
llvm::Expected<ImportOptions> getImportFlags(llvm::StringRef path,
                                             const ModelFormat *format);
/// Prints a warning of the importer to stderr.
void printWarning(llvm::StringRef line);
/// Returns the name that -function states; empty where it is not given.
llvm::StringRef getFunctionName();

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_IMPORTFLAGS_H
