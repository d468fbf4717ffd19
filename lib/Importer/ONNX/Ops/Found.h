//===- Found.h - Elements that fulfil a condition ---------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_FOUND_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_FOUND_H

#include "ONNX/Extents.h"

namespace glowish {

/// Where a list of conditions holds.
struct Found {
  /// int64 [as many as conditions]: their positions, ascending. Behind them 0.
  NodeValue positions;
  /// int64 scalar: how many there are.
  NodeValue count;
  /// int64, one a condition: how many hold up to and with it.
  NodeValue counts;
};
/// \p flags: bool [n] with n > 0.
Found findTrue(OpContext &op, Composer &c, NodeValue flags);

/// Sums of \p x, int64 [rows, n], along each row up to and with each element.
NodeValue sumPrefixes(Composer &c, NodeValue x);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_FOUND_H
