//===- DeadCode.cpp - Removal of unused nodes and constants ---------------===//

#include "Util/Rewriter.h"

using namespace glowish;

llvm::Expected<bool>
glowish::eliminateDeadCode(Function &function,
                           const GraphPassContext &context) {
  bool changed = applyRewrites(function, RewriteSet(), context);
  std::vector<Constant *> unused;
  for (Node &node : function.getModule().getConstants())
    if (!node.hasUses())
      unused.push_back(llvm::cast<Constant>(&node));
  for (Constant *constant : unused)
    function.getModule().eraseConstant(constant);
  return changed || !unused.empty();
}
