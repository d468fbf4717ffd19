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

/// Computes rows that are packed to compute them, and unpacked after it, where
/// they are. Attention of PyTorch, whose batch is the second dimension, packs
/// them for its last layer.
llvm::Expected<bool> unpackRows(Function &function);

/// Puts dimensions that a run decides first among the rows of matmuls with
/// weights, so that rows which a run needs lie side by side.
llvm::Expected<bool> orderRows(Function &function);

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_EXTENTS_REPACK_H
