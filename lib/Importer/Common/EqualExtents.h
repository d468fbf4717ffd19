//===- EqualExtents.h - Extents that are the same ---------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_EQUALEXTENTS_H
#define GLOWISH_LIB_IMPORTER_COMMON_EQUALEXTENTS_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// Returns whether \p x and \p y are the same for all values of the symbols.
bool areEqual(NodeBuilder &b, const Extent &x, const Extent &y);
/// Requires that \p x and \p y are the same in each run.
void requireSame(NodeBuilder &b, const Extent &x, const Extent &y);
/// Requires that dimensions of \p x and \p y which have the same bound, counted
/// from the last, are the same in each run: an extent of 1 that a run decides
/// does not broadcast, and of more elements none are left out.
void requireBroadcast(NodeBuilder &b, NodeValue x, NodeValue y);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_EQUALEXTENTS_H
