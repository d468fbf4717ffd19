//===- EqualExtents.h - Extents that are the same ---------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_EQUALEXTENTS_H
#define GLOWISH_LIB_IMPORTER_COMMON_EQUALEXTENTS_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// Returns whether \p x and \p y are the same for all values of the symbols.
bool areEqual(NodeBuilder &b, const Extent &x, const Extent &y);
/// Requires that \p x and \p y are the same in each run.
void requireSame(NodeBuilder &b, const Extent &x, const Extent &y);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_EQUALEXTENTS_H
