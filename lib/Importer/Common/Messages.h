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

/// An error if \p options name an input that \p isKnown doesn't know; \p inputs
/// are listed as those that the model has.
llvm::Error checkStatedInputs(const ImportOptions &options,
                              llvm::function_ref<bool(llvm::StringRef)> isKnown,
                              llvm::ArrayRef<std::string> inputs);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_MESSAGES_H
