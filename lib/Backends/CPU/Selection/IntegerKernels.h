//===- IntegerKernels.h - Kernels of 8-bit integers -------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_SELECTION_INTEGERKERNELS_H
#define GLOWISH_LIB_BACKENDS_CPU_SELECTION_INTEGERKERNELS_H

#include "Selection/ConvolutionAlgorithm.h"

namespace glowish {

/// The candidates for a problem of bytes, the fastest first; perhaps none.
using ByteCandidates = llvm::function_ref<std::vector<ConvolutionCandidate>(
    const ConvolutionProblem &)>;

/// Replaces each ConvolutionInteger and MatMulInteger: by a CPUConvolution
/// where the filter is constant and an algorithm applies, else by a Convolution
/// or MatMul of int32. Zero points become a part of the bias.
void prepareIntegerKernels(IRFunction &function,
                           const TargetDescription &target,
                           ByteCandidates getCandidates);

/// Calls \p visit with the problems for which prepareIntegerKernels asks for
/// candidates, except depthwise convolutions, which have one.
void visitByteProblems(
    const IRFunction &function,
    llvm::function_ref<void(const ConvolutionProblem &)> visit);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_SELECTION_INTEGERKERNELS_H
