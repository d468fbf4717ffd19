//===- MatMul.cpp - Matrix multiplication ---------------------------------===//

#include "ONNX/MatMul.h"
#include "Common/MatMul.h"
#include "ONNX/DynamicDims.h"

using namespace glowish;
using namespace glowish::onnximport;

llvm::Expected<NodeValue> onnximport::makeMatMul(OpContext &op, NodeValue lhs,
                                                 NodeValue rhs) {
  Composer c(op);
  return c.finish(makeMatMul(c, lhs, rhs));
}

/// Zeros both operands beyond the actual extent of the contracted dimension.
static llvm::Error fillDepth(Composer &c, DynamicValue &lhs, unsigned lhsDim,
                             DynamicValue &rhs, unsigned rhsDim) {
  GLOWISH_RETURN_IF_ERROR(unify(c, lhs, lhsDim, rhs, rhsDim));
  lhs.value = fillOutside(c, lhs, {lhsDim}, 0);
  rhs.value = fillOutside(c, rhs, {rhsDim}, 0);
  return llvm::Error::success();
}

/// Unifies the leading dimensions, which broadcast; returns the extents of
/// those of the result.
static llvm::Expected<Extents> unifyBatches(Composer &c, DynamicValue &lhs,
                                            DynamicValue &rhs) {
  int64_t own = int64_t(lhs.getRank()) - 2, other = int64_t(rhs.getRank()) - 2;
  Extents extents;
  for (int64_t i = std::max<int64_t>({own, other, 0}); i > 0; --i) {
    int64_t x = own - i, y = other - i;
    bool hasX = x >= 0 && (lhs.isDynamic(x) || lhs.getShape()[x] != 1);
    bool hasY = y >= 0 && (rhs.isDynamic(y) || rhs.getShape()[y] != 1);
    if (hasX && hasY)
      GLOWISH_RETURN_IF_ERROR(unify(c, lhs, x, rhs, y));
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
  Composer c(op);
  GLOWISH_RETURN_IF_ERROR(
      fillDepth(c, lhs, rows - 1, rhs, columns > 1 ? columns - 2 : 0));
  GLOWISH_ASSIGN_OR_RETURN(Extents extents, unifyBatches(c, lhs, rhs));
  if (rows > 1)
    extents.push_back(lhs.getExtent(rows - 2));
  if (columns > 1)
    extents.push_back(rhs.getExtent(columns - 1));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue left, c.finish(lhs.value));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue right, c.finish(rhs.value));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue result, makeMatMul(op, left, right));
  return setDynamicOutput(op, c, 0, {result, extents});
}

/// Unifies the dimensions of \p a, \p b and \p c, which broadcasts to the
/// result; returns the extents of the result.
static llvm::Expected<Extents> unifyGemm(Composer &composer, DynamicValue &a,
                                         DynamicValue &b, DynamicValue &c,
                                         bool transA, bool transB) {
  if (a.getRank() != 2 || b.getRank() != 2)
    return Extents();
  GLOWISH_RETURN_IF_ERROR(fillDepth(composer, a, !transA, b, transB));
  unsigned rank = c.value ? c.getRank() : 0;
  if (rank >= 1 && c.getShape()[rank - 1] != 1)
    GLOWISH_RETURN_IF_ERROR(unify(composer, c, rank - 1, b, !transB));
  if (rank >= 2 && c.getShape()[rank - 2] != 1)
    GLOWISH_RETURN_IF_ERROR(unify(composer, c, rank - 2, a, transA));
  return Extents{a.getExtent(transA), b.getExtent(!transB)};
}

/// Whether \p a times \p b, or its transpose, plus \p c is a fully connected
/// layer. Weights that are variables of a training, or computed, stay Gemm's,
/// which may read them transposed.
static bool isFullyConnected(const DynamicValue &a, const DynamicValue &b,
                             const DynamicValue &c, bool transB) {
  return llvm::isa<Constant>(b.value.node) && a.getRank() == 2 &&
         b.getRank() == 2 && c.value &&
         c.getShape() == b.getShape().slice(transB ? 0 : 1, 1);
}

static llvm::Error importGemm(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(DynamicValue a, getDynamicInput(op, 0));
  GLOWISH_ASSIGN_OR_RETURN(DynamicValue b, getDynamicInput(op, 1));
  DynamicValue c = {op.getOptionalInput(2), op.getExtents(2)};
  // States before opset 7 whether c broadcasts, which its shape implies.
  if (op.getOpset() < 7)
    op.ignoreAttrs({"broadcast"});
  GLOWISH_ASSIGN_OR_RETURN(double alpha, op.getFloat("alpha", 1));
  GLOWISH_ASSIGN_OR_RETURN(double beta, op.getFloat("beta", 1));
  GLOWISH_ASSIGN_OR_RETURN(int64_t transA, op.getInt("transA", 0));
  GLOWISH_ASSIGN_OR_RETURN(int64_t transB, op.getInt("transB", 0));
  Composer composer(op);
  GLOWISH_ASSIGN_OR_RETURN(
      Extents extents, unifyGemm(composer, a, b, c, transA != 0, transB != 0));
  GLOWISH_ASSIGN_OR_RETURN(a.value, composer.finish(a.value));
  NodeValue result =
      alpha == 1 && beta == 1 && !transA && isFullyConnected(a, b, c, transB)
          ? makeFullyConnected(
                composer, a.value,
                transB ? composer.transposeLast(b.value) : b.value, c.value)
          : composer.make<GemmNode>(a.value, b.value, c.value, alpha, beta,
                                    transA != 0, transB != 0);
  GLOWISH_ASSIGN_OR_RETURN(result, composer.finish(result));
  return setDynamicOutput(op, composer, 0, {result, extents});
}

static OnnxOperator matMulOp("MatMul", 1, importMatMul);
static OnnxOperator gemmOp("Gemm", 1, importGemm);
