//===- MatMul.cpp - Matrix multiplication ---------------------------------===//

#include "ONNX/MatMul.h"
#include "Common/MatMul.h"
#include "ONNX/Extents.h"
#include "glowish/Base/ElemRange.h"
#include "glowish/Ops/TypeRuleHelpers.h"
#include <cmath>

using namespace glowish;
using namespace glowish::onnximport;

llvm::Expected<NodeValue> onnximport::makeMatMul(OpContext &op, NodeValue lhs,
                                                 NodeValue rhs) {
  return op.finish(glowish::makeMatMul(op, lhs, rhs));
}

static llvm::Error importMatMul(OpContext &op, NodeValue lhs, NodeValue rhs) {
  unsigned rows = lhs.getShape().size(), columns = rhs.getShape().size();
  if (rows == 0 || columns == 0)
    return makeError("inputs are {0} and {1}; accepted: no scalars",
                     lhs.getType().str(), rhs.getType().str());
  GLOWISH_RETURN_IF_ERROR(
      align(op, lhs, rows - 1, rhs, columns > 1 ? columns - 2 : 0));
  NodeValue values[] = {lhs, rhs};
  GLOWISH_RETURN_IF_ERROR(alignBroadcast(op, values, /*numInner=*/2));
  return op.setOutput(0, makeMatMul(op, values[0], values[1]));
}

/// Aligns the dimensions of \p a, \p b and \p c, which broadcasts to the
/// result.
static llvm::Error alignGemm(OpContext &op, NodeValue &a, NodeValue &b,
                             NodeValue &c, const GemmForm &form) {
  unsigned rows = form.transposesX, columns = !form.transposesY;
  GLOWISH_RETURN_IF_ERROR(align(op, a, !rows, b, !columns));
  unsigned rank = c ? c.getShape().size() : 0;
  if (rank >= 1 && c.getShape()[rank - 1] != 1)
    GLOWISH_RETURN_IF_ERROR(align(op, c, rank - 1, b, columns));
  if (rank >= 2 && c.getShape()[rank - 2] != 1)
    GLOWISH_RETURN_IF_ERROR(align(op, c, rank - 2, a, rows));
  return op.takeError();
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

static llvm::Error importGemm(OpContext &op, NodeValue a, NodeValue b) {
  NodeValue c = op.input(2);
  // States before opset 7 whether c broadcasts, which its shape implies.
  if (op.getOpset() < 7)
    op.ignoreAttrs({"broadcast"});
  if (a.getShape().size() != 2 || b.getShape().size() != 2)
    return makeError("inputs are {0} and {1}; accepted: matrices",
                     a.getType().str(), b.getType().str());
  GemmForm form;
  ElemKind kind = a.getElemKind();
  GLOWISH_RETURN_IF_ERROR(readFactor(op, "alpha", kind, form.alpha));
  GLOWISH_RETURN_IF_ERROR(readFactor(op, "beta", kind, form.beta));
  form.transposesX = op.getInt("transA", 0);
  form.transposesY = op.getInt("transB", 0);
  GLOWISH_RETURN_IF_ERROR(alignGemm(op, a, b, c, form));
  Dims shape = {a.getShape()[form.transposesX],
                b.getShape()[!form.transposesY]};
  if (c && (c.getElemKind() != kind || llvm::expectedToOptional(broadcastShapes(
                                           {shape, c.getShape()})) != shape))
    return op.refuseInput(
        2, llvm::formatv("what broadcasts to {0}", Type(kind, shape).str()));
  return op.setOutput(0, makeGemm(op, a, b, c, form));
}

static OnnxOperator matMulOp("MatMul", 1, withExtents<importMatMul>);
static OnnxOperator gemmOp("Gemm", 1, withExtents<importGemm>);
