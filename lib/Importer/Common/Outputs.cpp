//===- Outputs.cpp - Outputs of modules that are imported -----------------===//

#include "Common/Outputs.h"
#include "glowish/Graph/NodeBuilder.h"
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

/// Saves \p value as the output \p name, of the bounds of its type.
static Placeholder *saveOutput(Function &function, const std::string &name,
                               NodeValue value) {
  Placeholder *placeholder = function.getModule().createPlaceholder(
      name, value.getType().withoutExtents(), /*isInput=*/false,
      /*isOutput=*/true);
  function.create<SaveNode>("save_" + name, value, NodeValue(placeholder));
  return placeholder;
}

/// Returns all extents of \p value, int64<rank>.
static NodeValue listExtents(Function &function, const std::string &name,
                             NodeValue value) {
  NodeBuilder b(function, name);
  std::vector<NodeValue> extents;
  for (unsigned d = 0; d < value.getType().getRank(); ++d)
    extents.push_back(b.reshape(b.getLength(value, d), {1}));
  return llvm::cantFail(b.finish(b.concat(extents, 0)));
}

void glowish::createOutput(Function &function, const std::string &name,
                           NodeValue value) {
  Placeholder *extents = nullptr;
  if (value.getType().hasExtents()) {
    std::string own =
        getUniqueModelName(function.getModule(), name + ".extents", ".extents");
    extents = saveOutput(function, own, listExtents(function, own, value));
  }
  saveOutput(function, name, value)->setExtents(extents);
}
