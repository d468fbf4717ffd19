//===- Quantization.h - Decomposition of quantized operators ----*- C++ -*-===//
//
// A quantized element q has the value (q - zero point) * scale. Quantized
// tensors are integers in the graph; operators on them are decomposed.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_QUANTIZATION_H
#define GLOWISH_LIB_IMPORTER_ONNX_QUANTIZATION_H

#include "ONNX/OpContext.h"

namespace glowish {

/// Casts \p x to \p kind unless it is of that kind.
llvm::Expected<NodeValue> castTo(OpContext &op, NodeValue x, ElemKind kind);

/// Returns round(\p x) + \p zeroPoint, rounded to nearest even and saturated to
/// \p kind. \p x is float; \p zeroPoint may be null.
llvm::Expected<NodeValue> roundToKind(OpContext &op, NodeValue x,
                                      NodeValue zeroPoint, ElemKind kind);

/// Returns \p x - \p zeroPoint as int32. \p zeroPoint may be null and
/// broadcasts.
llvm::Expected<NodeValue> subtractZeroPoint(OpContext &op, NodeValue x,
                                            NodeValue zeroPoint);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_QUANTIZATION_H
