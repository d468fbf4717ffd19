//===- Anchors.h - Convolutions and products made ready -------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_ANCHORS_H
#define GLOWISH_LIB_BACKENDS_CPU_ANCHORS_H

#include "Kernels/Kernels.h"
#include "glowish/IR/Instrs.h"

namespace glowish {

/// The shape of an instruction in the words of its kernel.
ConvolutionShape getConvolutionShape(const CPUConvolutionInstr &instr);
ConvolutionShape getConvolutionShape(const CPUSplitConvolutionInstr &instr);

/// One filter a channel.
inline bool isDepthwise(const ConvolutionShape &shape) {
  return shape.group == shape.channels && shape.group == shape.outChannels &&
         shape.group > 1;
}

/// Turns convolutions, and products with constant right sides, into
/// CPUConvolutions: chooses tiles, and packs weights, now where they are
/// constants, by a Copy at run time where they are not.
void prepareAnchors(IRFunction &function, const TargetDescription &target);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_ANCHORS_H
