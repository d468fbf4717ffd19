//===- Anchors.h - Convolutions and products made ready ---------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_ANCHORS_H
#define GLOWISH_LIB_BACKENDS_CPU_ANCHORS_H

#include "Instrs.h"
#include "Kernels/ConvolutionChoice.h"

namespace glowish {

/// The shape of an instruction in the words of its kernel.
ConvolutionShape getConvolutionShape(const CPUConvolutionInstr &instr);
ConvolutionShape getConvolutionShape(const CPUWinogradConvolutionInstr &instr);
ConvolutionShape getConvolutionShape(const CPUSplitConvolutionInstr &instr);
ConvolutionShape
getConvolutionShape(const ConvolutionFilterGradientInstr &instr);

/// Turns convolutions, and products with one right side for all of the left
/// one, into the back end's own. Weights that are constants are packed now, for
/// what \p choose takes; others by instructions.
void prepareAnchors(IRFunction &function, const TargetDescription &target,
                    ConvolutionChooser choose);

/// Calls \p visit with what prepareAnchors will ask its chooser for, in the
/// same order.
void visitChoices(const IRFunction &function,
                  llvm::function_ref<void(const ConvolutionShape &, ElemKind,
                                          DimsRef, const Buffer &)>
                      visit);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_ANCHORS_H
