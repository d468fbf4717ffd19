//===- Lower.cpp - From rich nodes to those of the back end ---------------===//

#include "Lowering.h"

using namespace glowish;

static const RewriteSet &getLowerings() {
  static const RewriteSet set = [] {
    RewriteSet lowerings;
    addAttentionLowerings(lowerings);
    addConvTransposeLowerings(lowerings);
    addDataMovementLowerings(lowerings);
    addElementWiseLowerings(lowerings);
    addMatMulLowerings(lowerings);
    addNormalizationLowerings(lowerings);
    return lowerings;
  }();
  return set;
}

/// The lowerings of \p root's kind, if the back end does not take it.
static NodeValue lower(Node &root, RewriteContext &context) {
  const auto &isSupported = context.getPass().isSupported;
  if (isSupported && isSupported(root))
    return {};
  for (Rewrite rewrite : getLowerings().get(root.getKind()))
    if (NodeValue value = rewrite(root, context))
      return value;
  return {};
}

llvm::Expected<bool> glowish::lowerNodes(Function &function,
                                         const GraphPassContext &context) {
  static const RewriteSet set = [] {
    RewriteSet rewrites;
    for (unsigned kind = 0; kind < getNodeTable().size(); ++kind)
      if (!getLowerings().get(NodeKind(kind)).empty())
        rewrites.add(NodeKind(kind), lower);
    return rewrites;
  }();
  return applyRewrites(function, set, context);
}
