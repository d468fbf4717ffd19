//===- VerifyLowered.cpp - The contract between graph and IRGen -----------===//

#include "glowish/Optimizer/Passes.h"

using namespace glowish;

llvm::Error glowish::verifyLowered(const Function &function,
                                   const GraphPassContext &context) {
  for (const Node &node : function.getNodes()) {
    for (const Function *body : getBodies(node))
      GLOWISH_RETURN_IF_ERROR(verifyLowered(*body, context));
    for (const Type &type : node.getTypes())
      if (type.hasExtents())
        return makeError("node '{0}' ({1}): the result is {2}; accepted: types "
                         "without extents, which the pass lower-extents makes",
                         node.getName(), node.getKindName(), type.str());
    if (isIRGenerated(node) && !node.getInfo().isInstrFor)
      continue;
    if (context.isSupported && !context.isSupported(node))
      return makeError("node '{0}' ({1}): the back end has no instruction for "
                       "it with result {2}",
                       node.getName(), node.getKindName(),
                       node.getNumResults() ? node.getType().str() : "");
  }
  return llvm::Error::success();
}
