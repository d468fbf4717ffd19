//===- OptionalLibrary.cpp - Libraries that need what few have ------------===//

#include "glowish/Support/OptionalLibrary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <dlfcn.h>

using namespace glowish;

std::string glowish::getOptionalLibraryPath(llvm::StringRef fileName,
                                            llvm::StringRef variable) {
  if (auto stated = llvm::sys::Process::GetEnv(variable);
      stated && !stated->empty())
    return *stated;
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void *>(&getOptionalLibraryPath), &info) ||
      !info.dli_fname)
    return fileName.str();
  llvm::SmallString<128> path(info.dli_fname);
  llvm::sys::fs::make_absolute(path);
  llvm::sys::path::remove_filename(path);
  llvm::sys::path::append(path, "glowish", fileName);
  return path.str().str();
}
