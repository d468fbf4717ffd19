//===- SharedLibrary.cpp - Load shared libraries --------------------------===//

#include "glowish/Plugin/SharedLibrary.h"
#include "glowish/Support/Error.h"
#include "llvm/Support/FileSystem.h"

using namespace glowish;
using llvm::sys::DynamicLibrary;

llvm::Expected<DynamicLibrary>
glowish::loadSharedLibrary(llvm::StringRef path) {
  // The system looks for a name without a folder in its own folders alone.
  llvm::SmallString<128> file(path);
  if (llvm::sys::fs::exists(path))
    llvm::sys::fs::make_absolute(file);
  std::string message;
  DynamicLibrary library =
      DynamicLibrary::getPermanentLibrary(file.c_str(), &message);
  if (!library.isValid())
    return makeError("'{0}' cannot be loaded: {1}", path, message);
  return library;
}
