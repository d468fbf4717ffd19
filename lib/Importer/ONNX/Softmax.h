//===- Softmax.h - Softmax along a dimension --------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_SOFTMAX_H
#define GLOWISH_LIB_IMPORTER_ONNX_SOFTMAX_H

#include "ONNX/OpContext.h"

namespace glowish::onnximport {

/// Builds the softmax of \p input, which has the extents of input 0, along the
/// attribute `axis`. If \p isFlat, as before opset 13, it is over all
/// dimensions from there on.
llvm::Expected<NodeValue> makeSoftmaxAlongAxis(OpContext &op, NodeValue input,
                                               int64_t defaultAxis,
                                               bool isFlat);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_SOFTMAX_H
