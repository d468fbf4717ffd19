//===- Convolution.cpp - Types of convolutions ----------------------------===//

#include "Helpers.h"

using namespace glowish;
using namespace glowish::typerules;
using llvm::Error;
using llvm::Twine;

/// The filter [OC, KH, KW, C / group] against the input [N, H, W, C].
static Error checkFilter(const ConvolutionView &op) {
  int64_t channels = op.getInput().getDim(3), group = op.getGroup();
  DimsRef filter = op.getFilter().getShape();
  if (group < 1)
    return op.attrError("group", Twine(group) + " is less than 1");
  if (channels % group)
    return op.attrError("group", Twine(group) + " does not divide the " +
                                     Twine(channels) + " input channels");
  if (filter[0] % group)
    return op.attrError("group", Twine(group) + " does not divide the " +
                                     Twine(filter[0]) + " output channels");
  if (filter[3] != channels / group)
    return op.operandError(op.filterIdx, "expected " + Twine(channels / group) +
                                             " as the last extent");
  if (filter[1] < 1 || filter[2] < 1)
    return op.operandError(op.filterIdx, "the kernel has no elements");
  return Error::success();
}

llvm::Expected<TypeList> glowish::inferConvolution(const OpView &view) {
  ConvolutionView op(view);
  GLOWISH_CHECK(checkFloat(op, op.inputIdx));
  GLOWISH_CHECK(checkRank(op, op.inputIdx, 4));
  GLOWISH_CHECK(checkSameKind(op, op.filterIdx, op.inputIdx));
  GLOWISH_CHECK(checkRank(op, op.filterIdx, 4));
  GLOWISH_CHECK(checkFilter(op));
  DimsRef input = op.getInput().getShape();
  DimsRef filter = op.getFilter().getShape();
  ElemKind kind = op.getInput().getKind();
  if (op.hasBias())
    GLOWISH_CHECK(checkIs(op, op.biasIdx, kind, {filter[0]}));
  GLOWISH_TRY(auto size, countWindows(op, {filter.slice(1, 2), op.getStrides(),
                                           op.getPads(), op.getDilations()}));
  return applyEpilogue(op, Type(kind, {input[0], size[0], size[1], filter[0]}),
                       op.fusedIdx, op.getEpilogue());
}
