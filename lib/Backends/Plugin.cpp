//===- Plugin.cpp - Back ends from shared libraries -----------------------===//

#include "glowish/Backends/Plugin.h"
#include "glowish/Support/Error.h"
#include "llvm/Support/DynamicLibrary.h"

using namespace glowish;
using llvm::sys::DynamicLibrary;

llvm::Error glowish::loadPlugin(llvm::StringRef path) {
  std::string message;
  DynamicLibrary library =
      DynamicLibrary::getPermanentLibrary(path.str().c_str(), &message);
  if (!library.isValid())
    return makeError("'{0}' cannot be loaded: {1}", path, message);
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
