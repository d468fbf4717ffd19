//===- SharedHeads.h - Attention of heads that share keys -------*- C++ -*-===//

#ifndef GLOWISH_LIB_OPTIMIZER_RECOGNIZE_SHAREDHEADS_H
#define GLOWISH_LIB_OPTIMIZER_RECOGNIZE_SHAREDHEADS_H

#include "Util/Rewriter.h"
#include "glowish/Graph/Nodes.h"

namespace glowish {

/// Attention [..., heads, queries, columns] of keys and values that are
/// repeated for the heads that share them, as one [..., groups, repeats,
/// queries, columns] in which the repetition is a broadcast, or, of a single
/// query,
/// [..., groups, repeats, columns]. Returns null if they are not repeated.
NodeValue recognizeSharedHeads(AttentionNode &root, RewriteContext &context);

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_RECOGNIZE_SHAREDHEADS_H
