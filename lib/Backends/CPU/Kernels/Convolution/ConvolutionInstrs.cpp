//===- ConvolutionInstrs.cpp - Kernels of convolution instructions --------===//

#include "Kernels/AMX/SlicedImage.h"
#include "Kernels/KernelOperands.h"
#include "Selection/KernelSelection.h"

using namespace glowish;
using llvm::Value;

/// Whether each pixel of the result depends on one pixel of the input.
static bool isPointwise(const ConvolutionShape &shape) {
  return shape.kernelH == 1 && shape.kernelW == 1 && shape.strideH == 1 &&
         shape.strideW == 1 && shape.outHeight == shape.height &&
         shape.outWidth == shape.width;
}

/// Emits \p kernel for each row of a matrix product's image of which a run
/// needs a part of the columns, as an image of its own: rows of all are no
/// matrix.
static void emitRowByRow(KernelBuilder &b, const LoopExtents &rows,
                         ConvolutionShape shape,
                         const ConvolutionOperands &operands,
                         llvm::function_ref<void(const ConvolutionShape &,
                                                 const ConvolutionOperands &)>
                             kernel) {
  shape.batch = shape.height = shape.outHeight = 1;
  b.forEach(rows, [&](Value *number) {
    Values index = b.splitIndex(number, rows.shape);
    ConvolutionOperands own = operands;
    auto take = [&](StridedOperand &operand) {
      operand.base = operand.getAddress(b, index);
      operand.strides[0] = operand.strides[1] = 0;
    };
    take(own.result);
    take(own.input);
    llvm::for_each(own.epilogue.fused, take);
    kernel(shape, own);
  });
}

void glowish::emitCPUConvolution(KernelBuilder &b,
                                 const CPUConvolutionInstr &instr,
                                 const KernelOperands &operands) {
  using Instr = CPUConvolutionInstr;
  const ConvolutionCandidate &candidate = instr.getAlgorithm();
  ConvolutionShape shape = getConvolutionShape(instr);
  ConvolutionOperands own = {
      .result = operands.getStrided(Instr::resultIdx),
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
                 .rows = operands.getBound(Instr::resultIdx, 1),
                 .columns = operands.getBound(Instr::resultIdx, 2)},
      .neededColumns = operands.getBound(b, Instr::resultIdx, 0, 3),
      .neededChannels = operands.getBound(Instr::resultIdx, 3),
      .predicate = operands.getRowPredicate()};
  auto emit = [&](const ConvolutionShape &shape,
                  const ConvolutionOperands &operands) {
    candidate.algorithm->emit(b, shape, candidate.parameters, operands);
  };
  Value *columns = own.needed.columns;
  bool hasRows = shape.batch * shape.outHeight > 1;
  if (!columns || !hasRows || !isPointwise(shape) || own.predicate)
    return emit(shape, own);
  own.needed = {};
  own.neededColumns = columns;
  emitRowByRow(b, operands.getExtents(Instr::resultIdx, 0, 2), shape, own,
               emit);
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
