//===- Outputs.cpp - Outputs of modules that are imported -----------------===//

#include "Common/Outputs.h"
#include "glowish/Graph/Nodes.h"

using namespace glowish;

std::string glowish::getUniqueModelName(const Module &module,
                                        llvm::StringRef name,
                                        llvm::StringRef suffix) {
  std::string unique = name.str();
  for (unsigned i = 0; module.findPlaceholder(unique); ++i)
    unique = (name + suffix + (i ? llvm::Twine(i) : llvm::Twine())).str();
  return unique;
}

void glowish::createOutput(Function &function, const std::string &name,
                           NodeValue value) {
  Placeholder *placeholder = function.getModule().createPlaceholder(
      name, value.getType(), /*isInput=*/false, /*isOutput=*/true);
  function.create<SaveNode>("save_" + name, value, NodeValue(placeholder));
}
