//===- MatMul.cpp - Types of matrix products ------------------------------===//

#include "glowish/Ops/TypeRuleHelpers.h"

using namespace glowish;
using namespace glowish::typerules;
using llvm::Twine;

/// The result, of \p kind, of a matmul whose element kinds are right.
template <typename View>
static llvm::Expected<TypeList> inferMatMulOf(const View &op, ElemKind kind) {
  GLOWISH_RETURN_IF_ERROR(checkMinRank(op, op.lhsIdx, 2));
  GLOWISH_RETURN_IF_ERROR(checkMinRank(op, op.rhsIdx, 2));
  DimsRef lhs = op.getLhs().getShape(), rhs = op.getRhs().getShape();
  if (rhs[rhs.size() - 2] != lhs.back())
    return op.operandError(op.rhsIdx, "expected " + Twine(lhs.back()) +
                                          " rows, as many as lhs has columns");
  llvm::Expected<Dims> shape =
      broadcastShapes({lhs.drop_back(2), rhs.drop_back(2)});
  if (!shape)
    return op.operandError(op.rhsIdx, "leading dimensions: " +
                                          llvm::toString(shape.takeError()));
  shape->push_back(lhs[lhs.size() - 2]);
  shape->push_back(rhs.back());
  return makeResult(kind, *shape);
}

llvm::Expected<TypeList> glowish::inferMatMul(const OpView &view) {
  MatMulView op(view);
  GLOWISH_RETURN_IF_ERROR(checkNumber(op, op.lhsIdx));
  GLOWISH_RETURN_IF_ERROR(checkSameKind(op, op.rhsIdx, op.lhsIdx));
  return inferMatMulOf(op, op.getLhs().getKind());
}

llvm::Expected<TypeList> glowish::inferMatMulInteger(const OpView &view) {
  MatMulIntegerView op(view);
  GLOWISH_RETURN_IF_ERROR(checkBytes(op, op.lhsIdx));
  GLOWISH_RETURN_IF_ERROR(checkBytes(op, op.rhsIdx));
  GLOWISH_RETURN_IF_ERROR(checkMinRank(op, op.rhsIdx, 2));
  if (op.hasRhsZeroPoint())
    GLOWISH_RETURN_IF_ERROR(checkZeroPoint(op, op.rhsZeroPointIdx, op.rhsIdx,
                                           op.getRhs().getRank() - 1));
  return inferMatMulOf(op, ElemKind::Int32);
}

llvm::Expected<TypeList> glowish::inferMatMulNBits(const OpView &view) {
  MatMulNBitsView op(view);
  ElemKind kind = op.getLhs().getKind(), weightKind = op.getRhs().getKind();
  bool isQuantized = op.hasLhsScales();
  if (isQuantized && kind != ElemKind::Int8)
    return op.operandError(op.lhsIdx, "expected kind int8, as it has scales");
  if (!isQuantized && (!isFloatKind(kind) || kind == ElemKind::Double))
    return op.operandError(op.lhsIdx,
                           "expected kind float, float16 or bfloat16");
  if (weightKind != ElemKind::Int8 && weightKind != ElemKind::UInt8 &&
      weightKind != ElemKind::Int4 && weightKind != ElemKind::UInt4)
    return op.operandError(op.rhsIdx,
                           "expected kind int8, uint8, int4 or uint4");
  GLOWISH_RETURN_IF_ERROR(checkRank(op, op.rhsIdx, 2));
  if (op.getBlock() < 1)
    return op.attrError("block", "expected at least 1");
  DimsRef rhs = op.getRhs().getShape();
  Dims parameters = {rhs[0] / op.getBlock() + (rhs[0] % op.getBlock() != 0),
                     rhs[1]};
  GLOWISH_RETURN_IF_ERROR(
      checkIs(op, op.scalesIdx, ElemKind::Float, parameters));
  if (op.hasZeroPoints())
    GLOWISH_RETURN_IF_ERROR(
        checkIs(op, op.zeroPointsIdx, weightKind, parameters));
  if (!isQuantized)
    return inferMatMulOf(op, kind);
  Dims rowScales(op.getLhs().getShape());
  if (!rowScales.empty())
    rowScales.back() = parameters[0];
  GLOWISH_RETURN_IF_ERROR(
      checkIs(op, op.lhsScalesIdx, ElemKind::Float, rowScales));
  return inferMatMulOf(op, ElemKind::Float);
}

llvm::Expected<TypeList> glowish::inferFullyConnected(const OpView &view) {
  FullyConnectedView op(view);
  GLOWISH_RETURN_IF_ERROR(checkNumber(op, op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(checkRank(op, op.inputIdx, 2));
  GLOWISH_RETURN_IF_ERROR(checkSameKind(op, op.weightsIdx, op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(checkRank(op, op.weightsIdx, 2));
  int64_t depth = op.getInput().getDim(1);
  int64_t columns = op.getWeights().getDim(1);
  if (op.getWeights().getDim(0) != depth)
    return op.operandError(op.weightsIdx,
                           "expected " + Twine(depth) +
                               " rows, as many as input has columns");
  ElemKind kind = op.getInput().getKind();
  GLOWISH_RETURN_IF_ERROR(checkIs(op, op.biasIdx, kind, {columns}));
  return makeResult(kind, {op.getInput().getDim(0), columns});
}
