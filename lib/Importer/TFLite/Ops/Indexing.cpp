//===- Indexing.cpp - Elements chosen by indices --------------------------===//

#include "Common/ElementWise.h"
#include "Common/OpenReshape.h"
#include "Common/Positions.h"
#include "Common/TrueElements.h"
#include "TFLite/TFLiteOp.h"

using namespace glowish;
using namespace glowish::tflite;

/// The first \p numBatch dimensions of both inputs number pairs of arrays, of
/// which one has the indices into dimension \p axis of the other. Input 0 is
/// seen as [batch, outer, extent, inner], whose rows of `inner` elements are
/// numbered through: an index, plus the number of the first row of its [extent,
/// inner], is a row.
static NodeValue gatherBatched(TFLiteOp &op, size_t numBatch, size_t axis) {
  DimsRef shape = op.getShape(0), indices = op.getShape(1);
  int64_t batch = countElements(shape.take_front(numBatch));
  int64_t outer = countElements(shape.slice(numBatch, axis - numBatch));
  int64_t extent = shape[axis];
  int64_t inner = countElements(shape.drop_front(axis + 1));
  int64_t chosen = countElements(indices.drop_front(numBatch));
  Dims result(shape.take_front(axis));
  llvm::append_range(result, indices.drop_front(numBatch));
  llvm::append_range(result, shape.drop_front(axis + 1));
  int64_t rows = batch * outer * extent;
  ElemKind kind = rows > std::numeric_limits<int32_t>::max() ? ElemKind::Int64
                                                             : op.getKind(1);
  NodeValue first = op.table(kind, {batch, outer, 1}, [&](DimsRef index) {
    return double((index[0] * outer + index[1]) * extent);
  });
  NodeValue numbers =
      op.add(op.reshape(op.cast(op.input(1), kind), {batch, 1, chosen}), first);
  NodeValue flat = op.reshape(op.input(0), {rows, inner});
  return op.reshape(op.gather(flat, numbers, 0), result);
}

static llvm::Error importGather(TFLiteOp &op) {
  auto options = op.options<schema::GatherOptions>();
  DimsRef shape = op.getShape(0), indices = op.getShape(1);
  GLOWISH_RETURN_IF_ERROR(op.checkKind(1, {ElemKind::Int32, ElemKind::Int64}));
  llvm::Expected<int64_t> axis =
      normalizeAxis(options.get<"axis">(), shape.size());
  if (!axis)
    return addContext(axis.takeError(), "axis is ");
  int64_t numBatch = options.get<"batch_dims">();
  if (numBatch < 0)
    numBatch += int64_t(indices.size());
  if (numBatch < 0 || numBatch > std::min<int64_t>(*axis, indices.size()))
    return makeError("batch_dims is {0}; accepted for {1} dimensions of the "
                     "indices and axis {2}: {3} to {4}",
                     options.get<"batch_dims">(), indices.size(), *axis,
                     -int64_t(indices.size()),
                     std::min<int64_t>(*axis, indices.size()));
  if (shape.take_front(numBatch) != indices.take_front(numBatch))
    return makeError("input 0 is {0} and input 1 {1}; accepted: the same first "
                     "{2} extents (batch_dims)",
                     op.input(0).getType().str(), op.input(1).getType().str(),
                     numBatch);
  for (unsigned d = 0; d < unsigned(numBatch); ++d)
    if (op.getSymbols().areEqual(op.input(0).getType().getLength(d),
                                 op.input(1).getType().getLength(d)) !=
        Certainty::Yes)
      return op.refuseInput(1, "the extents of input 0 in the first "
                               "dimensions (batch_dims)");
  return op.setOutput(
      0, numBatch == 0 ? op.gather(op.input(0), op.input(1), *axis)
                       : gatherBatched(op, size_t(numBatch), size_t(*axis)));
}

/// Input \p index, rows of indices into the first dimensions of \p shape, as
/// numbers of rows of the matrix whose rows these dimensions are.
static llvm::Expected<NodeValue> numberRows(TFLiteOp &op, unsigned index,
                                            DimsRef shape) {
  GLOWISH_RETURN_IF_ERROR(
      op.checkKind(index, {ElemKind::Int32, ElemKind::Int64}));
  DimsRef indices = op.getShape(index);
  if (indices.empty() || indices.back() < 1 ||
      indices.back() > int64_t(shape.size()))
    return op.refuseInput(index,
                          "rows of as many indices as dimensions, or fewer");
  int64_t last = int64_t(indices.size()) - 1;
  GLOWISH_RETURN_IF_ERROR(op.checkKnown(index, last));
  DimsRef leading = shape.take_front(size_t(indices.back()));
  NodeValue weights =
      op.ints(op.getKind(index), {indices.back()}, getDenseStrides(leading));
  return op.finish(op.reduce(op.mul(op.input(index), weights), "sum", {last},
                             /*keepDims=*/false));
}

static llvm::Error importGatherNd(TFLiteOp &op) {
  DimsRef shape = op.getShape(0);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue numbers, numberRows(op, 1, shape));
  auto depth = size_t(op.getShape(1).back());
  Dims matrix = {countElements(shape.take_front(depth))};
  llvm::append_range(matrix, shape.drop_front(depth));
  return op.setOutput(0,
                      op.gather(op.reshape(op.input(0), matrix), numbers, 0));
}

/// Inputs: rows of indices, what is added there, and the shape of the result,
/// which is 0 elsewhere.
static llvm::Error importScatterNd(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(
      op.checkKind(1, {ElemKind::Float, ElemKind::Int8, ElemKind::UInt8,
                       ElemKind::Int32, ElemKind::Int64}));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Extent> extents, op.getExtents(2));
  GLOWISH_ASSIGN_OR_RETURN(
      Type type,
      makeType(op.getKind(1), extents, op.getSymbols(), op.input(1).getType()));
  DimsRef shape = type.getShape(), indices = op.getShape(0);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue numbers, numberRows(op, 0, shape));
  auto depth = size_t(indices.back());
  Dims expected(indices.drop_back());
  llvm::append_range(expected, shape.drop_front(depth));
  if (op.getShape(1) != DimsRef(expected))
    return op.refuseInput(1, formatShape(expected) +
                                 ", an element or a slice for each row of "
                                 "indices");
  NodeValue zeros = op.declareExtents(op.splat(type.getKind(), shape, 0), type);
  ScatteredRows matrix{.count = countElements(shape.take_front(depth)),
                       .length = countElements(shape.drop_front(depth))};
  return op.setOutput(
      0, scatterRows(op, zeros, numbers, op.input(1), matrix, "add"));
}

/// The indices of the nonzero elements, [count, rank].
static llvm::Error importWhere(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkNotQuantized());
  // Which number the file states is open.
  op.getContext().hasOtherShapes = true;
  DimsRef shape = op.getShape(0);
  if (op.input(0).getType().getNumElements() == 0)
    return op.setOutput(
        0, op.splat(ElemKind::Int64, {0, int64_t(shape.size())}, 0));
  Found found = findTrue(op, listNonzero(op, op.input(0)));
  NodeValue indices = splitPositions(op, found.positions, shape);
  return op.setOutput(
      0, takeCounted(op, op.transpose(indices, {1, 0}), 0, found.count));
}

//===- Segments -----------------------------------------------------------===//

/// An error if input 1 is a constant and does not number segments from 0 on.
static llvm::Error checkSegments(const TFLiteOp &op) {
  if (!op.input(1).getNodeAs<Constant>())
    return llvm::Error::success();
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> segments,
                           op.getConstantInts(1));
  int64_t least = 0, most = 0;
  for (int64_t segment : segments) {
    if (segment < least || segment > most)
      return op.refuseInput(1, "0, then always the same number or the next");
    least = segment;
    most = segment + 1;
  }
  return llvm::Error::success();
}

/// The sums of the rows of input 0 that have the same number in input 1, which
/// ascends from 0 without a gap: as many as the last number states.
static llvm::Error importSegmentSum(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkKind(0, {ElemKind::Float, ElemKind::Int32}));
  GLOWISH_RETURN_IF_ERROR(op.checkKind(1, ElemKind::Int32));
  GLOWISH_RETURN_IF_ERROR(op.checkRank(1, 1));
  DimsRef shape = op.getShape(0);
  if (shape.empty() || shape[0] != op.getShape(1)[0])
    return op.refuseInput(1, "a number for each row of input 0");
  GLOWISH_RETURN_IF_ERROR(checkSegments(op));
  op.getContext().hasOtherShapes = true;
  const Type &type = op.input(0).getType();
  NodeValue segments = op.input(1);
  ExtentList extents(type.getExtents());
  if (!extents.empty())
    extents[0].reset();
  NodeValue zeros = op.declareExtents(op.splat(type.getKind(), shape, 0),
                                      type.withExtents(extents));
  NodeValue sums = scatterRows(
      op, zeros, segments, op.input(0),
      {.count = shape[0], .length = countElements(shape.drop_front())}, "add");
  if (shape[0] == 0)
    return op.setOutput(0, sums);
  // A run may have other numbers; the count stays within the bound.
  NodeValue last = op.reduce(op.fillOutside(segments, {0}, -1), "max", {0},
                             /*keepDims=*/false);
  NodeValue count =
      op.clip(op.add(op.cast(last, ElemKind::Int64), 1), 0, double(shape[0]));
  return op.setOutput(0, takeCounted(op, sums, 0, count));
}

//===- Places and orders --------------------------------------------------===//

/// Options: of ARG_MAX or ARG_MIN.
template <typename Options> static llvm::Error importArg(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkOutputType(
      "output_type", op.options<Options>().template get<"output_type">()));
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis,
                           op.getConstantAxis(1, op.getShape(0).size()));
  NodeValue x = op.input(0);
  if (op.getType() == "ARG_MIN")
    x = turnOrder(op, x);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  NodeValue result = op.make<ArgMaxNode>(x, axis, /*keepDims=*/false,
                                         /*selectLast=*/false);
  return op.setOutput(0, op.cast(result, op.getOutputKind()));
}

/// Inputs: indices, depth, and the values of the chosen and the other elements.
static llvm::Error importOneHot(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> depth, op.getConstantInts(1));
  if (depth.size() != 1 || depth[0] < 0)
    return op.refuseInput(1, "one number");
  unsigned rank = unsigned(op.getShape(0).size()) + 1;
  int64_t stated = op.options<schema::OneHotOptions>().get<"axis">();
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, normalizeAxis(stated, rank));
  NodeValue isChosen = makeOneHot(op, op.input(0), axis, depth[0]);
  return op.setOutput(0, op.select(isChosen, op.input(2), op.input(3)));
}

/// Returns how many elements of \p most input 1 asks for: an extent, or none
/// where it is a number that runs state.
static llvm::Expected<std::optional<Extent>> findTopCount(TFLiteOp &op,
                                                          int64_t most) {
  auto refuse = [&] {
    return op.refuseInput(1, "a number of elements of the last dimension");
  };
  if (op.input(1).getType().getNumElements() != 1)
    return refuse();
  GLOWISH_ASSIGN_OR_RETURN(auto counts, op.findEachExtent(1));
  if (std::optional<Extent> count = counts.front()) {
    std::optional<IntRange> range = op.getSymbols().getRange(*count);
    if (!range || range->low < 0 || range->high > most)
      return refuse();
  }
  return counts.front();
}

/// The largest elements of the last dimension, and their indices; of a number
/// that runs state, no more than there are.
static llvm::Error importTopK(TFLiteOp &op) {
  const Type &type = op.input(0).getType();
  if (type.getRank() == 0)
    return op.refuseInput(0, "rank 1 and more");
  unsigned axis = type.getRank() - 1;
  int64_t most = type.getDim(axis);
  GLOWISH_ASSIGN_OR_RETURN(std::optional<Extent> count, findTopCount(op, most));
  bool isOpen = !count || !count->isConstant();
  if (isOpen && type.getExtent(axis))
    return op.refuseInput(1, "a constant, as a run decides the last dimension");
  op.getContext().hasOtherShapes |= isOpen;
  TopElements top =
      takeTop(op, op.input(0), axis, isOpen ? most : *count->getConstant(),
              /*largest=*/true);
  if (isOpen) {
    NodeValue number =
        count ? op.compute(*count)
              : op.clip(op.cast(op.reshape(op.input(1), {}), ElemKind::Int64),
                        0, double(most));
    for (NodeValue *result : {&top.values, &top.indices})
      *result = takeCounted(op, *result, axis, number);
  }
  GLOWISH_RETURN_IF_ERROR(op.setOutput(0, top.values));
  ElemKind kind = op.getOutputKind(op.getNumOutputs() > 1 ? 1 : 0);
  return op.setOutput(1, op.cast(top.indices, kind));
}

static llvm::Error importCumSum(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis,
                           op.getConstantAxis(1, op.getShape(0).size()));
  auto options = op.options<schema::CumsumOptions>();
  return op.setOutput(0, op.make<CumSumNode>(op.input(0), axis,
                                             options.get<"exclusive">(),
                                             options.get<"reverse">()));
}

static constexpr TFLiteOpTraits constantAxis{
    .inputs = 2, .limit = "the dimension a constant"};

static const TFLiteOperators operators = {
    {"GATHER", importGather, {.inputs = 2}},
    {"GATHER_ND", importGatherNd, {.inputs = 2}},
    {"SCATTER_ND",
     importScatterNd,
     {.inputs = 3,
      .limit = "float, int8, uint8, int32 and int64; the shape a constant"}},
    {"WHERE", importWhere},
    {"SEGMENT_SUM",
     importSegmentSum,
     {.inputs = 2, .limit = "float and int32"}},
    {"ARG_MAX", importArg<schema::ArgMaxOptions>, constantAxis},
    {"ARG_MIN", importArg<schema::ArgMinOptions>, constantAxis},
    {"ONE_HOT", importOneHot, {.inputs = 4, .limit = "the depth a constant"}},
    {"TOPK_V2", importTopK, {.inputs = 2}},
    {"CUMSUM", importCumSum, constantAxis}};
