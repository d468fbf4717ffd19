//===- Normalization.h - Composed normalizations ----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_NORMALIZATION_H
#define GLOWISH_LIB_IMPORTER_COMMON_NORMALIZATION_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// Mean, x - mean and the population variance of x along some dimensions, which
/// mean and variance keep with extent 1.
struct Moments {
  NodeValue mean, centred, variance;
};
Moments getMoments(NodeBuilder &b, NodeValue x, llvm::ArrayRef<int64_t> axes);

/// Normalized x, the mean, and 1 / sqrt(variance + epsilon).
struct Normalized {
  NodeValue value, mean, inverseDeviation;
};

/// Normalizes \p x along \p axes (ONNX InstanceNormalization-1,
/// aten::native_layer_norm). Unless \p subtractMean, the mean of squares takes
/// the place of the variance, and there is no mean (Caffe2 RMSNorm).
Normalized normalize(NodeBuilder &b, NodeValue x, llvm::ArrayRef<int64_t> axes,
                     double epsilon, bool subtractMean = true);

/// Normalizes \p x [N, C, ...] over the channels of each of \p groups, a
/// divisor of C, and all further dimensions: [N, groups, C / groups, ...] (ONNX
/// GroupNormalization-18, aten::group_norm).
Normalized normalizeGroups(NodeBuilder &b, NodeValue x, int64_t groups,
                           double epsilon);

/// \p parameter, one element for each channel, with a shape that broadcasts
/// along dimension 1 of tensors of \p rank; null if it is null.
NodeValue alongChannels(NodeBuilder &b, NodeValue parameter, unsigned rank);

/// \p value * \p scale + \p bias; both may be null.
NodeValue scaleAndShift(NodeBuilder &b, NodeValue value, NodeValue scale,
                        NodeValue bias);

/// Parameters of layer normalization and its variants. Scale and bias may be
/// null.
struct LayerNorm {
  NodeValue x, scale, bias;
  /// The first dimension normalized over.
  int64_t axis;
  double epsilon;
  /// False: RMS normalization.
  bool subtractMean;
};

/// A LayerNormalization node, followed by scale and bias where these have to
/// broadcast, are of another kind or have extents that runs decide (ONNX
/// LayerNormalization-17, RMSNormalization-23, aten::layer_norm,
/// aten::rms_norm).
NodeValue makeLayerNorm(NodeBuilder &b, const LayerNorm &norm);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_NORMALIZATION_H
