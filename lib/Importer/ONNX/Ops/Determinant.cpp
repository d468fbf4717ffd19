//===- Determinant.cpp - Determinants by Gaussian elimination -------------===//

#include "ONNX/Extents.h"
#include "glowish/Importer/OperatorNotes.h"

using namespace glowish;
using namespace glowish::onnximport;

/// Each row is unrolled.
static constexpr int64_t maxRows = 256;

namespace {
/// Square matrices [batch, rows, rows] during Gaussian elimination.
struct Elimination {
  NodeValue matrices;    // the remaining submatrices
  NodeValue determinant; // [batch], of the eliminated rows and columns
};
} // namespace

/// Eliminates the first column and its pivot row, that of the largest element.
/// The pivot is a factor of the determinant, negated if the rows have to be
/// swapped.
static void eliminate(OpContext &op, Elimination &e, int64_t rows) {
  int64_t batch = e.matrices.getShape()[0];
  NodeValue column = op.reshape(op.slice(e.matrices, 2, 0, 1), {batch, rows});
  NodeValue index = op.make<ArgMaxNode>(op.unary<AbsNode>(column), 1,
                                        /*keepDims=*/true,
                                        /*selectLast=*/false);
  NodeValue isPivot =
      op.unsqueeze(op.equal(op.iota(ElemKind::Int64, 2, 1, rows), index), 2);
  // All but one of the rows are zeros, so the sum is exact.
  NodeValue pivotRow =
      op.reduce(op.select(isPivot, e.matrices, op.number(e.matrices, 0)), "sum",
                {1}, /*keepDims=*/true);
  NodeValue pivot = op.reshape(op.slice(pivotRow, 2, 0, 1), {batch});
  NodeValue isFirst = op.equal(op.reshape(index, {batch}), 0);
  NodeValue factor = op.select(isFirst, pivot, op.unary<NegNode>(pivot));
  e.determinant = e.determinant ? op.mul(e.determinant, factor) : factor;
  if (rows == 1 || op.hasFailed())
    return;
  // Move the first row to that of the pivot.
  NodeValue rest =
      op.select(isPivot, op.slice(e.matrices, 1, 0, 1), e.matrices);
  rest = op.slice(rest, 1, 1, rows - 1);
  // If the pivot is 0, the column is 0 already.
  NodeValue divisor = op.reshape(
      op.select(op.equal(pivot, 0), op.number(pivot, 1), pivot), {batch, 1, 1});
  NodeValue ratio = op.div(op.slice(rest, 2, 0, 1), divisor);
  e.matrices = op.sub(op.slice(rest, 2, 1, rows - 1),
                      op.mul(ratio, op.slice(pivotRow, 2, 1, rows - 1)));
}

static llvm::Error importDet(OpContext &op, NodeValue input) {
  DimsRef shape = input.getShape();
  if (shape.size() < 2 || shape.back() != shape[shape.size() - 2] ||
      shape.back() > maxRows || !isFloatKind(input.getElemKind()))
    return op.refuseInput(
        0,
        llvm::formatv("square matrices of a float kind with at most {0} rows",
                      maxRows));
  const Type &type = input.getType();
  if (type.getExtent(type.getRank() - 1) || type.getExtent(type.getRank() - 2))
    return makeError("input 0 is {0}; accepted: matrices of as many rows in "
                     "each run",
                     type.str());
  DimsRef outer = shape.drop_back(2);
  int64_t rows = shape.back();
  if (rows == 0)
    return op.setOutput(0, op.splat(input.getElemKind(), outer, 1));
  Elimination e;
  e.matrices = op.reshape(input, {countElements(outer), rows, rows});
  for (; rows > 0 && !op.hasFailed(); --rows)
    eliminate(op, e, rows);
  return op.setOutput(0, op.reshape(e.determinant, outer));
}

static OnnxOperator detOp("Det", 11, withExtents<importDet>);
static OnnxOperatorNotes detNotes("Det", {.limit = "at most 256 rows"});
