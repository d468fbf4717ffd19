//===- ConvolutionInstrs.cpp - Kernels of convolution instructions --------===//

#include "Anchors.h"
#include "KernelOperands.h"
#include "SplitImage.h"
#include "Winograd.h"

using namespace glowish;

void glowish::emitConvolution(KernelBuilder &, const ConvolutionInstr &,
                              const KernelOperands &) {
  llvm_unreachable("kernel selection replaces convolutions");
}

void glowish::emitCPUConvolution(KernelBuilder &b,
                                 const CPUConvolutionInstr &instr,
                                 const KernelOperands &operands) {
  using Instr = CPUConvolutionInstr;
  ConvolutionShape shape = getConvolutionShape(instr);
  StridedOperand result = operands.getStrided(Instr::resultIdx);
  StridedOperand input = operands.getStrided(Instr::inputIdx);
  llvm::Value *filter = operands.getPointer(Instr::filterIdx);
  llvm::Value *bias = operands.getPointer(Instr::biasIdx);
  if (isDepthwise(shape))
    return emitDepthwise(b, shape, result, input, filter, bias,
                         operands.getEpilogue());
  Tile tile{unsigned(instr.getTile()[0]), unsigned(instr.getTile()[1])};
  ElemKind kind = input.kind;
  const TargetDescription &target = b.getTarget();
  unsigned block = tile.vectors * target.getPackedLanes(getElemSize(kind));
  if (target.packedBits != target.vectorBits)
    tile = chooseTile(shape, kind, target, block);
  WeightLayout layout =
      instr.getBlocked()
          ? getPackedLayout(shape, block)
          : getPlainLayout(shape, tile.vectors * b.getRegisterLanes(kind));
  emitConvolution(b, shape, tile, layout, result, input, filter, bias,
                  operands.getEpilogue());
}

void glowish::emitCPUWinogradConvolution(
    KernelBuilder &b, const CPUWinogradConvolutionInstr &instr,
    const KernelOperands &operands) {
  using Instr = CPUWinogradConvolutionInstr;
  emitWinograd(
      b, getConvolutionShape(instr), {instr.getSize()[0], instr.getSize()[1]},
      unsigned(instr.getBlock()), operands.getStrided(Instr::resultIdx),
      operands.getStrided(Instr::inputIdx),
      operands.getPointer(Instr::filterIdx),
      operands.getPointer(Instr::biasIdx), operands.getEpilogue());
}

void glowish::emitCPUSplitConvolution(KernelBuilder &b,
                                      const CPUSplitConvolutionInstr &instr,
                                      const KernelOperands &operands) {
  using Instr = CPUSplitConvolutionInstr;
  emitSplitConvolution(
      b, getConvolutionShape(instr), operands.getStrided(Instr::resultIdx),
      operands.getStrided(Instr::inputIdx),
      operands.getPointer(Instr::filterIdx),
      operands.getPointer(Instr::scalesIdx),
      operands.getPointer(Instr::biasIdx), operands.getEpilogue());
}

void glowish::emitCPUSplitWeights(KernelBuilder &b,
                                  const CPUSplitWeightsInstr &instr,
                                  const KernelOperands &operands) {
  using Instr = CPUSplitWeightsInstr;
  emitSplitWeights(b, instr.getWeights()->getShape(),
                   operands.getPointer(Instr::digitsIdx),
                   operands.getPointer(Instr::scalesIdx),
                   operands.getStrided(Instr::weightsIdx));
}
