//===- ConvolutionInstrs.cpp - Kernels of convolution instructions --------===//

#include "Kernels/AMX/SlicedImage.h"
#include "Kernels/KernelOperands.h"
#include "Selection/KernelSelection.h"

using namespace glowish;

void glowish::emitCPUConvolution(KernelBuilder &b,
                                 const CPUConvolutionInstr &instr,
                                 const KernelOperands &operands) {
  using Instr = CPUConvolutionInstr;
  const ConvolutionCandidate &candidate = instr.getAlgorithm();
  candidate.algorithm->emit(
      b, getConvolutionShape(instr), candidate.parameters,
      {.result = operands.getStrided(Instr::resultIdx),
       .input = operands.getStrided(Instr::inputIdx),
       .weights = operands.getPointer(Instr::filterIdx),
       .weightKind = instr.getFilter()->getType().getKind(),
       .scales = operands.getPointer(Instr::scalesIdx),
       .bias = operands.getPointer(Instr::biasIdx),
       .isBiasOfTaps =
           instr.getBias() && instr.getBias()->getType().getRank() == 3,
       .zeroPoint = operands.getPointer(Instr::zeroPointIdx),
       .epilogue = operands.getEpilogue(candidate.algorithm->getSumKind(
           instr.getInput()->getType().getKind(),
           instr.getFilter()->getType().getKind())),
       .needed = {.images = operands.getBound(Instr::resultIdx, 0),
                  .rows = operands.getBound(Instr::resultIdx, 1)},
       .neededColumns = operands.getBound(b, Instr::resultIdx, 0, 3),
       .predicate = operands.getRowPredicate()});
}

void glowish::emitCPUSliceWeights(KernelBuilder &b,
                                  const CPUSliceWeightsInstr &instr,
                                  const KernelOperands &operands) {
  using Instr = CPUSliceWeightsInstr;
  emitSlicedWeights(b, instr.getWeights()->getShape(),
                    operands.getPointer(Instr::slicesIdx),
                    operands.getPointer(Instr::scalesIdx),
                    operands.getStrided(Instr::weightsIdx));
}
