//===- BackendRegistry.cpp - Back ends by name ----------------------------===//

#include "glowish/Backends/BackendRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <mutex>

using namespace glowish;

namespace {

/// Plug-ins register back ends while other threads look for some. None goes, so
/// that what was found stays.
struct Registry {
  std::mutex mutex;
  std::map<std::string, BackendInfo> backends;
};

} // namespace

/// Created on first use, as the order of static initialization across files is
/// unspecified.
static Registry &getRegistry() {
  static Registry registry;
  return registry;
}

BackendRegistration::BackendRegistration(const BackendInfo &info) {
  Registry &registry = getRegistry();
  std::lock_guard lock(registry.mutex);
  registry.backends.try_emplace(info.name.str(), info);
}

static const BackendInfo *find(llvm::StringRef name) {
  Registry &registry = getRegistry();
  std::lock_guard lock(registry.mutex);
  auto found = registry.backends.find(name.str());
  return found == registry.backends.end() ? nullptr : &found->second;
}

llvm::Expected<const BackendInfo *> glowish::findBackend(llvm::StringRef name) {
  if (const BackendInfo *found = find(name))
    return found;
  std::vector<std::string> names;
  for (const BackendInfo &info : listBackends())
    names.push_back(info.name.str());
  return makeError("the back ends are {0}", llvm::join(names, " and "));
}

std::vector<BackendInfo> glowish::listBackends() {
  Registry &registry = getRegistry();
  std::lock_guard lock(registry.mutex);
  std::vector<BackendInfo> list;
  for (const auto &[name, info] : registry.backends)
    list.push_back(info);
  return list;
}
