//===- Quantization.h - Quantized numbers in steps ------------*- C++ -*-===//
//
// A quantized element q stands for (q - zero point) * scale. Such tensors are
// integers in the graph; what is computed with them is written out.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_QUANTIZATION_H
#define GLOWISH_LIB_IMPORTER_ONNX_QUANTIZATION_H

#include "ONNX/OpContext.h"

namespace glowish {

/// \p x converted to \p kind; itself where it is of that kind.
llvm::Expected<NodeValue> castTo(OpContext &op, NodeValue x, ElemKind kind);

/// round(\p x) + \p zeroPoint in \p kind: ties to even, and limited to what it
/// holds. \p x is float, and \p zeroPoint may be null.
llvm::Expected<NodeValue> roundToKind(OpContext &op, NodeValue x,
                                      NodeValue zeroPoint, ElemKind kind);

/// \p x - \p zeroPoint as int32. \p zeroPoint may be null and broadcasts.
llvm::Expected<NodeValue> subtractZeroPoint(OpContext &op, NodeValue x,
                                            NodeValue zeroPoint);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_QUANTIZATION_H
