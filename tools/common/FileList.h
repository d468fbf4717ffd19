//===- FileList.h - The files in a folder -----------------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_FILELIST_H
#define GLOWISH_TOOLS_COMMON_FILELIST_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace glowish {

std::string joinPaths(llvm::StringRef folder, llvm::StringRef name);

/// The names in \p folder whose paths \p isWanted, sorted. The error names the
/// folder.
llvm::Expected<std::vector<std::string>>
listFolder(llvm::StringRef folder,
           llvm::function_ref<bool(llvm::StringRef path)> isWanted);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_FILELIST_H
