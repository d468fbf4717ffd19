//===- IntegerKernels.h - Kernels of 8-bit integers -------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_SELECTION_INTEGERKERNELS_H
#define GLOWISH_LIB_BACKENDS_CPU_SELECTION_INTEGERKERNELS_H

#include "Selection/ConvolutionAlgorithm.h"

namespace glowish {

/// Chooses a candidate for a problem of bytes; none where there is none.
using ByteChooser = llvm::function_ref<std::optional<ConvolutionChoice>(
    const ConvolutionProblem &)>;

/// Replaces each ConvolutionInteger and MatMulInteger: by a CPUConvolution
/// where the filter is constant and an algorithm applies, else by a Convolution
/// or MatMul of int32. Zero points become a part of the bias. Returns
/// whether it changed something.
bool prepareIntegerKernels(IRFunction &function,
                           const TargetDescription &target, ByteChooser choose);

/// Calls \p visit with the problems for which prepareIntegerKernels calls its
/// chooser, except depthwise convolutions, which have one.
void visitByteProblems(
    const IRFunction &function,
    llvm::function_ref<void(const ConvolutionProblem &)> visit);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_SELECTION_INTEGERKERNELS_H
