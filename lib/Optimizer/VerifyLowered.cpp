//===- VerifyLowered.cpp - The contract between graph and IRGen -----------===//

#include "glowish/Graph/Nodes.h"
#include "glowish/Optimizer/Passes.h"

using namespace glowish;

/// Refuses an operand that \p node would read beyond its extent.
static llvm::Error verifyOperands(const Node &node) {
  for (const OperandFiller &found : findFillers(node))
    if (!found.filler.isBounded)
      return makeError("node '{0}' ({1}): operand '{2}' is {3}; accepted: "
                       "operands that the pass lower-extents fills",
                       node.getName(), node.getKindName(),
                       node.getOperandName(found.operand),
                       node.getOperand(found.operand).getType().str());
  return llvm::Error::success();
}

llvm::Error glowish::verifyLowered(const Function &function,
                                   const GraphPassContext &context) {
  for (const Node &node : function.getNodes()) {
    for (const Function *body : getBodies(node))
      GLOWISH_RETURN_IF_ERROR(verifyLowered(*body, context));
    GLOWISH_RETURN_IF_ERROR(verifyOperands(node));
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
