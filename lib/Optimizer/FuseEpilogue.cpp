//===- FuseEpilogue.cpp - What follows an anchor runs on its results ------===//

#include "Rewriter.h"

using namespace glowish;

/// The anchors: kinds with an epilogue attribute and fused operands.
static bool isAnchor(const Node &node) {
  return llvm::isa<ConvolutionNode, MatMulNode, LayerNormalizationNode,
                   GroupNormalizationNode>(node);
}

/// The anchor among the operands of \p root of which the result has no other
/// user. Of two, the one that comes later: the other is there by then.
static Node *findAnchor(Node &root) {
  Node *found = nullptr;
  for (NodeValue value : root.getOperands()) {
    if (!isAnchor(*value.node) || value.getType() != root.getType() ||
        value.node->hasPredicate() ||
        llvm::any_of(value.node->uses(),
                     [&](const Use &use) { return use.getUser() != &root; }))
      continue;
    // Later in the list: walk on from the one found before.
    if (found && found != value.node) {
      auto it = found->getIterator();
      while (&*it != value.node && &*it != &root)
        ++it;
      if (&*it != value.node)
        continue;
    }
    found = value.node;
  }
  return found;
}

/// \p root becomes one more step of its anchor's program. The new anchor
/// stands where the root stood: all operands of both are there, and none of
/// them can depend on the old anchor, whose only user is the root.
static NodeValue fuse(Node &root, RewriteContext &context) {
  Node *anchor = findAnchor(root);
  if (!anchor || root.hasPredicate() || !isFloatKind(root.getType().getKind()))
    return {};
  ScalarOp op = *root.getInfo().scalarOp;
  const auto &canFuse = context.getPass().canFuse;
  if (canFuse && !canFuse(*anchor, op))
    return {};

  const OpInfo &info = anchor->getInfo();
  unsigned epilogueAttr = info.findAttr("epilogue");
  unsigned numFused = anchor->getNumOperands() + 1 - info.operands.size();
  NodeDraft draft = anchor->getDraft();
  auto program = anchor->getAttr<ScalarProgram>(epilogueAttr);
  // Values: the element, the fused operands, the steps.
  unsigned current = program.empty() ? 0 : numFused + program.steps.size();
  ScalarStep step;
  step.op = op;
  step.kind = root.getType().getKind();
  for (const AttrValue &attr : root.getAttrs())
    if (const double *param = std::get_if<double>(&attr))
      step.params.push_back(*param);
  unsigned added = 0;
  for (NodeValue value : root.getOperands())
    added += value.node != anchor;
  // New inputs come before the steps, whose values move up.
  for (ScalarStep &old : program.steps)
    for (unsigned &arg : old.args)
      if (arg > numFused)
        arg += added;
  if (current > numFused)
    current += added;
  unsigned next = numFused + 1;
  for (NodeValue value : root.getOperands()) {
    if (value.node == anchor) {
      step.args.push_back(current);
      continue;
    }
    draft.operands.push_back(value);
    step.args.push_back(next++);
  }
  program.steps.push_back(std::move(step));
  draft.attrs[epilogueAttr] = std::move(program);
  llvm::Expected<Node *> fused =
      context.getFunction().tryCreate(anchor->getName(), std::move(draft));
  if (!fused) {
    // The type rule knows best what an epilogue can be.
    llvm::consumeError(fused.takeError());
    return {};
  }
  return (*fused)->getResult();
}

llvm::Expected<bool> glowish::fuseEpilogues(Function &function,
                                            const GraphPassContext &context) {
  static const RewriteSet set = [] {
    RewriteSet rewrites;
    rewrites.addElementWise(fuse);
    return rewrites;
  }();
  return applyRewrites(function, set, context);
}
