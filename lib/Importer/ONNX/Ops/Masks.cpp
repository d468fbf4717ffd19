//===- Masks.cpp - Trilu, EyeLike and OneHot ------------------------------===//

#include "Common/Positions.h"
#include "ONNX/Extents.h"
#include "ONNX/ModelFile.h"
#include <cmath>

using namespace glowish;
using namespace glowish::onnximport;

/// Keeps the upper or lower triangle of matrices and zeros the rest. Diagonal k
/// is k above the main one.
static llvm::Error importTrilu(OpContext &op, NodeValue input) {
  int64_t upper = op.getInt("upper", 1);
  int64_t k = 0;
  if (op.hasInput(1)) {
    GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> values,
                             op.getConstantInts(1));
    if (values.size() != 1)
      return makeError("input 1 has {0} elements; accepted: 1", values.size());
    // Beyond any matrix, without overflow.
    k = std::clamp<int64_t>(values[0], -maxTensorBytes, maxTensorBytes);
  }
  if (input.getShape().size() < 2)
    return op.refuseInput(0, "rank 2 or more");
  return op.setOutput(0, keepTriangle(op, input, k, /*isLower=*/upper == 0));
}

/// A matrix with 1 on diagonal k, of the input's shape.
static llvm::Error importEyeLike(OpContext &op, NodeValue input) {
  int64_t k = op.getInt("k", 0);
  ElemKind kind = input.getElemKind();
  if (op.hasAttr("dtype")) {
    int64_t type = op.getInt("dtype", 0);
    GLOWISH_ASSIGN_OR_RETURN(kind, getElemKind(type));
  }
  if (input.getShape().size() != 2)
    return op.refuseInput(0, "rank 2");
  k = std::clamp<int64_t>(k, -maxTensorBytes, maxTensorBytes);
  NodeValue ones = op.table(kind, input.getShape(), [&](DimsRef index) {
    return double(index[1] == index[0] + k);
  });
  return op.setOutput(0,
                      op.declareExtents(ones, input.getType().withKind(kind)));
}

/// Expands indices along a new dimension: `values[1]` at the index, `values[0]`
/// elsewhere. Negative indices count from the end; indices out of range select
/// nothing.
static llvm::Error importOneHot(OpContext &op, NodeValue indices) {
  GLOWISH_ASSIGN_OR_RETURN(double depth, op.getConstantNumber(1));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue values, op.getInput(2));
  GLOWISH_ASSIGN_OR_RETURN(
      int64_t axis, op.getAxis("axis", -1, indices.getShape().size() + 1));
  ElemKind kind = indices.getElemKind();
  if (!(depth >= 1 && depth < double(INT32_MAX)))
    return makeError("the depth is {0}; accepted: at least 1", depth);
  if (values.getShape() != DimsRef{2})
    return op.refuseInput(2, "two elements");
  GLOWISH_RETURN_IF_ERROR(checkShape(kind, {int64_t(depth)}));
  NodeValue wanted = op.select(op.less(indices, 0),
                               op.add(indices, std::floor(depth)), indices);
  NodeValue isHere = makeOneHot(op, wanted, axis, int64_t(depth));
  NodeValue off = op.reshape(op.slice(values, 0, 0, 1), {});
  NodeValue on = op.reshape(op.slice(values, 0, 1, 1), {});
  return op.setOutput(0, op.select(isHere, on, off));
}

static OnnxOperator triluOp("Trilu", 14, withExtents<importTrilu>);
static OnnxOperator eyeLikeOp("EyeLike", 9, withExtents<importEyeLike>);
static OnnxOperator oneHotOp("OneHot", 9, withExtents<importOneHot>);
