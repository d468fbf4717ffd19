//===- NBitsPacking.h - Weights of 8 and 4 bits as kernels read them ------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_SELECTION_NBITSPACKING_H
#define GLOWISH_LIB_BACKENDS_CPU_SELECTION_NBITSPACKING_H

#include "Kernels/NBits/NBitsLayout.h"
#include "glowish/Base/Tensor.h"

namespace glowish {

/// Returns \p weights, [K, N] of the layout's kind, in the order of \p layout.
/// They are packed when they are written: weights in a model's file straight
/// from there.
Tensor packNBitsWeights(std::shared_ptr<const Tensor> weights,
                        const NBitsLayout &layout);

/// Returns \p parameters, [blocks, N], in the order of \p layout: scales as
/// float, zero points as int8.
Tensor packNBitsParameters(std::shared_ptr<const Tensor> parameters,
                           const NBitsLayout &layout);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_SELECTION_NBITSPACKING_H
