//===- Messages.h - What importers say alike --------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_MESSAGES_H
#define GLOWISH_LIB_IMPORTER_COMMON_MESSAGES_H

#include "glowish/Importer/ImportOptions.h"
#include "glowish/Support/Escape.h"

namespace glowish {

/// Sanitizes \p message, which quotes names from files: control characters are
/// escaped, and so are ends of lines unless a line follows that lists a node
/// ("node ..."); long lines are truncated.
std::string cleanMessage(llvm::StringRef message);

/// "node 'conv1' (Conv)": an operator by its name and type.
std::string describeNode(llvm::StringRef name, llvm::StringRef type);

/// The error that \p nodes, each a line, have operators that are not supported;
/// success if there are none.
llvm::Error refuseOperators(llvm::ArrayRef<std::string> nodes);

/// Returns an error if \p options name an input that is neither in \p inputs,
/// which it lists as those that the model has, nor in \p others.
llvm::Error checkStatedInputs(const ImportOptions &options,
                              llvm::ArrayRef<std::string> inputs,
                              llvm::ArrayRef<std::string> others = {});

/// Returns an error if \p options give a value or a range to a symbol that no
/// dimension of an input has: neither as the file states it, with the symbols
/// \p named, nor as the options do.
llvm::Error checkStatedSymbols(const ImportOptions &options,
                               std::set<std::string> named = {});

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_MESSAGES_H
