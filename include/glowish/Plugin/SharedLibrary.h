//===- SharedLibrary.h - Load shared libraries ------------------*- C++ -*-===//

#ifndef GLOWISH_PLUGIN_SHAREDLIBRARY_H
#define GLOWISH_PLUGIN_SHAREDLIBRARY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/Error.h"

namespace glowish {

/// Loads the shared library \p path for the rest of the process: a file, also
/// of the current folder, or a name that the system knows.
llvm::Expected<llvm::sys::DynamicLibrary>
loadSharedLibrary(llvm::StringRef path);

} // namespace glowish

#endif // GLOWISH_PLUGIN_SHAREDLIBRARY_H
