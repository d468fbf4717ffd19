//===- Depthwise.h - Depthwise convolution ----------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_DEPTHWISE_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_DEPTHWISE_H

#include "Kernels/Convolution/Convolution.h"

namespace glowish {

/// Appends the code of a convolution with one filter a channel, packed as
/// [kh][kw][channel].
void emitDepthwise(KernelBuilder &b, const ConvolutionShape &shape,
                   const ConvolutionOperands &operands);

/// The same of 8-bit integers: sums, weights and bias are int32.
void emitDepthwiseBytes(KernelBuilder &b, const ConvolutionShape &shape,
                        const ConvolutionOperands &operands);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_DEPTHWISE_H
