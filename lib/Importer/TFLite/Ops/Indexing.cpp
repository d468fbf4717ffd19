//===- Indexing.cpp - Elements chosen by indices --------------------------===//

#include "Common/ElementWise.h"
#include "Common/Positions.h"
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

/// Rows of indices into the first dimensions become numbers of rows of a
/// matrix.
static llvm::Error importGatherNd(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkKind(1, {ElemKind::Int32, ElemKind::Int64}));
  DimsRef shape = op.getShape(0), indices = op.getShape(1);
  if (indices.empty() || indices.back() < 1 ||
      indices.back() > int64_t(shape.size()))
    return op.refuseInput(1, "rows of as many indices as dimensions, or fewer");
  GLOWISH_RETURN_IF_ERROR(op.checkKnown(1, {int64_t(indices.size()) - 1}));
  auto depth = size_t(indices.back());
  DimsRef leading = shape.take_front(depth);
  NodeValue weights =
      op.ints(op.getKind(1), {int64_t(depth)}, getDenseStrides(leading));
  int64_t last = int64_t(indices.size()) - 1;
  NodeValue numbers = op.reduce(op.mul(op.input(1), weights), "sum", {last},
                                /*keepDims=*/false);
  Dims matrix = {countElements(leading)};
  llvm::append_range(matrix, shape.drop_front(depth));
  return op.setOutput(0,
                      op.gather(op.reshape(op.input(0), matrix), numbers, 0));
}

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

/// The largest elements of the last dimension, and their indices.
static llvm::Error importTopK(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> count, op.getConstantInts(1));
  DimsRef shape = op.getShape(0);
  if (count.size() != 1 || shape.empty() || count[0] < 0 ||
      count[0] > shape.back())
    return op.refuseInput(1, "a number of elements of the last dimension");
  TopElements top = takeTop(op, op.input(0), int64_t(shape.size()) - 1,
                            count[0], /*largest=*/true);
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
    {"ARG_MAX", importArg<schema::ArgMaxOptions>, constantAxis},
    {"ARG_MIN", importArg<schema::ArgMinOptions>, constantAxis},
    {"ONE_HOT", importOneHot, {.inputs = 4, .limit = "the depth a constant"}},
    {"TOPK_V2", importTopK, {.inputs = 2, .limit = "the number a constant"}},
    {"CUMSUM", importCumSum, constantAxis}};
