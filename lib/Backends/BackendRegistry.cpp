//===- BackendRegistry.cpp - Back ends by name ----------------------------===//

#include "glowish/Backends/BackendRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace glowish;

/// Created on first use, as the order of static initialization across files is
/// unspecified.
static std::map<std::string, BackendInfo> &getBackends() {
  static std::map<std::string, BackendInfo> backends;
  return backends;
}

BackendRegistration::BackendRegistration(const BackendInfo &info) {
  getBackends().try_emplace(info.name.str(), info);
}

llvm::Expected<const BackendInfo *> glowish::findBackend(llvm::StringRef name) {
  auto found = getBackends().find(name.str());
  if (found != getBackends().end())
    return &found->second;
  std::vector<std::string> names;
  for (const BackendInfo &info : listBackends())
    names.push_back(info.name.str());
  return makeError("the back ends are {0}", llvm::join(names, " and "));
}

std::vector<BackendInfo> glowish::listBackends() {
  std::vector<BackendInfo> list;
  for (const auto &[name, info] : getBackends())
    list.push_back(info);
  return list;
}
