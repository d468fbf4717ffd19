//===- Lower.cpp - Lowers nodes for the back end --------------------------===//

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

llvm::Expected<bool> glowish::lowerNodes(Function &function,
                                         const GraphPassContext &context) {
  return applyRewrites(function, context, [](RewriteSet &rewrites) {
#define LOWERING(NAME)                                                         \
  rewrites.add<lowerUnsupported<NAME##Node, lower##NAME>>(NodeKind::NAME);
#define GET_LOWERING_LIST
#include "glowish/Graph/NodeFunctions.inc"
  });
}
