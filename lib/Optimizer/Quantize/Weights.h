//===- Weights.h - Constant operands as integers ----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_OPTIMIZER_QUANTIZE_WEIGHTS_H
#define GLOWISH_LIB_OPTIMIZER_QUANTIZE_WEIGHTS_H

#include "glowish/Optimizer/Quantize.h"

namespace glowish {

/// Weights of a convolution or matmul, as int8, and their scales.
struct QuantizedWeights {
  Tensor integers;
  /// One, or one for each index of the channels' dimension; broadcasts to the
  /// integers.
  Tensor scales;
};

/// Quantizes float \p weights. \p axis: the dimension of the output channels.
/// \p bias, which may be null, has an element for each channel if it has as
/// many: scales are so large that it is a number of int32 in multiples of scale
/// * \p inputScale.
QuantizedWeights quantizeWeights(const Tensor &weights, size_t axis,
                                 const Tensor *bias, double inputScale,
                                 const QuantizationConfig &config,
                                 bool isPerChannel);

/// \p bias as multiples of the scales of sums: of \p weights times
/// \p inputScale. As it is if it has another number of elements.
Tensor roundBias(const Tensor &bias, const QuantizedWeights &weights,
                 int64_t numChannels, double inputScale);

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_QUANTIZE_WEIGHTS_H
