//===- Reduction.cpp - Types of reductions --------------------------------===//

#include "glowish/Ops/TypeRuleHelpers.h"

using namespace glowish;
using namespace glowish::typerules;

bool glowish::isExactReduction(const OpView &view) {
  ReduceView op(view);
  return !isFloatKind(op.getInput().getKind()) || op.getMode() == "max" ||
         op.getMode() == "min";
}
using llvm::Twine;

/// The result, of \p kind, of a reduction whose element kinds are right.
template <typename View>
static llvm::Expected<TypeList> inferReductionOf(const View &op,
                                                 ElemKind kind) {
  int64_t previous = -1;
  for (int64_t axis : op.getAxes()) {
    GLOWISH_RETURN_IF_ERROR(checkAxis(op, "axes", axis, op.inputIdx));
    if (axis <= previous)
      return op.attrError("axes", Twine(axis) + " does not ascend");
    previous = axis;
  }
  return makeResult(kind, reduceShape(op.getInput().getShape(), op.getAxes(),
                                      op.getKeepDims()));
}

llvm::Expected<TypeList> glowish::inferReduce(const OpView &view) {
  ReduceView op(view);
  GLOWISH_RETURN_IF_ERROR(checkNumber(op, op.inputIdx));
  ElemKind kind = op.getInput().getKind();
  // An empty set has the identity of the other modes, and the mean NaN.
  bool isIntegerMean = op.getMode() == "mean" && isIntegerKind(kind);
  if (op.getMode() == "mean" && isIntegerKind(kind) && getElemSize(kind) < 8)
    return op.operandError(op.inputIdx, "expected a float kind, int64 or "
                                        "uint64: sums of others wrap");
  GLOWISH_ASSIGN_OR_RETURN(TypeList result, inferReductionOf(op, kind));
  for (int64_t axis : op.getAxes())
    if (isIntegerMean && op.getInput().getDim(axis) == 0)
      return op.operandError(op.inputIdx, "there is no mean of no integers, "
                                          "along dimension " +
                                              Twine(axis));
  return result;
}

llvm::Expected<TypeList> glowish::inferReduceInteger(const OpView &view) {
  ReduceIntegerView op(view);
  GLOWISH_RETURN_IF_ERROR(checkBytes(op, op.inputIdx));
  return inferReductionOf(op, ElemKind::Int32);
}

llvm::Expected<TypeList> glowish::inferCumSum(const OpView &view) {
  CumSumView op(view);
  GLOWISH_RETURN_IF_ERROR(checkNumber(op, op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(checkAxis(op, "axis", op.getAxis(), op.inputIdx));
  return makeResult(op.getInput());
}

llvm::Expected<TypeList> glowish::inferArgMax(const OpView &view) {
  ArgMaxView op(view);
  GLOWISH_RETURN_IF_ERROR(checkNumber(op, op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(checkAxis(op, "axis", op.getAxis(), op.inputIdx));
  if (op.getInput().getDim(op.getAxis()) == 0)
    return op.operandError(op.inputIdx,
                           "there is no largest element of nothing along "
                           "dimension " +
                               Twine(op.getAxis()));
  return makeResult(
      ElemKind::Int64,
      reduceShape(op.getInput().getShape(), op.getAxis(), op.getKeepDims()));
}
