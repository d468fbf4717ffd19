//===- Registry.cpp - The operators that can be imported ------------------===//

#include "ONNX/OpContext.h"

using namespace glowish;

/// By name; made at the first registration, whatever file that is in.
static std::map<std::string, RegisteredOperator> &getRegistry() {
  static std::map<std::string, RegisteredOperator> registry;
  return registry;
}

OnnxOperator::OnnxOperator(llvm::StringRef name, int since,
                           OpImporter importer) {
  bool isNew =
      getRegistry().try_emplace(name.str(), RegisteredOperator{since, importer})
          .second;
  assert(isNew && "an operator is registered once");
  (void)isNew;
}

const RegisteredOperator *glowish::findOnnxOperator(llvm::StringRef name) {
  auto found = getRegistry().find(name.str());
  return found == getRegistry().end() ? nullptr : &found->second;
}

std::vector<std::pair<std::string, std::vector<int>>>
glowish::listOnnxOperators() {
  std::vector<std::pair<std::string, std::vector<int>>> list;
  for (const auto &[name, registered] : getRegistry())
    list.push_back({name, {registered.since}});
  return list;
}
