//===- ConvolutionOp.cpp - Convolutions, and matmuls as such --------------===//

#include "Selection/ConvolutionOp.h"
#include "Instrs.h"
#include "glowish/IR/LoopBounds.h"

using namespace glowish;

void glowish::replaceByKernel(IRFunction &function, const ConvolutionOp &op,
                              const ConvolutionCandidate &candidate,
                              ConvolutionInputs inputs) {
  function.replace(&op.instr,
                   CPUConvolutionInstr::draft(
                       op.result, inputs.input, inputs.filter.filter,
                       inputs.filter.scales, inputs.bias, inputs.zeroPoint,
                       op.kernels, op.strides, op.pads, op.dilations, op.group,
                       candidate, inputs.fused, std::move(inputs.epilogue)));
}

void glowish::limitToNeededRows(InstrDraft &draft, const ConvolutionOp &op) {
  ConvolutionShape shape = op.getShape();
  if (shape.kernelH != 1 || shape.kernelW != 1 ||
      op.input->getShape().take_front(3) != op.result->getShape().take_front(3))
    return;
  DimsRef made = draft.operands[0]->getShape();
  for (const LoopBound &bound :
       getResultBounds(op.instr, op.result->getShape()))
    if (bound.dim < 3)
      draft.bounds.push_back(bound);
  draft.predicate = getPredicateFor(op.instr, op.result->getShape());
  if (draft.predicate && !isPredicateOf(draft.predicate->getType(), made))
    draft.predicate = nullptr;
}
