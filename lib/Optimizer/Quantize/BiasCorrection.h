//===- BiasCorrection.h - What rounded weights add to sums ------*- C++ -*-===//

#ifndef GLOWISH_LIB_OPTIMIZER_QUANTIZE_BIASCORRECTION_H
#define GLOWISH_LIB_OPTIMIZER_QUANTIZE_BIASCORRECTION_H

#include "Quantize/Selection.h"
#include "Quantize/Weights.h"

namespace glowish {

/// For each output channel of \p node, a convolution or matmul: by how much its
/// sums are too small on average when the float weights have become \p weights.
/// \p means: of the channels of its input.
std::vector<double> getMeanErrors(const Node &node, const Anchor &anchor,
                                  const QuantizedWeights &weights,
                                  llvm::ArrayRef<float> means);

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_QUANTIZE_BIASCORRECTION_H
