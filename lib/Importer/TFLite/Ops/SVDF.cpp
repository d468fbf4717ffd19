//===- SVDF.cpp - Filters over time of low rank ---------------------------===//
//
// Each filter multiplies a row by its features, and the last results by its
// weights over time; a unit is the sum of `rank` filters. (Nakkiran et al.,
// Compressing deep neural networks using a rank-constrained topology, 2015.)
//
//===----------------------------------------------------------------------===//

#include "TFLite/Quantized.h"
#include "glowish/Base/CheckedInt.h"

using namespace glowish;
using namespace glowish::tflite;
using schema::ActivationFunctionType;

namespace {

namespace position {
constexpr unsigned features = 1, time = 2, bias = 3, state = 4;
}

/// The extents of the operator.
struct Filters {
  int64_t batch, count, memory, rank;
};

} // namespace

static llvm::Expected<Filters> readFilters(const TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 2));
  GLOWISH_RETURN_IF_ERROR(op.checkRank(position::features, 2));
  GLOWISH_RETURN_IF_ERROR(op.checkRank(position::time, 2));
  int64_t rank = op.options<schema::SVDFOptions>().get<"rank">();
  Filters filters{.batch = op.getShape(0)[0],
                  .count = op.getShape(position::features)[0],
                  .memory = op.getShape(position::time)[1],
                  .rank = rank};
  if (rank < 1 || filters.count % rank != 0 || filters.memory < 1)
    return makeError("{0} filters of rank {1} over {2} steps", filters.count,
                     rank, filters.memory);
  CheckedInt elements =
      CheckedInt(filters.batch) * filters.count * filters.memory;
  if (op.input(position::state).getType().getNumElements() != elements.get())
    return op.refuseInput(position::state,
                          "an element for each sample, filter and step");
  return filters;
}

/// The states [batch, filters, memory] without the oldest, and with \p newest
/// [batch, filters].
static NodeValue advance(TFLiteOp &op, NodeValue newest,
                         const Filters &filters) {
  NodeValue states = op.reshape(op.input(position::state),
                                {filters.batch, filters.count, filters.memory});
  NodeValue kept = op.slice(states, 2, 1, filters.memory - 1);
  return op.concat({kept, op.unsqueeze(newest, 2)}, 2);
}

/// The sums over time and over the filters of a unit: [batch, units].
static NodeValue sumFilters(TFLiteOp &op, NodeValue states, NodeValue weights,
                            const Filters &filters) {
  NodeValue weighted = op.mul(states, weights);
  NodeValue sums = op.reduce(weighted, "sum", {2}, /*keepDims=*/false);
  sums = op.reshape(
      sums, {filters.batch, filters.count / filters.rank, filters.rank});
  return op.reduce(sums, "sum", {2}, /*keepDims=*/false);
}

static llvm::Error keepStates(TFLiteOp &op, NodeValue states) {
  return op.setVariable(position::state,
                        op.reshape(states, op.getShape(position::state)));
}

static llvm::Error importFloat(TFLiteOp &op, const Filters &filters) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat(0));
  NodeValue newest = op.matMul(
      op.input(0), op.transposeLast(dequantized(op, position::features)));
  NodeValue states = advance(op, newest, filters);
  NodeValue result =
      sumFilters(op, states, dequantized(op, position::time), filters);
  if (op.hasInput(position::bias))
    result = op.add(result, op.input(position::bias));
  GLOWISH_RETURN_IF_ERROR(keepStates(op, states));
  return op.setOutput(0, activate(op, result,
                                  op.options<schema::SVDFOptions>()
                                      .get<"fused_activation_function">()));
}

/// Features of int8; states and weights over time of int16, or both of int8.
static llvm::Error importQuantized(TFLiteOp &op, const Filters &filters) {
  for (unsigned i : {0u, position::features})
    GLOWISH_RETURN_IF_ERROR(op.checkKind(i, ElemKind::Int8));
  for (unsigned i : {position::time, position::state})
    GLOWISH_RETURN_IF_ERROR(op.checkKind(i, {ElemKind::Int16, ElemKind::Int8}));
  for (unsigned i : {0u, position::features, position::time, position::state})
    GLOWISH_RETURN_IF_ERROR(op.checkQuantized(i));
  for (unsigned i : {position::features, position::time})
    if (op.getZeroPoint(i) != 0)
      return op.refuseInput(i, "weights with the zero point 0");
  GLOWISH_RETURN_IF_ERROR(op.checkOutputQuantized());
  double stateScale = double(op.getScale(position::state));
  double toStates = double(op.getScale(0)) *
                    double(op.getScale(position::features)) / stateScale;
  double toOutput = stateScale * double(op.getScale(position::time)) /
                    double(op.getOutputScale());
  NodeValue sums = multiplyBytes(op, op.input(0), op.getZeroPoint(0),
                                 op.transposeLast(op.input(position::features)),
                                 0, /*bias=*/{});
  NodeValue newest = op.rescale(sums, toStates);
  double stateZero = double(op.getZeroPoint(position::state));
  if (stateZero != 0)
    newest = op.add(newest, stateZero);
  NodeValue states =
      advance(op, saturate(op, newest, op.getKind(position::state)), filters);
  NodeValue centers = op.cast(states, ElemKind::Int32);
  if (stateZero != 0)
    centers = op.sub(centers, stateZero);
  NodeValue result = sumFilters(
      op, centers, op.cast(op.input(position::time), ElemKind::Int32), filters);
  if (op.hasInput(position::bias))
    result = op.add(result, op.input(position::bias));
  GLOWISH_RETURN_IF_ERROR(keepStates(op, states));
  return op.setOutput(0,
                      quantizeSteps(op, op.rescale(result, toOutput),
                                    op.options<schema::SVDFOptions>()
                                        .get<"fused_activation_function">()));
}

static llvm::Error importSVDF(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(Filters filters, readFilters(op));
  return op.isQuantized(0) ? importQuantized(op, filters)
                           : importFloat(op, filters);
}

static const TFLiteOperators operators = {
    {"SVDF",
     importSVDF,
     {.inputs = 5,
      .firstOptional = position::bias,
      .needsKnownExtents = true,
      .limit = "float, and int8 with states of int16 or int8"}}};
