//===- CommonSubexpressions.cpp - Merges equal nodes ----------------------===//

#include "glowish/Optimizer/Passes.h"
#include "llvm/ADT/DenseMap.h"
#include <unordered_map>

using namespace glowish;

/// Constants with the same bytes, and at most \p maxElements elements, become
/// one.
static bool mergeConstants(Module &module, int64_t maxElements) {
  std::unordered_multimap<size_t, Constant *> seen;
  std::vector<std::pair<Constant *, Constant *>> duplicates;
  for (Node &node : module.getConstants()) {
    auto *constant = llvm::cast<Constant>(&node);
    if (constant->getTensor().getNumElements() > maxElements)
      continue;
    size_t hash = llvm::hash_combine(hash_value(constant->getType()),
                                     constant->getTensor().getFingerprint());
    auto [first, last] = seen.equal_range(hash);
    auto same = std::find_if(first, last, [&](const auto &entry) {
      return entry.second->getTensor().isBitwiseEqual(constant->getTensor());
    });
    if (same == last)
      seen.emplace(hash, constant);
    else
      duplicates.push_back({constant, same->second});
  }
  for (auto [duplicate, kept] : duplicates) {
    duplicate->getResult().replaceAllUsesWith(kept->getResult());
    module.eraseConstant(duplicate);
  }
  return !duplicates.empty();
}

llvm::Expected<bool>
glowish::eliminateCommonSubexpressions(Function &function,
                                       const GraphPassContext &context) {
  bool changed =
      mergeConstants(function.getModule(), context.maxMergedElements);
  std::unordered_multimap<size_t, Node *> seen;
  // Operands come first, so what is equal after replacement is found at once.
  for (auto it = function.getNodes().begin();
       it != function.getNodes().end();) {
    Node &node = *it++;
    if (node.hasSideEffects())
      continue;
    size_t hash = node.getHash();
    auto [first, last] = seen.equal_range(hash);
    auto same = std::find_if(first, last, [&](const auto &entry) {
      return entry.second->isEquivalent(node);
    });
    if (same == last) {
      seen.emplace(hash, &node);
      continue;
    }
    for (unsigned i = 0; i < node.getNumResults(); ++i)
      node.getResult(i).replaceAllUsesWith(same->second->getResult(i));
    function.erase(&node);
    changed = true;
  }
  return changed;
}
