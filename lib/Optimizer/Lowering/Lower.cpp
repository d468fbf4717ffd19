//===- Lower.cpp - Lowers nodes for the back end --------------------------===//

#include "Extents/Closing.h"
#include "Lowering/Lowering.h"

using namespace glowish;

/// \p lowering of \p root, if the back end does not support it.
template <typename T, NodeValue (*lowering)(T &, RewriteContext &)>
static NodeValue lowerUnsupported(T &root, RewriteContext &context) {
  const auto &isSupported = context.getPass().isSupported;
  if (isSupported && isSupported(root))
    return {};
  return lowering(root, context);
}

static bool hasLowering(const Node &node) {
  switch (node.getKind()) {
#define LOWERING(NAME) case NodeKind::NAME:
#define GET_LOWERING_LIST
#include "glowish/Graph/NodeFunctions.inc"
    return true;
  default:
    return false;
  }
}

/// Computes for their bounds the nodes that the back end does not take and that
/// their extents kept from being lowered.
static bool computeUnsupported(Function &function,
                               const GraphPassContext &context) {
  bool changed = false;
  for (Node &node : llvm::make_early_inc_range(function.getNodes())) {
    bool isLeft = hasExtents(node) && hasLowering(node) &&
                  context.isSupported && !context.isSupported(node);
    if (isLeft)
      computeForBounds(node);
    changed |= isLeft;
  }
  return changed;
}

static bool lowerAll(Function &function, const GraphPassContext &context) {
  return applyRewrites(function, context, [](RewriteSet &rewrites) {
#define LOWERING(NAME)                                                         \
  rewrites.add<lowerUnsupported<NAME##Node, lower##NAME>>(NodeKind::NAME);
#define GET_LOWERING_LIST
#include "glowish/Graph/NodeFunctions.inc"
  });
}

llvm::Expected<bool> glowish::lowerNodes(Function &function,
                                         const GraphPassContext &context) {
  bool changed = lowerAll(function, context);
  while (computeUnsupported(function, context)) {
    changed = true;
    lowerAll(function, context);
  }
  return changed;
}
