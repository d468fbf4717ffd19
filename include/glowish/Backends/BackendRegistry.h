//===- BackendRegistry.h - Back ends by name --------------------*- C++ -*-===//

#ifndef GLOWISH_BACKENDS_BACKENDREGISTRY_H
#define GLOWISH_BACKENDS_BACKENDREGISTRY_H

#include "glowish/Backends/Backend.h"

namespace glowish {

struct TargetOptions;

/// A back end that tools make by its name.
struct BackendInfo {
  using Create =
      llvm::Expected<std::unique_ptr<Backend>> (*)(const TargetOptions &target);
  /// -backend=NAME.
  llvm::StringLiteral name;
  /// One line of what it does.
  llvm::StringLiteral description;
  Create create;
  /// Makes one that runs in this process what it compiles, or returns an error
  /// that says why it can't; null if any does.
  Create createLocal = nullptr;
};

/// Registers a back end, as a static object, or in a plug-in's
/// glowish_register_plugin(), while other threads may use the registry.
class BackendRegistration {
public:
  explicit BackendRegistration(const BackendInfo &info);
};

/// The back end \p name; an error that lists the names if there is none.
llvm::Expected<const BackendInfo *> findBackend(llvm::StringRef name);
/// All, sorted by name.
std::vector<BackendInfo> listBackends();

} // namespace glowish

#endif // GLOWISH_BACKENDS_BACKENDREGISTRY_H
