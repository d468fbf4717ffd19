//===- MatMul.cpp - Fully connected layers and matmuls --------------------===//

#include "Common/MatMul.h"
#include "Common/OpenReshape.h"
#include "TFLite/Quantized.h"

using namespace glowish;
using namespace glowish::tflite;
using schema::ActivationFunctionType;

/// Input \p index as a matrix whose rows have \p columns elements.
static llvm::Expected<NodeValue> getRows(TFLiteOp &op, NodeValue value,
                                         const Extent &columns) {
  int64_t elements = value.getType().getNumElements();
  std::optional<int64_t> known = columns.getConstant();
  if (known && (*known < 1 || elements % *known != 0))
    return op.refuseInput(0, llvm::formatv("a multiple of {0} elements, the "
                                           "columns of the weights",
                                           *known));
  return reshapeOpen(op, value, {-1, columns}, EmptyRest::Ratio);
}

/// The factors that make output steps of sums, as convolutions have them,
/// but for one that is of the whole matrix: there the scales are multiplied as
/// floats.
static std::vector<double> getFactors(const TFLiteOp &op) {
  if (!op.getTensor(1).quantization->isPerTensor())
    return getSumFactors(op, 0, 1);
  float scale = op.getScale(0) * op.getScale(1);
  return {double(scale) / double(op.getOutputScale())};
}

//===- Fully connected ----------------------------------------------------===//

static llvm::Expected<NodeValue> connectQuantized(TFLiteOp &op, NodeValue rows,
                                                  const SumOptions &options) {
  GLOWISH_RETURN_IF_ERROR(
      checkWeightedInputs(op, {.input = 0, .weights = 1, .bias = 2},
                          /*taps=*/op.getShape(1)[1], options));
  NodeValue weights = op.input(1);
  if (op.getKind(1) == ElemKind::Int4)
    weights = op.cast(weights, ElemKind::Int8);
  weights = op.transposeLast(weights);
  return quantizeSums(op, rows, op.input(2), getFactors(op), options,
                      [&](NodeValue x, NodeValue bias) {
                        return multiplyBytes(op, x, op.getZeroPoint(0), weights,
                                             op.getZeroPoint(1), bias);
                      });
}

/// Weights [N, K]; the result has a row of N for each K elements of the input.
static llvm::Error importFullyConnected(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkRank(1, 2));
  auto options = op.options<schema::FullyConnectedOptions>();
  auto format = options.get<"weights_format">();
  if (format != schema::FullyConnectedOptionsWeightsFormat::DEFAULT)
    return makeError(
        "its weights are in the format {0}; accepted: DEFAULT",
        schema::EnumNameFullyConnectedOptionsWeightsFormat(format));
  const Type &weights = op.input(1).getType();
  Extent count = weights.getLength(0), columns = weights.getLength(1);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue rows, getRows(op, op.input(0), columns));
  SumOptions sums{.activation = options.get<"fused_activation_function">()};
  bool keepsDims = options.get<"keep_num_dims">();
  NodeValue result;
  if (op.isQuantized(0)) {
    sums.sumType = options.get<"quantized_bias_type">();
    GLOWISH_ASSIGN_OR_RETURN(result, connectQuantized(op, rows, sums));
  } else {
    GLOWISH_RETURN_IF_ERROR(op.checkFloat(0));
    result =
        makeFullyConnected(op, rows, op.transposeLast(dequantized(op, 1)),
                           op.hasInput(2) ? dequantized(op, 2) : NodeValue());
    result = activate(op, result, sums.activation);
  }
  const Type &type = op.input(0).getType();
  if (keepsDims && result && type.getRank() > 0) {
    std::vector<Extent> shape;
    for (unsigned d = 0; d + 1 < type.getRank(); ++d)
      shape.push_back(type.getLength(d));
    shape.push_back(count);
    GLOWISH_ASSIGN_OR_RETURN(result,
                             reshapeOpen(op, result, shape, EmptyRest::Ratio));
  }
  return op.setOutput(0, result);
}

//===- Matmuls ------------------------------------------------------------===//

/// The output's integers of \p lhs times \p rhs, both int16: as two bytes each.
static llvm::Expected<NodeValue> multiplyInt16(TFLiteOp &op, NodeValue lhs,
                                               NodeValue rhs) {
  GLOWISH_RETURN_IF_ERROR(checkActivations(op, 2, ElemKind::Int16));
  for (unsigned i = 0; i < 2; ++i)
    if (op.getZeroPoint(i) != 0)
      return op.refuseInput(i, "int16 with the zero point 0");
  // The sums of products of two uint8 stay below 2^31.
  constexpr int64_t maxTaps = 1 << 15;
  if (lhs && lhs.getShape().back() > maxTaps)
    return op.refuseInput(0, "sums of at most 32768 elements");
  NodeValue sums = sumHalves(op, lhs, [&](NodeValue left) {
    return sumHalves(op, rhs, [&](NodeValue right) {
      return op.cast(multiplyBytes(op, left, 0, right, 0, /*bias=*/{}),
                     ElemKind::Int64);
    });
  });
  return quantizeSteps(op, rescaleInt64(op, sums, getFactors(op)),
                       ActivationFunctionType::NONE);
}

static llvm::Error importBatchMatMul(TFLiteOp &op) {
  auto options = op.options<schema::BatchMatMulOptions>();
  for (unsigned i = 0; i < 2; ++i)
    if (op.getShape(i).size() < 2)
      return op.refuseInput(i, "rank 2 and more");
  GLOWISH_RETURN_IF_ERROR(op.checkBroadcast(/*first=*/0, /*numOwn=*/2));
  bool isQuantized = op.isQuantized(0);
  auto matrix = [&](unsigned index, bool isTransposed) {
    NodeValue value = isQuantized ? op.input(index) : dequantized(op, index);
    return isTransposed ? op.transposeLast(value) : value;
  };
  NodeValue lhs = matrix(0, options.get<"adj_x">()),
            rhs = matrix(1, options.get<"adj_y">());
  if (!isQuantized)
    return op.setOutput(0, op.matMul(lhs, rhs));
  GLOWISH_RETURN_IF_ERROR(op.checkKind(0, {ElemKind::Int8, ElemKind::Int16}));
  if (op.getKind(0) == ElemKind::Int16) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue result, multiplyInt16(op, lhs, rhs));
    return op.setOutput(0, result);
  }
  GLOWISH_RETURN_IF_ERROR(checkActivations(op, 2, ElemKind::Int8));
  NodeValue sums = multiplyBytes(op, lhs, op.getZeroPoint(0), rhs,
                                 op.getZeroPoint(1), /*bias=*/{});
  return op.setOutput(0, quantizeSteps(op, op.rescale(sums, getFactors(op)),
                                       ActivationFunctionType::NONE));
}

static const TFLiteOperators operators = {
    {"FULLY_CONNECTED",
     importFullyConnected,
     {.inputs = {2, 3},
      .limit = "float, int8, uint8 and int16; weights also int4"}},
    {"BATCH_MATMUL",
     importBatchMatMul,
     {.inputs = 2, .limit = "float, int8 and int16"}}};
