//===- Escape.h - Texts of files in messages --------------------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_ESCAPE_H
#define GLOWISH_SUPPORT_ESCAPE_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace glowish {

/// \p text, of a file, in quotes as part of a message: not too long, and
/// nothing that a terminal would obey.
std::string quoteEscaped(llvm::StringRef text);

} // namespace glowish

#endif // GLOWISH_SUPPORT_ESCAPE_H
