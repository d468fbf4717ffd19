//===- Outputs.cpp - Outputs of modules that are imported -----------------===//

#include "Common/Outputs.h"
#include "Common/Axes.h"
#include "Common/OpenReshape.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Support/Error.h"

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

llvm::Error glowish::createOutput(NodeBuilder &b, const std::string &name,
                                  NodeValue value,
                                  const std::string &extentsName) {
  std::vector<int64_t> dims = getAllDims(value ? value.getType().getRank() : 0);
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue extents,
      b.finish(listExtents(b, ElemKind::Int64, value, dims)));
  Function &function = b.getFunction();
  Placeholder *listed = saveOutput(function, extentsName, extents);
  saveOutput(function, name, value)->setExtents(listed);
  return llvm::Error::success();
}

void glowish::createOutput(Function &function, const std::string &name,
                           NodeValue value) {
  if (!value.getType().hasExtents()) {
    saveOutput(function, name, value);
    return;
  }
  std::string own =
      getUniqueModelName(function.getModule(), name + ".extents", ".extents");
  NodeBuilder b(function, own);
  llvm::cantFail(createOutput(b, name, value, own));
}
