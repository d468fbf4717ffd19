//===- CPU.cpp - Type rules of the CPU back end's instructions ------------===//

#include "glowish/Ops/TypeRules.h"
#include "glowish/Support/Error.h"

using namespace glowish;

llvm::Expected<TypeList> glowish::inferCPUConvolution(const OpView &view) {
  CPUConvolutionView op(view);
  // The back end makes it from a Convolution that has been checked: here only
  // what the kernel relies on.
  if (op.getInput().getRank() != 4 || op.getResult().getRank() != 4)
    return op.operandError(op.inputIdx, "accepted: images [N, H, W, C]");
  if (op.getKernels().size() != 2 || op.getStrides().size() != 2 ||
      op.getPads().size() != 4 || op.getDilations().size() != 2 ||
      op.getTile().size() != 2)
    return op.attrError("kernels", "window attributes have 2 values, pads 4");
  if (op.getFilter().getKind() != op.getInput().getKind())
    return op.operandError(op.filterIdx, "accepted: the input's element kind");
  return TypeList{op.getResult()};
}

llvm::Expected<TypeList>
glowish::inferCPUWinogradConvolution(const OpView &view) {
  CPUWinogradConvolutionView op(view);
  if (op.getInput().getRank() != 4 || op.getResult().getRank() != 4)
    return op.operandError(op.inputIdx, "accepted: images [N, H, W, C]");
  if (op.getInput().getKind() != ElemKind::Float ||
      op.getFilter().getKind() != ElemKind::Float)
    return op.operandError(op.inputIdx, "accepted: float");
  if (op.getKernels().size() != 2 || op.getPads().size() != 4 ||
      op.getSize().size() != 2)
    return op.attrError("kernels", "kernels and size have 2 values, pads 4");
  return TypeList{op.getResult()};
}

llvm::Expected<TypeList> glowish::inferCPUSplitConvolution(const OpView &view) {
  CPUSplitConvolutionView op(view);
  if (op.getInput().getRank() != 4 || op.getResult().getRank() != 4)
    return op.operandError(op.inputIdx, "accepted: images [N, H, W, C]");
  if (op.getInput().getKind() != ElemKind::Float ||
      op.getScales().getKind() != ElemKind::Float)
    return op.operandError(op.inputIdx, "accepted: float");
  if (op.getFilter().getKind() != ElemKind::Int8)
    return op.operandError(op.filterIdx, "accepted: int8");
  if (op.getKernels().size() != 2 || op.getStrides().size() != 2 ||
      op.getPads().size() != 4 || op.getDilations().size() != 2)
    return op.attrError("kernels", "window attributes have 2 values, pads 4");
  return TypeList{op.getResult()};
}

llvm::Expected<TypeList> glowish::inferCPUSplitWeights(const OpView &view) {
  CPUSplitWeightsView op(view);
  if (op.getWeights().getKind() != ElemKind::Float ||
      op.getWeights().getRank() != 4)
    return op.operandError(op.weightsIdx, "accepted: float [KH, KW, C, OC]");
  // How many digits the kernel reads is the back end's business.
  return TypeList{Type(ElemKind::Int8, op.getDigits().getShape()),
                  Type(ElemKind::Float, {op.getWeights().getShape().back()})};
}
