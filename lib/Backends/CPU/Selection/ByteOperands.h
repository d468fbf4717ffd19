//===- ByteOperands.h - Operands of kernels of bytes ------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_SELECTION_BYTEOPERANDS_H
#define GLOWISH_LIB_BACKENDS_CPU_SELECTION_BYTEOPERANDS_H

#include "Selection/ConvolutionOp.h"

namespace glowish {

/// Returns whether the filter of \p op, which is of bytes, less its zero point
/// has values that int8 has not.
bool hasWideDifferences(const ConvolutionOp &op);

/// Replaces \p instr, described as \p op, by the kernel of bytes of
/// \p candidate. Zero points become a part of the bias, where the kernel
/// doesn't take them.
void replaceByByteKernel(IRFunction &function, const TargetDescription &target,
                         FilterPacker &packer, Instruction &instr,
                         ConvolutionOp op,
                         const ConvolutionCandidate &candidate);

/// Replaces a ConvolutionInteger or MatMulInteger by a Convolution or MatMul of
/// int32.
void replaceByWideInstr(IRFunction &function, Instruction &instr);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_SELECTION_BYTEOPERANDS_H
