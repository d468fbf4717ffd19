//===- Escape.h - Texts of files in messages --------------------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_ESCAPE_H
#define GLOWISH_SUPPORT_ESCAPE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace glowish {

/// \p text with control characters, which a terminal would obey, and bytes that
/// are no UTF-8 as "\x1B". Ends of lines stay.
std::string escapeControls(llvm::StringRef text);

/// \p text, of a file, in quotes as part of a message: on one line, at most 200
/// bytes of it, without control characters.
std::string quote(llvm::StringRef text);

/// Joins \p words, of which there may be none: "A, B or C" where \p last is
/// "or".
std::string joinWords(llvm::ArrayRef<std::string> words, llvm::StringRef last);

} // namespace glowish

#endif // GLOWISH_SUPPORT_ESCAPE_H
