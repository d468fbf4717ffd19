//===- FilterGradient.h - Gradients of filters ----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_FILTERGRADIENT_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_FILTERGRADIENT_H

#include "Kernels.h"

namespace glowish {

/// The gradient of the filter of a convolution of \p shape. \p result: dense
/// [OC, KH, KW, C / group]. \p input and \p gradient, of the convolution's
/// result, are dense.
void emitFilterGradient(KernelBuilder &b, const ConvolutionShape &shape,
                        llvm::Value *result, StridedOperand input,
                        StridedOperand gradient);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_FILTERGRADIENT_H
