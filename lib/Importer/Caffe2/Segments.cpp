//===- Segments.cpp - Ragged lists ----------------------------------------===//

#include "Caffe2/Segments.h"

using namespace glowish;
using namespace glowish::caffe2;

llvm::Error caffe2::checkIndexList(NetOp &op, unsigned index) {
  GLOWISH_RETURN_IF_ERROR(op.checkIntegers(index));
  return op.checkRank(index, 1);
}

NodeValue caffe2::makeEnds(NetOp &op, NodeValue lengths) {
  return op.cumSum(op.cast(lengths, ElemKind::Int64), 0);
}

NodeValue caffe2::makeSegments(NetOp &op, NodeValue ends, int64_t count) {
  NodeValue position = op.iota(ElemKind::Int64, 2, 0, count);
  if (!ends || !position)
    return {};
  NodeValue row = op.reshape(ends, {1, ends.getShape()[0]});
  NodeValue isBehind = op.lessOrEqual(row, position);
  return op.reduce(op.cast(isBehind, ElemKind::Int64), "sum", {1}, false);
}

NodeValue caffe2::flattenRows(NetOp &op, NodeValue x) {
  if (!x)
    return x;
  DimsRef shape = x.getShape();
  return op.reshape(x, {shape[0], countElements(shape.drop_front())});
}

NodeValue caffe2::scatterRows(NetOp &op, NodeValue input, NodeValue indices,
                              NodeValue updates, llvm::StringRef mode) {
  if (!input || !indices || !updates)
    return {};
  NodeValue result = op.make<ScatterNode>(flattenRows(op, input), indices,
                                          flattenRows(op, updates), mode);
  return op.reshape(result, input.getShape());
}

NodeValue caffe2::sumSegments(NetOp &op, NodeValue rows, NodeValue segments,
                              int64_t numLists) {
  if (!rows)
    return rows;
  Dims shape(rows.getShape());
  shape[0] = numLists;
  NodeValue zeros = op.splat(rows.getElemKind(), shape, 0);
  return scatterRows(op, zeros, segments, rows, "add");
}
