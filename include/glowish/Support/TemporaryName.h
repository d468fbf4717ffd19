//===- TemporaryName.h - Names of files that are written --------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_TEMPORARYNAME_H
#define GLOWISH_SUPPORT_TEMPORARYNAME_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

namespace glowish {

/// What a file of OutputFiles is called until it is whole, for any number
/// \p random.
inline std::string makeTemporaryName(uint64_t random) {
  return llvm::formatv(".glowish-{0:x-16}.tmp", random).str();
}

/// Whether \p name is such a name. A file with it is left behind by a process
/// that ends at once: by SIGKILL, or as the power goes.
inline bool isTemporaryName(llvm::StringRef name) {
  return name.starts_with(".glowish-") && name.ends_with(".tmp");
}

} // namespace glowish

#endif // GLOWISH_SUPPORT_TEMPORARYNAME_H
