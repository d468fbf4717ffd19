//===- MatMul.cpp - Matrix products ---------------------------------------===//

#include "ONNX/MatMul.h"
#include "ONNX/Extents.h"

using namespace glowish;

/// A vector on the left is a row, one on the right a column; the dimension
/// that this adds is taken away from the result.
llvm::Expected<NodeValue> glowish::makeMatMul(OpContext &op, NodeValue lhs,
                                              NodeValue rhs) {
  bool isRow = lhs.getShape().size() == 1;
  bool isColumn = rhs.getShape().size() == 1;
  if (isRow) {
    GLOWISH_TRY(lhs, op.reshape(lhs, {1, lhs.getShape()[0]}));
  }
  if (isColumn) {
    GLOWISH_TRY(rhs, op.reshape(rhs, {rhs.getShape()[0], 1}));
  }
  GLOWISH_TRY(NodeValue result, op.create<MatMulNode>(lhs, rhs));
  Dims shape(result.getShape());
  if (isColumn)
    shape.pop_back();
  if (isRow)
    shape.erase(shape.end() - (isColumn ? 1 : 2));
  return op.reshape(result, shape);
}

/// Zeros for what is outside of the dimension that is summed over, in both.
static llvm::Error fillDepth(Composer &c, SizedValue &lhs, unsigned lhsDim,
                             SizedValue &rhs, unsigned rhsDim) {
  GLOWISH_CHECK(unify(c, lhs, lhsDim, rhs, rhsDim));
  lhs.value = fillOutside(c, lhs, {lhsDim}, 0);
  rhs.value = fillOutside(c, rhs, {rhsDim}, 0);
  return llvm::Error::success();
}

/// Brings the leading dimensions, which broadcast, to the same bounds; returns
/// the extents of the product's.
static llvm::Expected<Extents> alignBatches(Composer &c, SizedValue &lhs,
                                            SizedValue &rhs) {
  int64_t own = int64_t(lhs.getRank()) - 2, other = int64_t(rhs.getRank()) - 2;
  Extents extents;
  for (int64_t i = std::max<int64_t>({own, other, 0}); i > 0; --i) {
    int64_t x = own - i, y = other - i;
    bool hasX = x >= 0 && (lhs.isSized(x) || lhs.getShape()[x] != 1);
    bool hasY = y >= 0 && (rhs.isSized(y) || rhs.getShape()[y] != 1);
    if (hasX && hasY)
      GLOWISH_CHECK(unify(c, lhs, x, rhs, y));
    extents.push_back(hasX   ? lhs.getExtent(x)
                      : hasY ? rhs.getExtent(y)
                             : NodeValue());
  }
  return extents;
}

static llvm::Error importMatMul(OpContext &op) {
  GLOWISH_TRY(SizedValue lhs, getSizedInput(op, 0));
  GLOWISH_TRY(SizedValue rhs, getSizedInput(op, 1));
  if (!lhs.isSized() && !rhs.isSized())
    return op.setOutput(0, makeMatMul(op, lhs.value, rhs.value));
  unsigned rows = lhs.getRank(), columns = rhs.getRank();
  if (rows == 0 || columns == 0)
    return makeError("inputs are {0} and {1}; accepted: no scalars",
                     lhs.value.getType().str(), rhs.value.getType().str());
  Composer c(op);
  GLOWISH_CHECK(
      fillDepth(c, lhs, rows - 1, rhs, columns > 1 ? columns - 2 : 0));
  GLOWISH_TRY(Extents extents, alignBatches(c, lhs, rhs));
  if (rows > 1)
    extents.push_back(lhs.getExtent(rows - 2));
  if (columns > 1)
    extents.push_back(rhs.getExtent(columns - 1));
  GLOWISH_TRY(NodeValue left, c.finish(lhs.value));
  GLOWISH_TRY(NodeValue right, c.finish(rhs.value));
  GLOWISH_TRY(NodeValue result, makeMatMul(op, left, right));
  return setSizedOutput(op, c, 0, {result, extents});
}

/// Brings the dimensions of \p a and \p b, and of \p c, which broadcasts to the
/// product, to the same bounds.
static llvm::Expected<Extents> alignGemm(Composer &composer, SizedValue &a,
                                         SizedValue &b, SizedValue &c,
                                         bool transA, bool transB) {
  if (a.getRank() != 2 || b.getRank() != 2)
    return Extents();
  GLOWISH_CHECK(fillDepth(composer, a, !transA, b, transB));
  unsigned rank = c.value ? c.getRank() : 0;
  if (rank >= 1 && c.getShape()[rank - 1] != 1)
    GLOWISH_CHECK(unify(composer, c, rank - 1, b, !transB));
  if (rank >= 2 && c.getShape()[rank - 2] != 1)
    GLOWISH_CHECK(unify(composer, c, rank - 2, a, transA));
  return Extents{a.getExtent(transA), b.getExtent(!transB)};
}

static llvm::Error importGemm(OpContext &op) {
  GLOWISH_TRY(SizedValue a, getSizedInput(op, 0));
  GLOWISH_TRY(SizedValue b, getSizedInput(op, 1));
  SizedValue c = {op.getOptionalInput(2), op.getExtents(2)};
  // Before opset 7 it tells whether c may broadcast; that shows by itself.
  if (op.getOpset() < 7)
    op.ignoreAttrs({"broadcast"});
  GLOWISH_TRY(double alpha, op.getFloat("alpha", 1));
  GLOWISH_TRY(double beta, op.getFloat("beta", 1));
  GLOWISH_TRY(int64_t transA, op.getInt("transA", 0));
  GLOWISH_TRY(int64_t transB, op.getInt("transB", 0));
  Composer composer(op);
  GLOWISH_TRY(Extents extents,
              alignGemm(composer, a, b, c, transA != 0, transB != 0));
  GLOWISH_TRY(a.value, composer.finish(a.value));
  GLOWISH_TRY(NodeValue product,
              op.create<GemmNode>(a.value, b.value, c.value, alpha, beta,
                                  transA != 0, transB != 0));
  return setSizedOutput(op, composer, 0, {product, extents});
}

static OnnxOperator matMulOp("MatMul", 1, importMatMul);
static OnnxOperator gemmOp("Gemm", 1, importGemm);
