//===- CompilationSettings.cpp - What a model is compiled to --------------===//

#include "glowish/Compiler/CompilationSettings.h"
#include "MemoryRegions.h"
#include "glowish/Backends/BackendRegistry.h"
#include "glowish/Backends/Plugin.h"
#include "glowish/Support/SettingNames.h"

using namespace glowish;

llvm::Error CompilationSettings::apply(CompilationOptions &options) const {
  if (maxActivationBytes.isGiven())
    options.maxActivationBytes = maxActivationBytes;
  options.placesIOInArena = placesIOInArena;
  if (memoryRegions.isGiven()) {
    GLOWISH_ASSIGN_OR_RETURN(options.arenaRegions,
                             parseMemoryRegions(memoryRegions));
  }
  return llvm::Error::success();
}

llvm::Error CompilationSettings::loadPlugins() const {
  for (const std::string &path : plugins)
    GLOWISH_RETURN_IF_ERROR(addContext(loadPlugin(path), "«load»: "));
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Backend>>
CompilationSettings::createBackend(llvm::StringRef option, llvm::StringRef name,
                                   const TargetOptions &target,
                                   bool isLocal) const {
  GLOWISH_ASSIGN_OR_RETURN(
      const BackendInfo *info,
      addContext(findBackend(name), nameSetting(option, name) + ": "));
  return isLocal && info->createLocal ? info->createLocal(target)
                                      : info->create(target);
}
