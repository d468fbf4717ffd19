//===- TransportLibrary.cpp - The library with MPI ------------------------===//

#include "TransportLibrary.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/OptionalLibrary.h"
#include "llvm/Support/FileSystem.h"
#include <dlfcn.h>

using namespace glowish;

static constexpr llvm::StringLiteral fileName("libglowish-mpi.so"),
    variable("GLOWISH_MPI");

llvm::Expected<const Transport *> glowish::loadTransport() {
  std::string path = getOptionalLibraryPath(fileName, variable);
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
