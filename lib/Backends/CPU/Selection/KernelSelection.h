//===- KernelSelection.h - Selects kernels of convolutions ------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_SELECTION_KERNELSELECTION_H
#define GLOWISH_LIB_BACKENDS_CPU_SELECTION_KERNELSELECTION_H

#include "Instrs.h"
#include "Selection/ConvolutionAlgorithm.h"

namespace glowish {

/// The instructions that a run of selectKernels is for.
enum class SelectedOps : uint8_t {
  /// ConvolutionIntegers and MatMulIntegers. Where no kernel of bytes applies,
  /// they become Convolutions and MatMuls of int32.
  Bytes,
  /// Convolutions and MatMuls.
  Others
};

/// Replaces convolutions, and matmuls with one right side for all matrices of
/// the left one, by CPUConvolutions. Constant weights are packed at compile
/// time, for the candidate that \p choose returns; others by instructions.
/// Returns whether it changed something.
bool selectKernels(IRFunction &function, SelectedOps selected,
                   const TargetDescription &target, ConvolutionChooser choose);

/// Calls \p visit with the problems, and their filters, for which selectKernels
/// will call its chooser, except depthwise convolutions, which have one
/// candidate.
void visitProblems(
    const IRFunction &function,
    llvm::function_ref<void(const ConvolutionProblem &, const Buffer &)> visit);

/// The shape of the convolution of \p instr: a CPUConvolution, or a gradient of
/// a filter, for which \p out is the gradient of the result.
template <typename Instr>
ConvolutionShape getConvolutionShape(const Instr &instr, const Buffer &out) {
  return ConvolutionShape::get(instr.getInput()->getShape(), out.getShape(),
                               instr.getKernels(), instr.getStrides(),
                               instr.getPads(), instr.getDilations(),
                               instr.getGroup());
}
inline ConvolutionShape getConvolutionShape(const CPUConvolutionInstr &instr) {
  return getConvolutionShape(instr, *instr.getResult());
}

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_SELECTION_KERNELSELECTION_H
