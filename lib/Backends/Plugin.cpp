//===- Plugin.cpp - Back ends from shared libraries -----------------------===//

#include "glowish/Backends/Plugin.h"
#include "glowish/Plugin/SharedLibrary.h"
#include "glowish/Support/Error.h"

using namespace glowish;

llvm::Error glowish::loadPlugin(llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(llvm::sys::DynamicLibrary library,
                           loadSharedLibrary(path));
  auto *version = static_cast<const unsigned *>(
      library.getAddressOfSymbol("glowish_plugin_version"));
  void *entry = library.getAddressOfSymbol("glowish_register_plugin");
  if (!version || !entry)
    return makeError(
        "'{0}' is no plug-in: it has no {1}; accepted: a library "
        "with GLOWISH_PLUGIN (glowish/Backends/Plugin.h)",
        path, version ? "glowish_register_plugin" : "glowish_plugin_version");
  if (*version != GLOWISH_PLUGIN_VERSION)
    return makeError("'{0}' was compiled for version {1} of the interface of "
                     "plug-ins; accepted: {2}",
                     path, *version, GLOWISH_PLUGIN_VERSION);
  reinterpret_cast<void (*)()>(entry)();
  return llvm::Error::success();
}
