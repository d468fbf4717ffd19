//===- Constants.cpp - Constant folding -----------------------------------===//

#include "Util/ConstantTensors.h"
#include "glowish/Optimizer/Passes.h"

using namespace glowish;

/// A small constant that would become a large one stays as it is.
static constexpr int64_t maxGrowth = 1 << 16;

static bool isWorthFolding(const Node &node) {
  if (!hasConstantOperands(node) || node.getNumOperands() == 0)
    return false;
  int64_t before = 0, after = 0;
  for (NodeValue value : node.getOperands())
    before += value ? value.getType().getSizeInBytes() : 0;
  for (const Type &type : node.getTypes()) {
    // A constant has all its elements.
    if (type.hasExtents())
      return false;
    after += type.getSizeInBytes();
  }
  return after <= before + maxGrowth;
}

llvm::Expected<bool> glowish::foldConstants(Function &function,
                                            const GraphPassContext &context) {
  bool changed = false;
  for (auto it = function.getNodes().begin();
       it != function.getNodes().end();) {
    Node &node = *it++;
    if (!isWorthFolding(node) || !context.evaluate)
      continue;
    llvm::Expected<std::vector<Tensor>> results = context.evaluate(node);
    // A loop that has too many iterations fails where it is executed, if it is.
    if (!results && node.getInfo().hasBodies()) {
      llvm::consumeError(results.takeError());
      continue;
    }
    if (!results)
      return addContext(results.takeError(), "folding " + node.getKindName() +
                                                 " '" + node.getName() + "': ");
    for (unsigned i = 0; i < node.getNumResults(); ++i)
      node.getResult(i).replaceAllUsesWith(function.getModule().createConstant(
          node.getName(), std::move((*results)[i])));
    llvm::SmallVector<Constant *, 4> operands;
    for (NodeValue value : node.getOperands())
      if (value && !llvm::is_contained(operands, value.node))
        operands.push_back(llvm::cast<Constant>(value.node));
    function.erase(&node);
    // They may be large: not both until the end of the pass.
    for (Constant *constant : operands)
      if (!constant->hasUses())
        function.getModule().eraseConstant(constant);
    changed = true;
  }
  return changed;
}
