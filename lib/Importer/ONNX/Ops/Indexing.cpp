//===- Indexing.cpp - Gather, scatter and sort ----------------------------===//

#include "ONNX/Ops/Indexing.h"
#include "ONNX/ShapeInts.h"
#include "glowish/Importer/OperatorNotes.h"
#include <cmath>

using namespace glowish;
using namespace glowish::onnximport;

/// Checks \p indices as an operand of GatherElements or ScatterElements.
static llvm::Error checkElementIndices(NodeValue data, NodeValue indices,
                                       int64_t axis) {
  ElemKind kind = indices.getElemKind();
  DimsRef shape = data.getShape(), picked = indices.getShape();
  bool fits = shape.size() == picked.size() &&
              (kind == ElemKind::Int32 || kind == ElemKind::Int64);
  for (unsigned d = 0; fits && d < shape.size(); ++d)
    fits = d == axis || picked[d] <= shape[d];
  if (fits)
    return llvm::Error::success();
  return makeError("input 1 is {0} for {1} and axis {2}; accepted: int32 or "
                   "int64 of the same rank, in other dimensions not larger",
                   indices.getType().str(), data.getType().str(), axis);
}

static llvm::Error importGatherElements(OpContext &op, DynamicValue data,
                                        DynamicValue indices) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.getAxis("axis", 0, data.getRank()));
  GLOWISH_RETURN_IF_ERROR(checkElementIndices(data.value, indices.value, axis));
  NodeValue wrapped = wrapDynamicIndices(op, indices.value, data, axis);
  return setDynamicOutput(
      op, 0, {gatherElements(op, data.value, wrapped, axis), indices.extents});
}

//===- GatherND and ScatterND ---------------------------------------------===//

namespace {
/// Tuples of indices into the leading dimensions of a tensor, as row numbers of
/// the matrix with these dimensions collapsed.
struct IndexTuples {
  NodeValue rows;       // one per tuple, in the shape of the tuples
  int64_t numRows, row; // rows of the matrix; elements per row
  Dims rowShape;
};
} // namespace

/// Reads \p indices [..., k] into the dimensions numBatch ... numBatch + k - 1
/// of \p data. The first numBatch dimensions of both are batch dimensions.
static llvm::Expected<IndexTuples> readTuples(OpContext &op,
                                              const DynamicValue &data,
                                              NodeValue indices,
                                              int64_t numBatch) {
  DimsRef shape = data.getShape();
  DimsRef tuples = indices.getShape();
  int64_t count = tuples.empty() ? 0 : tuples.back();
  if (tuples.empty() || numBatch < 0 || numBatch >= int64_t(tuples.size()) ||
      numBatch + count > int64_t(shape.size()) ||
      tuples.take_front(numBatch) != shape.take_front(numBatch) ||
      !isIntegerKind(indices.getElemKind()))
    return makeError("input 1 is {0} with {1} batch dimensions; accepted: "
                     "tuples of indices into {2}",
                     indices.getType().str(), numBatch, formatShape(shape));
  IndexTuples result;
  DimsRef indexed = shape.take_front(numBatch + count);
  result.rowShape = Dims(shape.drop_front(numBatch + count));
  result.numRows = countElements(indexed);
  result.row = countElements(result.rowShape);
  Dims strides = getDenseStrides(indexed);
  Dims flat(tuples.drop_back()), batch(flat.size(), 1);
  std::copy_n(flat.begin(), numBatch, batch.begin());
  result.rows = op.table(ElemKind::Int64, batch, [&](DimsRef index) {
    int64_t position = 0;
    for (int64_t d = 0; d < numBatch; ++d)
      position += index[d] * strides[d];
    return double(position);
  });
  for (int64_t i = 0; i < count; ++i) {
    NodeValue part =
        op.reshape(op.slice(indices, tuples.size() - 1, i, 1), flat);
    part = wrapDynamicIndices(op, part, data, numBatch + i);
    part = wrapIndices(op, part, indexed[numBatch + i]);
    result.rows =
        op.add(result.rows, op.mul(part, double(strides[numBatch + i])));
  }
  result.rows = op.broadcast(result.rows, flat);
  return result;
}

static llvm::Error importGatherND(OpContext &op, DynamicValue data,
                                  DynamicValue indices) {
  int64_t numBatch = op.getInt("batch_dims", 0);
  // Whether the attribute is in range, readTuples checks.
  int64_t maxBatch = std::min(data.getRank(), indices.getRank());
  for (int64_t d = 0; d < std::min(numBatch, maxBatch); ++d)
    GLOWISH_RETURN_IF_ERROR(unify(op, data, d, indices, d));
  if (op.hasFailed())
    return op.setOutput(0, {});
  GLOWISH_ASSIGN_OR_RETURN(IndexTuples tuples,
                           readTuples(op, data, indices.value, numBatch));
  NodeValue matrix = op.reshape(data.value, {tuples.numRows, tuples.row});
  Dims shape(indices.getShape().drop_back());
  Extents extents = indices.extents;
  extents.resize(shape.size());
  shape.append(tuples.rowShape);
  for (unsigned d = data.getRank() - tuples.rowShape.size(); d < data.getRank();
       ++d)
    extents.push_back(data.getExtent(d));
  return setDynamicOutput(
      op, 0, {op.reshape(op.gather(matrix, tuples.rows, 0), shape), extents});
}

/// Translates ONNX's reduction to the mode of Scatter.
static llvm::Expected<std::string> readReduction(OpContext &op) {
  std::string reduction = op.getString("reduction", "none");
  if (reduction == "none")
    return "replace";
  if (reduction != "add" && reduction != "mul" && reduction != "max" &&
      reduction != "min")
    return makeError("attribute 'reduction' is '{0}'; accepted: none, add, "
                     "mul, max, min",
                     reduction);
  return reduction;
}

/// Replaces rows by the out of range index \p outside beyond the actual extents
/// of \p indices, so that nothing is scattered there. The first \p count
/// dimensions of \p indices are those of the updates.
static llvm::Expected<NodeValue> dropOutside(OpContext &op, NodeValue rows,
                                             const DynamicValue &indices,
                                             unsigned count, int64_t outside) {
  DynamicValue frame = {rows, indices.extents};
  if (frame.isDynamic())
    frame.extents.truncate(count);
  return op.finish(fillOutside(op, frame, getAllDims(count), double(outside)));
}

/// Gives indices and updates the same bounds.
static llvm::Error unifyUpdates(OpContext &op, DynamicValue &indices,
                                DynamicValue &updates, unsigned count) {
  for (unsigned d = 0; d < count; ++d)
    if (d < indices.getRank() && d < updates.getRank())
      GLOWISH_RETURN_IF_ERROR(unify(op, indices, d, updates, d));
  if (op.hasFailed())
    return op.finish({}).takeError();
  return llvm::Error::success();
}

/// Unifies dimensions that are not indexed with those of \p data.
static llvm::Error unifyRows(OpContext &op, DynamicValue &data,
                             DynamicValue &updates, unsigned first,
                             unsigned skipped) {
  for (unsigned d = first; d < updates.getRank(); ++d)
    if (updates.isDynamic(d) && d - first + skipped < data.getRank())
      GLOWISH_RETURN_IF_ERROR(unify(op, updates, d, data, d - first + skipped));
  return llvm::Error::success();
}

static llvm::Error importScatterND(OpContext &op, DynamicValue data,
                                   DynamicValue indices, DynamicValue updates) {
  GLOWISH_ASSIGN_OR_RETURN(std::string mode, readReduction(op));
  unsigned count = std::max(1u, indices.getRank()) - 1;
  GLOWISH_RETURN_IF_ERROR(unifyUpdates(op, indices, updates, count));
  if (indices.getRank() > 0)
    GLOWISH_RETURN_IF_ERROR(
        unifyRows(op, data, updates, count, indices.getShape().back()));
  GLOWISH_ASSIGN_OR_RETURN(data.value, op.finish(data.value));
  GLOWISH_ASSIGN_OR_RETURN(IndexTuples tuples,
                           readTuples(op, data, indices.value, /*numBatch=*/0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue rows, dropOutside(op, tuples.rows, indices,
                                                       count, tuples.numRows));
  return setDynamicOutput(op, 0,
                          {scatterRows(op, data.value, rows, updates.value,
                                       {tuples.numRows, tuples.row}, mode),
                           data.extents});
}

static llvm::Error importScatterElements(OpContext &op, DynamicValue data,
                                         DynamicValue indices,
                                         DynamicValue updates) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.getAxis("axis", 0, data.getRank()));
  GLOWISH_ASSIGN_OR_RETURN(std::string mode, readReduction(op));
  GLOWISH_RETURN_IF_ERROR(
      unifyUpdates(op, indices, updates, indices.getRank()));
  GLOWISH_RETURN_IF_ERROR(checkElementIndices(data.value, indices.value, axis));
  NodeValue wrapped = wrapDynamicIndices(op, indices.value, data, axis);
  NodeValue rows = getElementPositions(op, data.getShape(), wrapped, axis);
  int64_t total = data.value.getType().getNumElements();
  GLOWISH_ASSIGN_OR_RETURN(rows, op.finish(rows));
  GLOWISH_ASSIGN_OR_RETURN(
      rows, dropOutside(op, rows, indices, indices.getRank(), total));
  return setDynamicOutput(
      op, 0,
      {scatterRows(op, data.value, rows, updates.value, {total, 1}, mode),
       data.extents});
}

/// Replaces slices of a cache from a start index per batch element on. Mode
/// circular wraps around at the end.
static llvm::Error importTensorScatter(OpContext &op, NodeValue cache,
                                       NodeValue update) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis,
                           op.getAxis("axis", -2, cache.getShape().size()));
  std::string mode = op.getString("mode", "linear");
  DimsRef shape = cache.getShape(), part = update.getShape();
  if (axis == 0 || part.size() != shape.size() ||
      (mode != "linear" && mode != "circular"))
    return makeError("inputs are {0} and {1}, axis {2}, mode '{3}'; accepted: "
                     "tensors of one rank, another axis than 0, modes linear "
                     "and circular",
                     cache.getType().str(), update.getType().str(), axis, mode);
  unsigned rank = shape.size();
  if (shape[0] == 1 && mode == "linear" && op.hasInput(2)) {
    // One slice, which a state can take in place.
    GLOWISH_ASSIGN_OR_RETURN(NodeValue starts, op.getInput(2));
    NodeValue start = op.reshape(op.cast(starts, ElemKind::Int64), {});
    return op.setOutput(
        0, op.make<DynamicUpdateSliceNode>(cache, update, start, axis));
  }
  NodeValue index = op.iota(ElemKind::Int64, rank, axis, part[axis]);
  if (op.hasInput(2)) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue starts, op.getInput(2));
    Dims aligned(rank, 1);
    aligned[0] = shape[0];
    index =
        op.add(index, op.reshape(op.cast(starts, ElemKind::Int64), aligned));
  }
  if (mode == "circular") {
    NodeValue rounds =
        op.mul(op.div(index, double(shape[axis])), double(shape[axis]));
    index = op.sub(index, rounds);
  }
  index = op.broadcast(index, part);
  if (op.hasFailed())
    return op.setOutput(0, index);
  NodeValue rows = getElementPositions(op, shape, index, axis);
  return op.setOutput(0, scatterRows(op, cache, rows, update,
                                     {cache.getType().getNumElements(), 1},
                                     "replace"));
}

//===- Sorting and reversing ----------------------------------------------===//

/// The count is an attribute before opset 10.
static llvm::Expected<ShapeInt> readTopKCount(OpContext &op) {
  if (op.hasInput(1))
    return readShapeInt(op, 1);
  int64_t count = op.getInt("k", 0);
  return makeShapeInt(count);
}

static llvm::Error importTopK(OpContext &op, DynamicValue x) {
  int64_t rank = x.getRank();
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.getAxis("axis", -1, rank));
  int64_t largest = op.getInt("largest", 1);
  // An unsorted result may be in any order.
  op.ignoreAttrs({"sorted"});
  GLOWISH_ASSIGN_OR_RETURN(ShapeInt number, readTopKCount(op));
  int64_t count = number.getConstant(), extent = x.getShape()[axis];
  // NaN is the greatest, and the first of equal elements comes first.
  double most = isFloatKind(x.value.getElemKind())
                    ? std::numeric_limits<double>::quiet_NaN()
                    : HUGE_VAL;
  x.value = fillOutside(op, x, {axis}, largest ? -HUGE_VAL : most);
  x.setExtent(axis, {});
  if (!number.isConstant()) {
    count = int64_t(std::clamp(number.high, 0.0, double(extent)));
    x.setExtent(axis, makeExtent(op, number.value, count));
  }
  TopElements top = takeTop(op, x.value, axis, count, largest != 0);
  GLOWISH_RETURN_IF_ERROR(setDynamicOutput(op, 0, {top.values, x.extents}));
  return setDynamicOutput(op, 1, {top.indices, x.extents});
}

/// Reverses the first elements of each sequence, as many as its length.
static llvm::Error importReverseSequence(OpContext &op, NodeValue input,
                                         NodeValue lengths) {
  int64_t timeAxis = op.getInt("time_axis", 0);
  int64_t batchAxis = op.getInt("batch_axis", 1);
  DimsRef shape = input.getShape();
  bool isTimeFirst = timeAxis == 0 && batchAxis == 1;
  if (shape.size() < 2 || (!isTimeFirst && (timeAxis != 1 || batchAxis != 0)))
    return makeError("input 0 is {0}, 'time_axis' {1} and 'batch_axis' {2}; "
                     "accepted: rank 2 or more, the axes 0 and 1",
                     input.getType().str(), timeAxis, batchAxis);
  Dims aligned(2, 1), steps(shape.take_front(2));
  aligned[batchAxis] = shape[batchAxis];
  NodeValue length = op.reshape(op.cast(lengths, ElemKind::Int64), aligned);
  NodeValue step = op.iota(ElemKind::Int64, 2, timeAxis, shape[timeAxis]);
  NodeValue backward = op.sub(op.sub(length, step), 1);
  NodeValue source =
      op.broadcast(op.select(op.less(step, length), backward, step), steps);
  if (op.hasFailed())
    return op.setOutput(0, source);
  NodeValue rows = getElementPositions(op, steps, source, timeAxis);
  int64_t numRows = countElements(steps);
  NodeValue matrix =
      op.reshape(input, {numRows, countElements(shape.drop_front(2))});
  return op.setOutput(0, op.reshape(op.gather(matrix, rows, 0), shape));
}

static OnnxOperator gatherElementsOp("GatherElements", 11,
                                     importGatherElements);
static OnnxOperator gatherNDOp("GatherND", 11, importGatherND);
static OnnxOperator scatterNDOp("ScatterND", 11, importScatterND);
static OnnxOperator scatterElementsOp("ScatterElements", 11,
                                      importScatterElements);
static OnnxOperator scatterOp("Scatter", 9, importScatterElements);
static OnnxOperatorNotes scatterNotes("Scatter", {.until = 10});
static OnnxOperator tensorScatterOp("TensorScatter", 24, importTensorScatter);
static OnnxOperator topKOp("TopK", 1, importTopK);
static OnnxOperator reverseSequenceOp("ReverseSequence", 10,
                                      importReverseSequence);
