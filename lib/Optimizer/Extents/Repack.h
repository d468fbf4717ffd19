//===- Repack.h - Elements in dimensions that runs decide -------*- C++ -*-===//

#ifndef GLOWISH_LIB_OPTIMIZER_EXTENTS_REPACK_H
#define GLOWISH_LIB_OPTIMIZER_EXTENTS_REPACK_H

#include "glowish/Graph/Nodes.h"

namespace glowish {

/// Whether elements of a value of type \p from, which is in memory as large as
/// its bounds, are where those of a value of type \p to are, for all extents:
/// the row-major order of the extents is the same. Bounds may differ where the
/// first dimension does.
bool keepsPlaces(const Type &from, const Type &to);

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_EXTENTS_REPACK_H
