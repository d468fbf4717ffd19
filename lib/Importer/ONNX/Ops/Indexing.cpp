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

static llvm::Error importGatherElements(OpContext &op, NodeValue data,
                                        NodeValue indices) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis,
                           op.getAxis("axis", 0, data.getType().getRank()));
  GLOWISH_RETURN_IF_ERROR(checkElementIndices(data, indices, axis));
  return op.setOutput(0, gatherElements(op, data, indices, axis));
}

//===- GatherND and ScatterND ---------------------------------------------===//

namespace {
/// Tuples of indices into the leading dimensions of a tensor, as row numbers of
/// the matrix with these dimensions collapsed.
struct IndexTuples {
  NodeValue rows;      // one per tuple, in the shape of the tuples
  unsigned numIndexed; // dimensions that are collapsed
  ScatteredRows matrix;
};
} // namespace

/// Reads \p indices [..., k] into the dimensions numBatch ... numBatch + k - 1
/// of \p data. The first numBatch dimensions of both are batch dimensions.
static llvm::Expected<IndexTuples>
readTuples(OpContext &op, NodeValue data, NodeValue indices, int64_t numBatch) {
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
  int64_t last = int64_t(tuples.size()) - 1;
  if (indices.getType().getExtent(last))
    return makeError("a run decides how many indices a tuple has; accepted: a "
                     "known number");
  IndexTuples result;
  result.numIndexed = numBatch + count;
  DimsRef indexed = shape.take_front(result.numIndexed);
  result.matrix = {countElements(indexed),
                   countElements(shape.drop_front(result.numIndexed))};
  Dims strides = getDenseStrides(indexed);
  Dims flat(tuples.drop_back()), batch(flat.size(), 1);
  std::copy_n(flat.begin(), numBatch, batch.begin());
  result.rows = op.table(ElemKind::Int64, batch, [&](DimsRef index) {
    int64_t position = 0;
    for (int64_t d = 0; d < numBatch; ++d)
      position += index[d] * strides[d];
    return double(position);
  });
  NodeValue all = op.dropExtents(indices);
  for (int64_t i = 0; i < count; ++i) {
    int64_t d = numBatch + i;
    NodeValue part = op.reshape(op.slice(all, last, i, 1), flat);
    part = wrapIndices(op, part, data.getType(), d);
    result.rows = op.add(result.rows, op.mul(part, double(strides[d])));
  }
  NodeValue rows = op.broadcast(result.rows, flat);
  GLOWISH_ASSIGN_OR_RETURN(rows, op.finish(rows));
  ExtentList extents(indices.getType().getExtents());
  if (!extents.empty())
    extents.pop_back();
  result.rows = restateExtents(op, rows, extents);
  return result;
}

/// Aligns the first \p count dimensions of \p x and \p y, as far as both have
/// them.
static llvm::Error alignFirst(OpContext &op, NodeValue &x, NodeValue &y,
                              int64_t count) {
  size_t common = std::min(x.getShape().size(), y.getShape().size());
  for (unsigned d = 0; d < std::min(int64_t(common), count); ++d)
    GLOWISH_RETURN_IF_ERROR(align(op, x, d, y, d));
  return op.takeError();
}

static llvm::Error importGatherND(OpContext &op, NodeValue data,
                                  NodeValue indices) {
  int64_t numBatch = op.getInt("batch_dims", 0);
  // Whether the attribute is in range, readTuples checks.
  GLOWISH_RETURN_IF_ERROR(alignFirst(op, data, indices, numBatch));
  GLOWISH_ASSIGN_OR_RETURN(IndexTuples tuples,
                           readTuples(op, data, indices, numBatch));
  return op.setOutput(0, gatherRows(op, data, tuples.rows, tuples.numIndexed));
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

/// Aligns the dimensions of \p updates from \p first on, the rows that they
/// replace, with the last ones of \p data.
static llvm::Error alignRows(OpContext &op, NodeValue &data, NodeValue &updates,
                             unsigned first, int64_t numIndexed) {
  int64_t rank = int64_t(data.getShape().size());
  unsigned end = updates.getShape().size();
  for (unsigned d = first; d < end; ++d)
    if (d - first + numIndexed < rank)
      GLOWISH_RETURN_IF_ERROR(
          align(op, updates, d, data, d - first + numIndexed));
  return op.takeError();
}

static llvm::Error importScatterND(OpContext &op, NodeValue data,
                                   NodeValue indices, NodeValue updates) {
  GLOWISH_ASSIGN_OR_RETURN(std::string mode, readReduction(op));
  unsigned count = std::max<size_t>(1, indices.getShape().size()) - 1;
  GLOWISH_RETURN_IF_ERROR(alignFirst(op, indices, updates, count));
  if (!indices.getShape().empty())
    GLOWISH_RETURN_IF_ERROR(
        alignRows(op, data, updates, count, indices.getShape().back()));
  GLOWISH_ASSIGN_OR_RETURN(IndexTuples tuples,
                           readTuples(op, data, indices, /*numBatch=*/0));
  return op.setOutput(
      0, scatterRows(op, data, tuples.rows, updates, tuples.matrix, mode));
}

static llvm::Error importScatterElements(OpContext &op, NodeValue data,
                                         NodeValue indices, NodeValue updates) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis,
                           op.getAxis("axis", 0, data.getType().getRank()));
  GLOWISH_ASSIGN_OR_RETURN(std::string mode, readReduction(op));
  GLOWISH_RETURN_IF_ERROR(
      alignFirst(op, indices, updates, indices.getType().getRank()));
  GLOWISH_RETURN_IF_ERROR(checkElementIndices(data, indices, axis));
  NodeValue rows = getElementPositions(op, data.getType(), indices, axis);
  return op.setOutput(0,
                      scatterRows(op, data, rows, updates,
                                  {data.getType().getNumElements(), 1}, mode));
}

/// Replaces slices of a cache from a start index per batch element on. Mode
/// circular wraps around at the end.
static llvm::Error importTensorScatter(OpContext &op, NodeValue cache,
                                       NodeValue update) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis,
                           op.getAxis("axis", -2, cache.getShape().size()));
  std::string mode = op.getString("mode", "linear");
  if (axis == 0 || update.getShape().size() != cache.getShape().size() ||
      (mode != "linear" && mode != "circular"))
    return makeError("inputs are {0} and {1}, axis {2}, mode '{3}'; accepted: "
                     "tensors of one rank, another axis than 0, modes linear "
                     "and circular",
                     cache.getType().str(), update.getType().str(), axis, mode);
  unsigned rank = cache.getShape().size();
  for (unsigned d = 0; d < rank; ++d)
    if (d != axis)
      GLOWISH_RETURN_IF_ERROR(align(op, cache, d, update, d));
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  DimsRef shape = cache.getShape(), part = update.getShape();
  NodeValue starts = op.input(2);
  if (shape[0] == 1 && mode == "linear" && starts &&
      !update.getType().getExtent(axis)) {
    // One slice, which a state can take in place.
    NodeValue start = op.reshape(op.cast(starts, ElemKind::Int64), {});
    return op.setOutput(
        0, op.make<DynamicUpdateSliceNode>(cache, update, start, axis));
  }
  NodeValue index = op.iota(ElemKind::Int64, rank, axis, part[axis]);
  if (starts) {
    Dims aligned(rank, 1);
    aligned[0] = shape[0];
    starts = op.dropExtents(op.cast(starts, ElemKind::Int64));
    index = op.add(index, op.reshape(starts, aligned));
  }
  if (mode == "circular") {
    NodeValue rounds = op.mul(op.div(index, op.getLength(cache, axis)),
                              op.getLength(cache, axis));
    index = op.sub(index, rounds);
  }
  index = op.broadcast(index, part);
  if (op.hasFailed())
    return op.setOutput(0, index);
  NodeValue rows = getElementPositions(op, cache.getType(), index, axis);
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

/// Returns \p x with its bound as the extent of dimension \p axis, filled up
/// with elements that come last in the order.
static NodeValue fillUnordered(OpContext &op, NodeValue x, int64_t axis,
                               bool largest) {
  // NaN is the greatest, and the first of equal elements comes first.
  double most = isFloatKind(x.getElemKind())
                    ? std::numeric_limits<double>::quiet_NaN()
                    : HUGE_VAL;
  x = op.fillOutside(x, {axis}, largest ? -HUGE_VAL : most);
  return x ? op.crop(x, axis, x.getShape()[axis], std::nullopt) : x;
}

static llvm::Error importTopK(OpContext &op, NodeValue x) {
  int64_t rank = x.getType().getRank();
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.getAxis("axis", -1, rank));
  bool largest = op.getInt("largest", 1) != 0;
  // An unsorted result may be in any order.
  op.ignoreAttrs({"sorted"});
  GLOWISH_ASSIGN_OR_RETURN(ShapeInt number, readTopKCount(op));
  int64_t count = number.getConstant();
  // That there are as many is known to the model, and not to the node.
  if (x.getType().getExtent(axis))
    x = fillUnordered(op, x, axis, largest);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  Lengths lengths(rank);
  if (!number.isConstant()) {
    count = int64_t(std::clamp(number.high, 0.0, double(x.getShape()[axis])));
    lengths[axis] = makeExtent(op, number.value, count);
  }
  TopElements top = takeTop(op, x, axis, count, largest);
  GLOWISH_RETURN_IF_ERROR(op.setOutput(0, op.declare(top.values, lengths)));
  return op.setOutput(1, op.declare(top.indices, lengths));
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
  if (lengths.getShape().size() == 1)
    GLOWISH_RETURN_IF_ERROR(align(op, input, batchAxis, lengths, 0));
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  shape = input.getShape();
  Dims aligned(2, 1), steps(shape.take_front(2));
  aligned[batchAxis] = shape[batchAxis];
  lengths = op.dropExtents(op.cast(lengths, ElemKind::Int64));
  NodeValue length = op.reshape(lengths, aligned);
  NodeValue step = op.iota(ElemKind::Int64, 2, timeAxis, shape[timeAxis]);
  NodeValue backward = op.sub(op.sub(length, step), 1);
  NodeValue source =
      op.broadcast(op.select(op.less(step, length), backward, step), steps);
  if (op.hasFailed())
    return op.setOutput(0, source);
  NodeValue rows = getElementPositions(op, source.getType().withShape(steps),
                                       source, timeAxis);
  return op.setOutput(
      0, op.declareExtents(gatherRows(op, input, rows, 2), input.getType()));
}

/// Returns an error for constant indices out of range.
static llvm::Error checkIndices(const Tensor &indices, int64_t extent) {
  for (int64_t i = 0; i < indices.getNumElements(); ++i) {
    int64_t index = indices.getAsInt(i);
    if (index < -extent || index >= extent)
      return makeError(
          "index {0} is out of range; accepted for extent {1}: {2} to "
          "{3}",
          index, extent, -extent, extent - 1);
  }
  return llvm::Error::success();
}

llvm::Expected<NodeValue> onnximport::gatherSlices(OpContext &op, NodeValue x,
                                                   NodeValue indices,
                                                   int64_t axis) {
  if (auto *constant = indices.getNodeAs<Constant>())
    GLOWISH_RETURN_IF_ERROR(
        checkIndices(constant->getTensor(), x.getShape()[axis]));
  return op.finish(op.gather(x, indices, axis));
}

static llvm::Error importGather(OpContext &op, NodeValue x, NodeValue indices) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis,
                           op.getAxis("axis", 0, x.getType().getRank()));
  return op.setOutput(0, gatherSlices(op, x, indices, axis));
}

static OnnxOperator gatherOp("Gather", 1, withExtents<importGather>);
static OnnxOperator gatherElementsOp("GatherElements", 11,
                                     withExtents<importGatherElements>);
static OnnxOperator gatherNDOp("GatherND", 11, withExtents<importGatherND>);
static OnnxOperator scatterNDOp("ScatterND", 11, withExtents<importScatterND>);
static OnnxOperator scatterElementsOp("ScatterElements", 11,
                                      withExtents<importScatterElements>);
static OnnxOperator scatterOp("Scatter", 9, withExtents<importScatterElements>);
static OnnxOperatorNotes scatterNotes("Scatter", {.until = 10});
static OnnxOperator tensorScatterOp("TensorScatter", 24,
                                    withExtents<importTensorScatter>);
static OnnxOperator topKOp("TopK", 1, withExtents<importTopK>);
static OnnxOperator reverseSequenceOp("ReverseSequence", 10,
                                      withExtents<importReverseSequence>);
