//===- Indexing.cpp - Gather and scatter ----------------------------------===//

#include "Caffe2/Segments.h"

using namespace glowish;
using namespace glowish::caffe2;

//===- Gathering ----------------------------------------------------------===//

template <int defaultAxis> static llvm::Error importGather(NetOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkIntegers(1));
  NodeValue data = op.input(0);
  GLOWISH_ASSIGN_OR_RETURN(
      int64_t axis, op.getAxis("axis", defaultAxis, data.getShape().size()));
  op.ignoreArgs({"wrap_indices"});
  if (op.getInt("match_outer", 0))
    return makeError("argument 'match_outer' is {0}; accepted: 0",
                     op.getInt("match_outer", 0));
  return op.setOutput(0, op.gather(data, op.input(1), axis),
                      op.getBlob(0).quant);
}

/// The last dimension of the indices indexes the leading dimensions of data.
static llvm::Error importGatherND(NetOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkIntegers(1));
  NodeValue data = op.input(0), indices = op.cast(op.input(1), ElemKind::Int64);
  Dims shape(data.getShape()), places(op.input(1).getShape());
  int64_t depth = places.empty() ? 0 : places.back();
  if (depth < 1 || depth > int64_t(shape.size()))
    return op.refuseInput(
        1, llvm::formatv("a last dimension of 1 to {0}", shape.size()));
  if (op.getInt("batch_dims", 0))
    return makeError("argument 'batch_dims' is not supported; accepted: 0");
  Dims outer(shape.begin(), shape.begin() + depth);
  Dims inner(shape.begin() + depth, shape.end());
  Dims strides = getDenseStrides(outer);
  NodeValue factors = op.ints(ElemKind::Int64, {depth}, strides);
  NodeValue positions = op.reduce(op.mul(indices, factors), "sum",
                                  {int64_t(places.size()) - 1}, false);
  Dims flat = inner;
  flat.insert(flat.begin(), countElements(outer));
  // The positions are those of the bounds.
  ExtentList extents(data.getType().getExtents());
  for (size_t d = 0; d < extents.size() && d < size_t(depth); ++d)
    extents[d].reset();
  data = op.declareExtents(data, data.getType().withExtents(extents));
  return op.setOutput(0, op.gather(op.reshape(data, flat), positions, 0));
}

//===- Scattering ---------------------------------------------------------===//

/// Replaces rows of input 0 by those of input 2.
static llvm::Error importScatterAssign(NetOp &op) {
  GLOWISH_RETURN_IF_ERROR(checkIndexList(op, 1));
  if (op.input(0).getShape().empty() || op.input(2).getShape().empty())
    return op.refuseInput(0, "rank 1 or more");
  return op.setOutput(
      0, scatterRows(op, op.input(0), op.input(1), op.input(2), "replace"));
}

/// Adds rows to zeros at their indices. Input 2 determines the number of rows.
static llvm::Error importSparseToDense(NetOp &op) {
  GLOWISH_RETURN_IF_ERROR(checkIndexList(op, 0));
  if (op.input(1).getShape().empty() || op.input(2).getShape().empty())
    return op.refuseInput(1, "rank 1 or more");
  return op.setOutput(0,
                      sumSegments(op, op.input(1), op.input(0), op.input(2)));
}

/// Selects from each list (one list without lengths) the values whose indices
/// are in the argument `mask`, in the order of the mask; others are the default
/// value. Output 1 states which indices are present.
static llvm::Error importSparseToDenseMask(NetOp &op) {
  GLOWISH_RETURN_IF_ERROR(checkIndexList(op, 0));
  NodeValue indices = op.cast(op.input(0), ElemKind::Int64);
  NodeValue values = op.input(1);
  if (values.getShape().empty())
    return op.refuseInput(1, "rank 1 or more");
  std::vector<int64_t> mask = op.getInts("mask");
  bool hasPresence = op.getInt("return_presence_mask", 0) != 0;
  op.ignoreArgs({"max_skipped_indices"});
  int64_t count = op.input(0).getShape()[0], width = int64_t(mask.size());
  int64_t numLists = 1;
  NodeValue list = op.scalar(ElemKind::Int64, 0);
  for (unsigned i = 1; i < 3; ++i)
    for (unsigned d = i == 1; d < op.input(i).getType().getRank(); ++d)
      GLOWISH_RETURN_IF_ERROR(op.checkKnown(i, d, "a value is one row"));
  if (op.hasInput(3)) {
    GLOWISH_RETURN_IF_ERROR(checkIndexList(op, 3));
    numLists = op.input(3).getShape()[0];
    list = makeSegments(op, makeEnds(op, op.input(3)), op.input(0));
  }
  GLOWISH_RETURN_IF_ERROR(checkShape(ElemKind::Int64, {numLists, width}));
  NodeValue ids = op.ints(ElemKind::Int64, {1, width}, mask);
  NodeValue isId = op.equal(op.reshape(indices, {count, 1}), ids);
  // `width`, one more than the last column, if the mask does not contain the
  // index.
  NodeValue column =
      op.reduce(op.select(isId, op.iota(ElemKind::Int64, 2, 1, width),
                          op.scalar(ElemKind::Int64, double(width))),
                "min", {1}, false);
  NodeValue isKnown = op.less(column, double(width));
  int64_t numRows = numLists * width;
  NodeValue row =
      op.select(isKnown, op.add(op.mul(list, double(width)), column),
                op.scalar(ElemKind::Int64, double(numRows)));
  Dims inner(values.getShape().drop_front());
  Dims flat = inner, result = inner;
  flat.insert(flat.begin(), numRows);
  result.insert(result.begin(), width);
  if (op.hasInput(3))
    result.insert(result.begin(), numLists);
  NodeValue filler = op.input(2);
  if (filler.getType().getNumElements() == countElements(inner))
    filler = op.reshape(filler, inner);
  NodeValue dense =
      scatterRows(op, op.broadcast(filler, flat), row, values, "replace");
  // A row is there for each list of the bound.
  auto declare = [&](NodeValue x) {
    return op.hasInput(3) ? declareRows(op, x, op.input(3)) : x;
  };
  GLOWISH_RETURN_IF_ERROR(op.setOutput(0, declare(op.reshape(dense, result))));
  if (!hasPresence)
    return llvm::Error::success();
  op.nameAfterOutput(1);
  NodeValue present =
      scatterRows(op, op.splat(ElemKind::Int32, {numRows, 1}, 0), row,
                  op.splat(ElemKind::Int32, {count, 1}, 1), "replace");
  Dims presence = {width};
  if (op.hasInput(3))
    presence.insert(presence.begin(), numLists);
  return op.setOutput(
      1, declare(op.reshape(op.cast(present, ElemKind::Bool), presence)));
}

/// Row i contains the values of list i at their indices, and the default value
/// elsewhere.
static llvm::Error importBatchSparseToDense(NetOp &op) {
  GLOWISH_RETURN_IF_ERROR(checkIndexList(op, 0));
  GLOWISH_RETURN_IF_ERROR(checkIndexList(op, 1));
  GLOWISH_RETURN_IF_ERROR(op.checkRank(2, 1));
  NodeValue values = op.input(2);
  int64_t numLists = op.input(0).getShape()[0];
  int64_t width = op.getInt("dense_last_dim", -1);
  if (op.hasInput(3)) {
    GLOWISH_RETURN_IF_ERROR(op.checkRank(3, 2));
    width = op.input(3).getShape()[1];
  }
  if (width < 1)
    return makeError("neither input 3 nor the argument 'dense_last_dim' states "
                     "the number of columns");
  GLOWISH_RETURN_IF_ERROR(checkShape(values.getElemKind(), {numLists, width}));
  NodeValue list = makeSegments(op, makeEnds(op, op.input(0)), values);
  NodeValue place = op.add(op.mul(list, double(width)),
                           op.cast(op.input(1), ElemKind::Int64));
  NodeValue filler = op.splat(values.getElemKind(), {numLists * width, 1},
                              op.getFloat("default_value", 0));
  NodeValue dense = scatterRows(op, filler, place, values, "replace");
  dense = declareRows(op, op.reshape(dense, {numLists, width}), op.input(0));
  if (op.hasInput(3))
    dense = declareExtent(op, dense, 1, op.input(3).getType().getExtent(1));
  return op.setOutput(0, dense);
}

/// The rows of data in order at the indices where the indicator is set, and
/// zeros elsewhere.
static llvm::Error importFillExamples(NetOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkRank(1, 1));
  NodeValue data = op.input(0);
  if (data.getShape().empty())
    return op.refuseInput(0, "rank 1 or more");
  NodeValue isSet = op.cast(op.input(1), ElemKind::Bool);
  NodeValue row = op.sub(makeEnds(op, isSet), 1);
  // Rows that are not set have -1 or a row that is not selected.
  NodeValue rows = op.gather(data, op.max(row, 0), 0);
  Dims shape(data.getShape().size(), 1);
  shape[0] = op.input(1).getShape()[0];
  return op.setOutput(
      0, op.select(op.reshape(isSet, shape), rows, op.number(data, 0)));
}

/// Splits values and their list numbers by label, the same number for each
/// label. The last output is the position of each value among those of its
/// label.
static llvm::Error importSparseLabelSplit(NetOp &op) {
  GLOWISH_RETURN_IF_ERROR(checkIndexList(op, 0));
  GLOWISH_RETURN_IF_ERROR(checkIndexList(op, 1));
  GLOWISH_RETURN_IF_ERROR(op.checkRank(2, 1));
  for (unsigned i = 1; i < 3; ++i)
    GLOWISH_RETURN_IF_ERROR(
        op.checkKnown(i, 0, "each label has as many values"));
  NodeValue labels = op.cast(op.input(1), ElemKind::Int64);
  NodeValue values = op.input(2);
  int64_t count = values.getShape()[0], numLabels = op.getInt("num_labels", 0);
  bool keepsMap = op.getInt("keep_gradient_offset_map", 0) != 0;
  if (numLabels < 1 || numLabels > int64_t(op.getNumOutputs()) ||
      count % numLabels)
    return makeError("argument 'num_labels' is {0}; accepted: a divisor of the "
                     "{1} values, with two outputs each",
                     numLabels, count);
  int64_t each = count / numLabels;
  NodeValue isLabel = op.equal(op.reshape(labels, {count, 1}),
                               op.iota(ElemKind::Int64, 2, 1, numLabels));
  NodeValue seen = op.cumSum(op.cast(isLabel, ElemKind::Int64), 0);
  NodeValue zero = op.scalar(ElemKind::Int64, 0);
  NodeValue place =
      op.sub(op.reduce(op.select(isLabel, seen, zero), "sum", {1}, false), 1);
  // Elements beyond the end are dropped.
  NodeValue fits = op.less(place, double(each));
  NodeValue target =
      op.select(fits, op.add(op.mul(labels, double(each)), place),
                op.scalar(ElemKind::Int64, double(count)));
  NodeValue lists = op.cast(makeSegments(op, makeEnds(op, op.input(0)), values),
                            ElemKind::Int32);
  auto sort = [&](NodeValue x) -> NodeValue {
    return x ? scatterRows(op, op.splat(x.getElemKind(), {count, 1}, 0), target,
                           x, "replace")
             : x;
  };
  NodeValue sorted = sort(values), sortedLists = sort(lists);
  for (int64_t i = 0; i < numLabels; ++i) {
    auto part = [&](NodeValue x) {
      return op.reshape(op.slice(x, 0, i * each, each), {each});
    };
    GLOWISH_RETURN_IF_ERROR(op.setOutput(unsigned(i), part(sorted)));
    GLOWISH_RETURN_IF_ERROR(
        op.setOutput(unsigned(numLabels + i), part(sortedLists)));
  }
  return keepsMap ? op.setOutput(unsigned(2 * numLabels),
                                 op.cast(place, ElemKind::Int32))
                  : llvm::Error::success();
}

//===- Registrations ------------------------------------------------------===//

static constexpr NetOpTraits gathered{.inputs = 2, .isQuantized = true};
static constexpr NetOpTraits upToFour{.inputs = {3, 4}};

static const Caffe2Operators operators = {
    {"Gather", importGather<0>, gathered},
    {"BatchGather", importGather<1>, gathered},
    {"GatherND", importGatherND, {.inputs = 2}},
    {"ScatterAssign", importScatterAssign, {.inputs = 3}},
    {"SparseToDense", importSparseToDense, {.inputs = 3}},
    {"SparseToDenseMask", importSparseToDenseMask, upToFour},
    {"BatchSparseToDense", importBatchSparseToDense, upToFour},
    {"FillExamplesWithIndicator", importFillExamples, {.inputs = 2}},
    {"SparseLabelSplit",
     importSparseLabelSplit,
     {.inputs = 3, .limit = "the same number of values for each label"}}};
