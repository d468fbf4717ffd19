//===- VerifyLowered.cpp - The contract between graph and IRGen -----------===//

#include "glowish/Optimizer/Passes.h"

using namespace glowish;

/// Data movement and storage, which IRGen turns into copies between views.
static bool isMovement(const Node &node) {
  if (auto *pad = llvm::dyn_cast<PadNode>(&node))
    return pad->getMode() == "constant";
  return llvm::isa<SaveNode, SplatNode, ReshapeNode, TransposeNode,
                   BroadcastNode, SliceNode, ConcatNode>(node);
}

llvm::Error glowish::verifyLowered(const Function &function,
                                   const GraphPassContext &context) {
  for (const Node &node : function.getNodes()) {
    for (const Function *body : getBodies(node))
      GLOWISH_CHECK(verifyLowered(*body, context));
    if (isMovement(node))
      continue;
    if (context.isSupported && !context.isSupported(node))
      return makeError("node '{0}' ({1}): the back end has no instruction for "
                       "it with result {2}",
                       node.getName(), node.getKindName(),
                       node.getNumResults() ? node.getType().str() : "");
  }
  return llvm::Error::success();
}
