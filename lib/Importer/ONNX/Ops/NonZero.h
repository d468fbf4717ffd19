//===- NonZero.h - Positions of true elements -------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_NONZERO_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_NONZERO_H

#include "ONNX/Extents.h"

namespace glowish::onnximport {

/// The positions of the true elements of a list of bools.
struct Found {
  /// int64 [n], with n the length of the list: the positions, ascending,
  /// followed by 0.
  NodeValue positions;
  /// int64 scalar: the number of true elements.
  NodeValue count;
  /// int64 [n]: the inclusive prefix sums of the flags.
  NodeValue counts;
};
/// Finds the true elements of \p flags, bool [n] with n > 0.
Found findTrue(OpContext &op, NodeValue flags);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_NONZERO_H
