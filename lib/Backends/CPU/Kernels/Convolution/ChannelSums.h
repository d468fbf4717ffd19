//===- ChannelSums.h - Convolutions with few output channels ----*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_CHANNELSUMS_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_CHANNELSUMS_H

#include "Kernels/Convolution/Convolution.h"

namespace glowish {

/// The outputs whose sums are in registers at a time.
struct ChannelSumsTile {
  int64_t pixels, channels;
};

/// A tile, and the estimated time of emitChannelSums with it on one core.
struct ChannelSumsChoice {
  ChannelSumsTile tile;
  double cycles;
};

/// Returns the fastest tile for each number of channels, the fastest first;
/// none where the elements that lie side by side fill no vector, or the target
/// has no vectors. \p pixelStride: of the input.
std::vector<ChannelSumsChoice> rankChannelSums(const ConvolutionShape &shape,
                                               ElemKind kind,
                                               int64_t pixelStride,
                                               const TargetDescription &target);

/// Appends the code of the convolution, of float or double. The weights are in
/// blocks of one output channel (packBlocks).
void emitChannelSums(KernelBuilder &b, ConvolutionShape shape,
                     ChannelSumsTile tile, ConvolutionOperands operands);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_CHANNELSUMS_H
