//===- ImportFlags.h - Flags that describe the model ------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_IMPORTFLAGS_H
#define GLOWISH_TOOLS_COMMON_IMPORTFLAGS_H

#include "glowish/Driver/ModelVariants.h"
#include "llvm/Support/CommandLine.h"

namespace glowish {

extern llvm::cl::OptionCategory modelCategory;

/// -onnx-define-symbol, -state, -model-input, -max-trip-count and -max-extent
/// for the model at \p path; an error shows the right form, or says that the
/// option has no effect on such a model (\p isText: it is a text form). Symbols
/// with several values go to \p several. Warnings of the importer go to stderr.
llvm::Expected<ImportOptions>
getImportFlags(llvm::StringRef path, bool isText,
               std::vector<SymbolValues> &several);
/// An error where \p several, of getImportFlags, has a symbol.
llvm::Error refuseSeveral(llvm::ArrayRef<SymbolValues> several);
/// -function: which function of a module is meant; empty where it is not given.
llvm::StringRef getFunctionName();
/// What -\p option has been given, `name,value` each; the error shows the form.
llvm::Error readNumbers(llvm::StringRef option,
                        llvm::ArrayRef<std::string> texts,
                        std::map<std::string, int64_t> &numbers);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_IMPORTFLAGS_H
