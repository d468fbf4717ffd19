//===- MatMul.cpp - Matrix multiplication ---------------------------------===//

#include "ONNX/MatMul.h"
#include "Common/MatMul.h"
#include "ONNX/DynamicDims.h"
#include "glowish/Base/ElemRange.h"
#include "glowish/Ops/TypeRuleHelpers.h"
#include <cmath>

using namespace glowish;
using namespace glowish::onnximport;

llvm::Expected<NodeValue> onnximport::makeMatMul(OpContext &op, NodeValue lhs,
                                                 NodeValue rhs) {
  return op.finish(glowish::makeMatMul(op, lhs, rhs));
}

/// Zeros both operands beyond the actual extent of the contracted dimension.
static llvm::Error fillDepth(OpContext &op, DynamicValue &lhs, unsigned lhsDim,
                             DynamicValue &rhs, unsigned rhsDim) {
  GLOWISH_RETURN_IF_ERROR(unify(op, lhs, lhsDim, rhs, rhsDim));
  lhs.value = fillOutside(op, lhs, {lhsDim}, 0);
  rhs.value = fillOutside(op, rhs, {rhsDim}, 0);
  return llvm::Error::success();
}

/// Unifies the leading dimensions, which broadcast; returns the extents of
/// those of the result.
static llvm::Expected<Extents> unifyBatches(OpContext &op, DynamicValue &lhs,
                                            DynamicValue &rhs) {
  int64_t own = int64_t(lhs.getRank()) - 2, other = int64_t(rhs.getRank()) - 2;
  Extents extents;
  for (int64_t i = std::max<int64_t>({own, other, 0}); i > 0; --i) {
    int64_t x = own - i, y = other - i;
    bool hasX = x >= 0 && (lhs.isDynamic(x) || lhs.getShape()[x] != 1);
    bool hasY = y >= 0 && (rhs.isDynamic(y) || rhs.getShape()[y] != 1);
    if (hasX && hasY)
      GLOWISH_RETURN_IF_ERROR(unify(op, lhs, x, rhs, y));
    extents.push_back(hasX   ? lhs.getExtent(x)
                      : hasY ? rhs.getExtent(y)
                             : NodeValue());
  }
  return extents;
}

static llvm::Error importMatMul(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(DynamicValue lhs, getDynamicInput(op, 0));
  GLOWISH_ASSIGN_OR_RETURN(DynamicValue rhs, getDynamicInput(op, 1));
  if (!lhs.isDynamic() && !rhs.isDynamic())
    return op.setOutput(0, makeMatMul(op, lhs.value, rhs.value));
  unsigned rows = lhs.getRank(), columns = rhs.getRank();
  if (rows == 0 || columns == 0)
    return makeError("inputs are {0} and {1}; accepted: no scalars",
                     lhs.value.getType().str(), rhs.value.getType().str());
  GLOWISH_RETURN_IF_ERROR(
      fillDepth(op, lhs, rows - 1, rhs, columns > 1 ? columns - 2 : 0));
  GLOWISH_ASSIGN_OR_RETURN(Extents extents, unifyBatches(op, lhs, rhs));
  if (rows > 1)
    extents.push_back(lhs.getExtent(rows - 2));
  if (columns > 1)
    extents.push_back(rhs.getExtent(columns - 1));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue left, op.finish(lhs.value));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue right, op.finish(rhs.value));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue result, makeMatMul(op, left, right));
  return setDynamicOutput(op, 0, {result, extents});
}

/// Unifies the dimensions of \p a, \p b and \p c, which broadcasts to the
/// result; returns the extents of the result.
static llvm::Expected<Extents> unifyGemm(OpContext &op, DynamicValue &a,
                                         DynamicValue &b, DynamicValue &c,
                                         const GemmForm &form) {
  unsigned rows = form.transposesX, columns = !form.transposesY;
  GLOWISH_RETURN_IF_ERROR(fillDepth(op, a, !rows, b, !columns));
  unsigned rank = c.value ? c.getRank() : 0;
  if (rank >= 1 && c.getShape()[rank - 1] != 1)
    GLOWISH_RETURN_IF_ERROR(unify(op, c, rank - 1, b, columns));
  if (rank >= 2 && c.getShape()[rank - 2] != 1)
    GLOWISH_RETURN_IF_ERROR(unify(op, c, rank - 2, a, rows));
  return Extents{a.getExtent(rows), b.getExtent(columns)};
}

/// Reads the factor \p name, which must be a number of \p kind.
static llvm::Error readFactor(OpContext &op, llvm::StringRef name,
                              ElemKind kind, double &factor) {
  factor = op.getFloat(name, 1);
  if (isFloatKind(kind) ||
      (factor == std::trunc(factor) && getFiniteRange(kind).contains(factor)))
    return llvm::Error::success();
  return makeError(
      "attribute '{0}' is {1}; accepted for {2}: whole numbers in its range",
      name, typerules::formatDouble(factor), getElemKindName(kind));
}

static llvm::Error importGemm(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(DynamicValue a, getDynamicInput(op, 0));
  GLOWISH_ASSIGN_OR_RETURN(DynamicValue b, getDynamicInput(op, 1));
  DynamicValue c = {op.getOptionalInput(2), op.getExtents(2)};
  // States before opset 7 whether c broadcasts, which its shape implies.
  if (op.getOpset() < 7)
    op.ignoreAttrs({"broadcast"});
  if (a.getRank() != 2 || b.getRank() != 2)
    return makeError("inputs are {0} and {1}; accepted: matrices",
                     a.value.getType().str(), b.value.getType().str());
  GemmForm form;
  ElemKind kind = a.value.getElemKind();
  GLOWISH_RETURN_IF_ERROR(readFactor(op, "alpha", kind, form.alpha));
  GLOWISH_RETURN_IF_ERROR(readFactor(op, "beta", kind, form.beta));
  form.transposesX = op.getInt("transA", 0);
  form.transposesY = op.getInt("transB", 0);
  GLOWISH_ASSIGN_OR_RETURN(Extents extents, unifyGemm(op, a, b, c, form));
  GLOWISH_ASSIGN_OR_RETURN(a.value, op.finish(a.value));
  Dims shape = {a.getShape()[form.transposesX],
                b.getShape()[!form.transposesY]};
  if (c.value && (c.value.getElemKind() != kind ||
                  llvm::expectedToOptional(
                      broadcastShapes({shape, c.getShape()})) != shape))
    return makeError("input 2 is {0}; accepted: what broadcasts to {1}",
                     c.value.getType().str(), Type(kind, shape).str());
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue result,
      op.finish(makeGemm(op, a.value, b.value, c.value, form)));
  return setDynamicOutput(op, 0, {result, extents});
}

static OnnxOperator matMulOp("MatMul", 1, importMatMul);
static OnnxOperator gemmOp("Gemm", 1, importGemm);
