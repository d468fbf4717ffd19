//===- NonZero.h - Positions of true elements -------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_NONZERO_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_NONZERO_H

#include "Common/TrueElements.h"
#include "ONNX/Extents.h"

namespace glowish::onnximport {

/// Finds the true elements of \p flags, bool [n] with n > 0, and records the
/// bound of their number.
Found findTrueBounded(OpContext &op, NodeValue flags);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_NONZERO_H
