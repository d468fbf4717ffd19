//===- Contract.cpp - What front ends deliver -----------------------------===//

#include "glowish/Graph/Contract.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Graph/Verifier.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/DenseSet.h"

using namespace glowish;

static llvm::Error refuse(const Placeholder &placeholder,
                          llvm::StringRef problem) {
  return makeError("placeholder '{0}' {1}", placeholder.getName(), problem);
}

/// Names by which an application refers to a placeholder are there, and each
/// belongs to one; it reads or writes each.
static llvm::Error verifyInterface(const Module &module) {
  llvm::StringSet<> names;
  bool hasOutput = false;
  for (const auto &placeholder : module.getPlaceholders()) {
    llvm::StringRef name = placeholder->getModelName();
    if (name.empty())
      return refuse(*placeholder, "has no name in the model");
    if (!names.insert(name).second)
      return refuse(*placeholder,
                    "has a name in the model that another one has");
    if (!placeholder->isInput() && !placeholder->isOutput())
      return refuse(*placeholder, "is neither an input nor an output");
    hasOutput |= placeholder->isOutput();
  }
  return hasOutput ? llvm::Error::success()
                   : makeError("no placeholder is an output");
}

/// Functions read inputs and write outputs alone; adds those that \p function
/// writes to \p saved. verify() makes sure that each is written once.
static llvm::Error verifyAccesses(const Function &function,
                                  llvm::DenseSet<const Node *> &saved) {
  for (const Node &node : function.getNodes())
    for (auto [i, value] : llvm::enumerate(node.getReads())) {
      auto *storage = value.getNodeAs<Placeholder>();
      if (!storage)
        continue;
      bool isSaved = node.getKind() == NodeKind::Save && i == 1;
      if (isSaved && !storage->isOutput())
        return refuse(*storage, "is saved to, and is no output");
      if (!isSaved && !storage->isInput())
        return refuse(*storage, "is read, and is no input");
      if (isSaved)
        saved.insert(storage);
    }
  return llvm::Error::success();
}

/// Some function writes each output.
static llvm::Error verifyStorage(const Module &module) {
  llvm::DenseSet<const Node *> saved;
  for (const auto &function : module.getFunctions())
    GLOWISH_RETURN_IF_ERROR(verifyAccesses(*function, saved));
  for (const auto &placeholder : module.getPlaceholders())
    if (placeholder->isOutput() && !placeholder->isInput() &&
        !saved.count(placeholder.get()))
      return refuse(*placeholder, "is an output that nothing is saved to");
  return llvm::Error::success();
}

/// A program has an end: each loop has a bound.
static llvm::Error verifyLoops(const Function &function) {
  for (const Node &node : function.getNodes()) {
    auto *loop = llvm::dyn_cast<LoopNode>(&node);
    if (loop && loop->getMaxTripCount() < 0)
      return makeError("node '{0}' (Loop) has no bound", node.getName());
    for (const Function *body : getBodies(node))
      GLOWISH_RETURN_IF_ERROR(verifyLoops(*body));
  }
  return llvm::Error::success();
}

llvm::Error glowish::verifyContract(const Module &module) {
  GLOWISH_RETURN_IF_ERROR(verify(module));
  GLOWISH_RETURN_IF_ERROR(verifyInterface(module));
  for (const Node &constant : module.getConstants())
    if (!constant.hasUses())
      return makeError("constant '{0}' is not used", constant.getName());
  GLOWISH_RETURN_IF_ERROR(verifyStorage(module));
  for (const auto &function : module.getFunctions())
    GLOWISH_RETURN_IF_ERROR(verifyLoops(*function));
  return llvm::Error::success();
}
