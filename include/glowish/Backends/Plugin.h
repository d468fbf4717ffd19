//===- Plugin.h - Back ends from shared libraries ---------------*- C++ -*-===//

#ifndef GLOWISH_BACKENDS_PLUGIN_H
#define GLOWISH_BACKENDS_PLUGIN_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

/// The interface that a plug-in is compiled for. It changes whenever a class
/// that plug-ins derive from does.
#define GLOWISH_PLUGIN_VERSION 2

/// Declares a plug-in, in one file of a shared library: `GLOWISH_PLUGIN {
/// static BackendRegistration mine({...}); }`. The library is linked with
/// libglowish of the same release.
#define GLOWISH_PLUGIN                                                         \
  extern "C" const unsigned glowish_plugin_version = GLOWISH_PLUGIN_VERSION;   \
  extern "C" void glowish_register_plugin()

namespace glowish {

/// Loads the plug-in \p path for the rest of the process, which registers what
/// it brings. An error names the library, and what of it is accepted.
llvm::Error loadPlugin(llvm::StringRef path);

} // namespace glowish

#endif // GLOWISH_BACKENDS_PLUGIN_H
