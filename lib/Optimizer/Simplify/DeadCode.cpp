//===- DeadCode.cpp - Removal of unused nodes and constants ---------------===//

#include "Util/Rewriter.h"

using namespace glowish;

/// Erases nodes without uses that count extents which no type has any more.
static bool eraseUnusedCounts(Function &function) {
  std::vector<DeclareExtentsNode *> unused;
  for (Node &node : function.getNodes())
    if (auto *declared = llvm::dyn_cast<DeclareExtentsNode>(&node))
      if (!declared->hasUses() && !declared->getCounts().empty())
        unused.push_back(declared);
  if (unused.empty())
    return false;
  std::set<std::string> symbols;
  for (Node &node : function.getNodes())
    for (unsigned i = 0; node.hasUses() && i < node.getNumResults(); ++i)
      for (const std::optional<Extent> &extent :
           node.getResult(i).getType().getExtents())
        for (const std::string &symbol :
             extent ? extent->getSymbols() : std::vector<std::string>())
          symbols.insert(symbol);
  llvm::erase_if(unused, [&](DeclareExtentsNode *node) {
    return llvm::any_of(node->getDims(), [&](int64_t dim) {
      return symbols.count(
          node->getType().getExtent(unsigned(dim))->getSymbol().str());
    });
  });
  for (DeclareExtentsNode *node : unused)
    function.erase(node);
  return !unused.empty();
}

llvm::Expected<bool>
glowish::eliminateDeadCode(Function &function,
                           const GraphPassContext &context) {
  bool changed = applyRewrites(function, RewriteSet(), context);
  while (eraseUnusedCounts(function))
    changed |= applyRewrites(function, RewriteSet(), context);
  std::vector<Constant *> unused;
  for (Node &node : function.getModule().getConstants())
    if (!node.hasUses())
      unused.push_back(llvm::cast<Constant>(&node));
  for (Constant *constant : unused)
    function.getModule().eraseConstant(constant);
  return changed || !unused.empty();
}
