//===- TransportLibrary.cpp - The library with MPI ------------------------===//

#include "TransportLibrary.h"
#include "glowish/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <dlfcn.h>

using namespace glowish;

static constexpr llvm::StringLiteral fileName("libglowish-mpi.so"),
    variable("GLOWISH_MPI");

static std::string getPath() {
  if (auto stated = llvm::sys::Process::GetEnv(variable);
      stated && !stated->empty())
    return *stated;
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void *>(&loadTransport), &info) ||
      !info.dli_fname)
    return fileName.str();
  llvm::SmallString<128> path(info.dli_fname);
  llvm::sys::fs::make_absolute(path);
  llvm::sys::path::remove_filename(path);
  llvm::sys::path::append(path, "glowish", fileName);
  return path.str().str();
}

llvm::Expected<const Transport *> glowish::loadTransport() {
  std::string path = getPath();
  if (!llvm::sys::fs::exists(path))
    return makeError("processes that mpirun starts work together by {0}, which "
                     "'{1}' is not: build glowish where libopenmpi-dev is "
                     "installed, or name the file in ${2}",
                     fileName, path, variable);
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return makeError("MPI (Debian: libopenmpi3) cannot be loaded: {0}",
                     dlerror());
  auto *version = reinterpret_cast<TransportVersionFunction *>(
      dlsym(library, transportVersionSymbol));
  auto *get =
      reinterpret_cast<TransportFunction *>(dlsym(library, transportSymbol));
  if (!version || !get)
    return makeError("'{0}' is not {1} of glowish", path, fileName);
  if (llvm::StringRef(version()) != transportVersion)
    return makeError("'{0}' is of another release of glowish", path);
  return get();
}
