//===- Matrix.cpp - Tensors as matrices -----------------------------------===//

#include "Caffe2/Matrix.h"

using namespace glowish;
using namespace glowish::caffe2;

llvm::Expected<Matrix> caffe2::readMatrix(NetOp &op, unsigned index,
                                          llvm::StringRef axis) {
  NodeValue x = op.input(index);
  DimsRef shape = x.getShape();
  int64_t rank = int64_t(shape.size());
  int64_t at = op.getInt(axis, 1);
  at += at < 0 ? rank : 0;
  // The axis may equal the rank: there is one column then.
  if (at < 0 || at > rank)
    return makeError("argument '{0}' is {1}; accepted for rank {2}: {3} to {2}",
                     axis, op.getInt(axis, 1), rank, -rank);
  Matrix matrix;
  ExtentList extents(x.getType().getExtents());
  extents.resize(extents.empty() ? 0 : size_t(at));
  matrix.rows =
      x.getType().withShape(shape.take_front(at)).withExtents(extents);
  GLOWISH_ASSIGN_OR_RETURN(matrix.value,
                           op.finish(op.flattenAt(x, unsigned(at))));
  return matrix;
}

NodeValue Matrix::unflatten(NetOp &op, NodeValue result) const {
  if (!result)
    return result;
  Dims shape(rows.getShape());
  ExtentList extents(rows.getExtents());
  extents.resize(shape.size());
  shape.push_back(result.getShape()[1]);
  extents.emplace_back();
  if (const Extent *columns = result.getType().getExtent(1))
    extents.back() = *columns;
  return op.repack(result, rows.withShape(shape).withExtents(extents));
}
