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

/// \p position: the numbers of the elements, [count, 1].
static NodeValue countEndsBefore(NetOp &op, NodeValue ends,
                                 NodeValue position) {
  if (!ends || !position)
    return {};
  NodeValue row = op.reshape(ends, {1, ends.getShape()[0]});
  NodeValue isBehind = op.lessOrEqual(row, position);
  return op.reduce(op.cast(isBehind, ElemKind::Int64), "sum", {1}, false);
}

NodeValue caffe2::makeSegments(NetOp &op, NodeValue ends, int64_t count) {
  return countEndsBefore(op, ends, op.iota(ElemKind::Int64, 2, 0, count));
}

NodeValue caffe2::makeSegments(NetOp &op, NodeValue ends, NodeValue elements) {
  if (!elements)
    return elements;
  NodeValue position = op.iota(ElemKind::Int64, 2, 0, elements.getShape()[0]);
  return countEndsBefore(op, ends, declareRows(op, position, elements));
}

NodeValue caffe2::flattenRows(NetOp &op, NodeValue x) {
  return op.flattenAt(x, 1);
}

NodeValue caffe2::declareExtent(NetOp &op, NodeValue x, unsigned dim,
                                const Extent *extent) {
  if (!x || !extent)
    return x;
  ExtentList extents(x.getType().getExtents());
  extents.resize(x.getType().getRank());
  extents[dim] = *extent;
  return op.declareExtents(x, x.getType().withExtents(extents));
}

NodeValue caffe2::declareRows(NetOp &op, NodeValue x, NodeValue like) {
  return declareExtent(op, x, 0, like.getType().getExtent(0));
}

NodeValue caffe2::scatterRows(NetOp &op, NodeValue input, NodeValue indices,
                              NodeValue updates, llvm::StringRef mode) {
  if (!input || !indices || !updates)
    return {};
  NodeValue result = op.make<ScatterNode>(flattenRows(op, input), indices,
                                          flattenRows(op, updates), mode);
  return op.repack(result, input.getType());
}

NodeValue caffe2::sumSegments(NetOp &op, NodeValue rows, NodeValue segments,
                              NodeValue lists) {
  if (!rows)
    return rows;
  Dims shape(rows.getShape());
  shape[0] = lists.getShape()[0];
  ExtentList extents(rows.getType().getExtents());
  extents.resize(shape.size());
  extents[0].reset();
  if (const Extent *own = lists.getType().getExtent(0))
    extents[0] = *own;
  NodeValue zeros =
      op.splatLike(rows.getElemKind(),
                   rows.getType().withShape(shape).withExtents(extents), 0);
  return scatterRows(op, zeros, segments, rows, "add");
}
