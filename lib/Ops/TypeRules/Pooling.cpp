//===- Pooling.cpp - Types of poolings ------------------------------------===//

#include "glowish/Ops/TypeRuleHelpers.h"

using namespace glowish;
using namespace glowish::typerules;

/// The result of a pooling, MaxPoolView or AvgPoolView.
template <typename View>
static llvm::Expected<TypeList> inferPool(const View &op) {
  GLOWISH_RETURN_IF_ERROR(checkRank(op, op.inputIdx, 4));
  GLOWISH_ASSIGN_OR_RETURN(auto size, countOwnWindows(op));
  const Type &input = op.getInput();
  return makeResult(input.getKind(),
                    {input.getDim(0), size[0], size[1], input.getDim(3)});
}

llvm::Expected<TypeList> glowish::inferMaxPool(const OpView &view) {
  MaxPoolView op(view);
  GLOWISH_RETURN_IF_ERROR(checkNumber(op, op.inputIdx));
  return inferPool(op);
}

llvm::Expected<TypeList> glowish::inferAvgPool(const OpView &view) {
  AvgPoolView op(view);
  GLOWISH_RETURN_IF_ERROR(checkFloat(op, op.inputIdx));
  return inferPool(op);
}

llvm::Expected<TypeList> glowish::inferMaxPoolGradient(const OpView &view) {
  MaxPoolGradientView op(view);
  GLOWISH_RETURN_IF_ERROR(checkFloat(op, op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(checkRank(op, op.inputIdx, 4));
  GLOWISH_ASSIGN_OR_RETURN(auto size, countOwnWindows(op));
  GLOWISH_RETURN_IF_ERROR(
      checkWindowGradient(op, op.gradientIdx, size, op.getInput().getDim(3)));
  return TypeList{op.getInput()};
}

llvm::Expected<TypeList> glowish::inferAvgPoolGradient(const OpView &view) {
  AvgPoolGradientView op(view);
  GLOWISH_RETURN_IF_ERROR(checkFloat(op, op.gradientIdx));
  GLOWISH_RETURN_IF_ERROR(checkRank(op, op.gradientIdx, 4));
  GLOWISH_RETURN_IF_ERROR(checkValues(op, "sizes", op.getSizes(), 2, 0));
  GLOWISH_ASSIGN_OR_RETURN(auto size, countOwnWindows(op, op.getSizes()));
  const Type &gradient = op.getGradient();
  GLOWISH_RETURN_IF_ERROR(
      checkWindowGradient(op, op.gradientIdx, size, gradient.getDim(3)));
  return makeResult(gradient.getKind(), {gradient.getDim(0), op.getSizes()[0],
                                         op.getSizes()[1], gradient.getDim(3)});
}

llvm::Expected<TypeList> glowish::inferGlobalPool(const OpView &op) {
  constexpr unsigned input = GlobalAvgPoolView::inputIdx;
  GLOWISH_RETURN_IF_ERROR(checkFloat(op, input));
  GLOWISH_RETURN_IF_ERROR(checkRank(op, input, 4));
  DimsRef shape = op.getInput(input).getShape();
  if (shape[1] == 0 || shape[2] == 0)
    return op.operandError(input, "the images have no pixels");
  return makeResult(op.getInput(input).getKind(), {shape[0], 1, 1, shape[3]});
}
