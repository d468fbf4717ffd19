//===- OptionalLibrary.h - Libraries that need what few have ----*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_OPTIONALLIBRARY_H
#define GLOWISH_SUPPORT_OPTIONALLIBRARY_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace glowish {

/// Where a part of glowish is that has a library of its own, since it needs one
/// that few systems have: what the environment variable \p variable states, or
/// \p fileName in the folder glowish beside this library. The file need not
/// exist.
std::string getOptionalLibraryPath(llvm::StringRef fileName,
                                   llvm::StringRef variable);

} // namespace glowish

#endif // GLOWISH_SUPPORT_OPTIONALLIBRARY_H
