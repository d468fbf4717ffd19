//===- LayerNorm.h - Layer and RMS normalization ----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_LAYERNORM_H
#define GLOWISH_LIB_IMPORTER_ONNX_LAYERNORM_H

#include "ONNX/OpContext.h"

namespace glowish {

/// Parameters of LayerNormalization and its variants. Scale and bias may be
/// null.
struct LayerNorm {
  NodeValue x, scale, bias;
  /// The first dimension normalized over.
  int64_t axis;
  double epsilon;
  /// False: RMS normalization.
  bool subtractMean;
};

llvm::Expected<NodeValue> makeLayerNorm(OpContext &op, const LayerNorm &norm);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_LAYERNORM_H
