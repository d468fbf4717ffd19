//===- Lengths.cpp - Operators on lists and ranges ------------------------===//

#include "Caffe2/Segments.h"

using namespace glowish;
using namespace glowish::caffe2;

/// The sum of the rows of each list.
static llvm::Error importLengthsSum(NetOp &op) {
  GLOWISH_RETURN_IF_ERROR(checkIndexList(op, 1));
  NodeValue data = op.input(0), lengths = op.input(1);
  if (data.getShape().empty())
    return op.refuseInput(0, "rank 1 or more");
  NodeValue segments = makeSegments(op, makeEnds(op, lengths), data);
  return op.setOutput(0, sumSegments(op, data, segments, lengths));
}

/// The start and length of each list: int32 [lists, 2].
static llvm::Error importLengthsToRanges(NetOp &op) {
  GLOWISH_RETURN_IF_ERROR(checkIndexList(op, 0));
  NodeValue lengths = op.cast(op.input(0), ElemKind::Int64);
  NodeValue starts = op.sub(makeEnds(op, lengths), lengths);
  NodeValue ranges =
      op.concat({op.unsqueeze(starts, 1), op.unsqueeze(lengths, 1)}, 1);
  return op.setOutput(0, op.cast(ranges, ElemKind::Int32));
}

/// Returns the total number of elements of lists of \p lengths: the argument
/// maxOutputSize, or the sum of constant lengths.
static llvm::Expected<int64_t> readOutputSize(NetOp &op, NodeValue lengths) {
  if (op.hasArg("maxOutputSize")) {
    int64_t size = op.getInt("maxOutputSize", 0);
    GLOWISH_RETURN_IF_ERROR(checkShape(ElemKind::Int64, {size}));
    return size;
  }
  auto *constant = lengths.getNodeAs<Constant>();
  if (!constant)
    return makeError("the lengths are computed when the model runs; accepted: "
                     "constant lengths, or the argument 'maxOutputSize'");
  int64_t size = 0;
  for (int64_t i = 0; i < constant->getTensor().getNumElements(); ++i) {
    int64_t own = constant->getTensor().getAsInt(i);
    if (own < 0 || own > maxTensorBytes - size)
      return makeError("length {0} is {1}; accepted: 0 or more", i, own);
    size += own;
  }
  return size;
}

namespace {
/// The elements of concatenated lists.
struct ListElements {
  /// int64 [count]: the list number of each element, and its position in the
  /// list.
  NodeValue list, number;
  /// bool [count]: false beyond the end of the last list.
  NodeValue isInside;
};
} // namespace

static ListElements enumerateLists(NetOp &op, NodeValue lengths,
                                   int64_t count) {
  lengths = op.cast(lengths, ElemKind::Int64);
  NodeValue ends = makeEnds(op, lengths);
  if (!ends)
    return {};
  ListElements elements;
  elements.list = makeSegments(op, ends, count);
  NodeValue starts = op.gather(op.sub(ends, lengths), elements.list, 0);
  elements.number = op.sub(op.iota(ElemKind::Int64, 1, 0, count), starts);
  elements.isInside = op.less(elements.list, op.getLength(ends, 0));
  return elements;
}

/// 0, 1, 2, ... for each list, int32; zeros beyond the last one.
static llvm::Error importLengthsRangeFill(NetOp &op) {
  GLOWISH_RETURN_IF_ERROR(checkIndexList(op, 0));
  GLOWISH_ASSIGN_OR_RETURN(int64_t count, readOutputSize(op, op.input(0)));
  ListElements elements = enumerateLists(op, op.input(0), count);
  NodeValue filled = op.select(elements.isInside, elements.number,
                               op.scalar(ElemKind::Int64, 0));
  return op.setOutput(0, op.cast(filled, ElemKind::Int32));
}

/// Gathers from data [N] the elements of the ranges [B, R, 2] (start, length),
/// with zeros beyond the last one, and counts those of each of the B rows,
/// int32.
static llvm::Error importGatherRanges(NetOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 1));
  GLOWISH_RETURN_IF_ERROR(op.checkRank(1, 3));
  GLOWISH_RETURN_IF_ERROR(op.checkIntegers(1));
  NodeValue data = op.input(0);
  Dims shape(op.input(1).getShape());
  if (shape[2] != 2)
    return op.refuseInput(1, "[batch, ranges, 2]");
  NodeValue ranges = op.cast(op.input(1), ElemKind::Int64);
  int64_t numRanges = shape[0] * shape[1];
  NodeValue starts = op.reshape(op.slice(ranges, 2, 0, 1), {numRanges});
  NodeValue lengths = op.reshape(op.slice(ranges, 2, 1, 1), {numRanges});
  GLOWISH_ASSIGN_OR_RETURN(lengths, op.finish(lengths));
  GLOWISH_ASSIGN_OR_RETURN(int64_t count, readOutputSize(op, lengths));
  ListElements elements = enumerateLists(op, lengths, count);
  NodeValue positions =
      op.add(op.gather(starts, elements.list, 0), elements.number);
  NodeValue gathered = op.gather(data, positions, 0);
  GLOWISH_RETURN_IF_ERROR(op.setOutput(
      0, op.select(elements.isInside, gathered, op.number(data, 0))));
  op.nameAfterOutput(1);
  NodeValue counts =
      op.reduce(op.reshape(lengths, {shape[0], shape[1]}), "sum", {1}, false);
  return op.setOutput(1, op.cast(counts, ElemKind::Int32));
}

/// For value i of column c: whether data[n, c] equals it.
static llvm::Error importBatchOneHot(NetOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 2));
  GLOWISH_RETURN_IF_ERROR(checkIndexList(op, 1));
  GLOWISH_RETURN_IF_ERROR(op.checkRank(2, 1));
  NodeValue data = op.input(0), values = op.input(2);
  NodeValue columns = makeSegments(op, makeEnds(op, op.input(1)), values);
  NodeValue isValue = op.equal(op.gather(data, columns, 1), values);
  return op.setOutput(0, op.cast(isValue, data.getElemKind()));
}

static constexpr llvm::StringLiteral sizeLimit =
    "maxOutputSize or constant lengths";

static const Caffe2Operators operators = {
    {"LengthsSum", importLengthsSum, {.inputs = 2}},
    {"LengthsToRanges", importLengthsToRanges},
    {"LengthsRangeFill", importLengthsRangeFill, {.limit = sizeLimit}},
    {"GatherRanges", importGatherRanges, {.inputs = 2, .limit = sizeLimit}},
    {"BatchOneHot", importBatchOneHot, {.inputs = 3}}};
