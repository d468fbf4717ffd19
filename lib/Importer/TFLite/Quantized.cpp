//===- Quantized.cpp - Parts of quantized operators -----------------------===//

#include "TFLite/Quantized.h"
#include "glowish/Base/ElemRange.h"
#include "glowish/Graph/RepeatedBlocks.h"
#include "glowish/Importer/TFLite.h"
#include "glowish/Ops/TypeRuleHelpers.h"
#include <cmath>

using namespace glowish;
using namespace glowish::tflite;
using schema::ActivationFunctionType;

//===- Activations --------------------------------------------------------===//

llvm::Error tflite::checkActivations(const TFLiteOp &op, unsigned numInputs,
                                     llvm::ArrayRef<ElemKind> kinds) {
  for (unsigned i = 0; i < numInputs; ++i) {
    GLOWISH_RETURN_IF_ERROR(op.checkKind(i, kinds));
    GLOWISH_RETURN_IF_ERROR(op.checkQuantized(i));
  }
  return op.checkOutputQuantized();
}

/// What an activation limits its results to; nullopt of one that computes
/// something else.
static std::optional<ActivationBounds>
getBounds(ActivationFunctionType activation) {
  switch (activation) {
  case ActivationFunctionType::NONE:
    return {{-HUGE_VAL, HUGE_VAL}};
  case ActivationFunctionType::RELU:
    return {{0, HUGE_VAL}};
  case ActivationFunctionType::RELU_N1_TO_1:
    return {{-1, 1}};
  case ActivationFunctionType::RELU6:
    return {{0, 6}};
  case ActivationFunctionType::TANH:
  case ActivationFunctionType::SIGN_BIT:
    break;
  }
  return std::nullopt;
}

/// 1 where the sign of \p x is negative, also that of -0, else 0.
static NodeValue getSignBit(TFLiteOp &op, NodeValue x) {
  NodeValue isNegative = op.less(x, 0);
  if (x && isFloatKind(x.getElemKind()))
    isNegative = op.logicalOr(isNegative, op.less(op.div(1, x), 0));
  return op.cast(isNegative, op.getOutputKind());
}

NodeValue tflite::activate(TFLiteOp &op, NodeValue x,
                           ActivationFunctionType activation) {
  switch (activation) {
  case ActivationFunctionType::NONE:
    return x;
  case ActivationFunctionType::RELU:
    return op.unary<ReluNode>(x);
  case ActivationFunctionType::TANH:
    return op.unary<TanhNode>(x);
  case ActivationFunctionType::SIGN_BIT:
    return getSignBit(op, x);
  case ActivationFunctionType::RELU_N1_TO_1:
  case ActivationFunctionType::RELU6:
    break;
  }
  auto [low, high] = *getBounds(activation);
  return op.clip(x, low, high);
}

NodeValue tflite::quantizeSteps(TFLiteOp &op, NodeValue x,
                                ActivationFunctionType activation) {
  if (std::optional<ActivationBounds> bounds = getBounds(activation))
    return quantizeSteps(op, x, *bounds);
  return op.keep(makeError(
      "its activation is {0}; accepted of quantized tensors: NONE, RELU, "
      "RELU_N1_TO_1, RELU6",
      schema::EnumNameActivationFunctionType(activation)));
}

NodeValue tflite::quantizeSteps(TFLiteOp &op, NodeValue x,
                                ActivationBounds bounds) {
  ElemKind kind = op.getOutputKind();
  double zeroPoint = double(op.getOutputZeroPoint());
  auto [low, high] = bounds;
  auto [least, most] = getFiniteRange(kind);
  auto toSteps = [&](double bound) {
    return zeroPoint + std::round(float(bound) / op.getOutputScale());
  };
  if (std::isfinite(low))
    least = std::max(least, toSteps(low));
  if (std::isfinite(high))
    most = std::min(most, toSteps(high));
  if (zeroPoint != 0)
    x = op.add(x, zeroPoint);
  return op.cast(op.clip(x, least, most), kind);
}

//===- Floats and integers ------------------------------------------------===//

NodeValue tflite::saturate(NodeBuilder &b, NodeValue x, ElemKind to) {
  auto [low, high] = getFiniteRange(to);
  return b.cast(getElemSize(to) < 4 ? b.clip(x, low, high) : x, to);
}

namespace {

/// Scales and zero points as operands of the integers' shape, or that broadcast
/// to it.
struct Parameters {
  NodeValue scales, zeroPoints;
};

} // namespace

/// Returns a constant of \p kind with \p numbers.
template <typename T>
static NodeValue tabulate(NodeBuilder &b, ElemKind kind, DimsRef shape,
                          const std::vector<T> &numbers) {
  size_t i = 0;
  return b.table(kind, shape, [&](DimsRef) { return double(numbers[i++]); });
}

/// Those of blocks, each repeated for the elements of its block.
static Parameters makeBlockParameters(NodeBuilder &b, NodeValue x,
                                      const Quantization &quantization) {
  Dims shape(x.getShape());
  shape.back() /= quantization.block;
  auto repeat = [&](NodeValue parameter) {
    return parameter ? repeatBlocks(b.getFunction(), b.getName(), parameter,
                                    unsigned(quantization.axis),
                                    x.getShape().back(), quantization.block)
                     : parameter;
  };
  NodeValue scales = tabulate(b, ElemKind::Float, shape, quantization.scales);
  if (llvm::all_of(quantization.zeroPoints, [](int64_t z) { return z == 0; }))
    return {repeat(scales), b.scalar(ElemKind::Int32, 0)};
  // Of the integers' kind, as the optimizer has them, if it can have them.
  ElemKind kind = x.getElemKind();
  auto [low, high] = getFiniteRange(kind);
  for (int64_t zeroPoint : quantization.zeroPoints)
    if (double(zeroPoint) < low || double(zeroPoint) > high)
      kind = ElemKind::Int32;
  NodeValue zeroPoints = tabulate(b, kind, shape, quantization.zeroPoints);
  return {repeat(scales), b.cast(repeat(zeroPoints), ElemKind::Int32)};
}

static Parameters makeParameters(NodeBuilder &b, NodeValue x,
                                 const Quantization &quantization) {
  if (quantization.block)
    return makeBlockParameters(b, x, quantization);
  // Along the dimension that the scales belong to.
  Dims shape;
  if (!quantization.isPerTensor()) {
    shape.assign(x.getShape().size(), 1);
    shape[size_t(quantization.axis)] = int64_t(quantization.scales.size());
  }
  NodeValue scales = tabulate(b, ElemKind::Float, shape, quantization.scales);
  return {scales, tabulate(b, ElemKind::Int32, shape, quantization.zeroPoints)};
}

NodeValue tflite::dequantize(NodeBuilder &b, NodeValue x,
                             const Quantization &quantization) {
  if (!x)
    return x;
  auto [scales, zeroPoints] = makeParameters(b, x, quantization);
  NodeValue steps = b.sub(b.cast(x, ElemKind::Int32), zeroPoints);
  return b.mul(b.cast(steps, ElemKind::Float), scales);
}

NodeValue tflite::quantize(NodeBuilder &b, NodeValue x, ElemKind kind,
                           const Quantization &quantization) {
  if (!x)
    return x;
  NodeValue steps = b.div(x, double(quantization.getScale()));
  NodeValue magnitude = b.unary<AbsNode>(steps);
  // Not floor(x + 1/2): of the float below 1/2 the sum is rounded to 1.
  NodeValue whole = b.unary<FloorNode>(magnitude);
  NodeValue isBelowHalf = b.less(b.sub(magnitude, whole), 0.5);
  NodeValue rounded = b.select(isBelowHalf, whole, b.add(whole, 1));
  rounded = b.select(b.less(steps, 0), b.unary<NegNode>(rounded), rounded);
  NodeValue integers = b.cast(rounded, ElemKind::Int32);
  // The cast saturates, and the sum must not wrap.
  auto [least, most] = getFiniteRange(ElemKind::Int32);
  int64_t zeroPoint = quantization.getZeroPoint();
  if (zeroPoint < 0)
    integers = b.max(integers, least - double(zeroPoint));
  if (zeroPoint > 0)
    integers = b.min(integers, most - double(zeroPoint));
  if (zeroPoint != 0)
    integers = b.add(integers, double(zeroPoint));
  return saturate(b, integers, kind);
}

//===- Integers -----------------------------------------------------------===//

NodeValue tflite::getZeroPoint(TFLiteOp &op, unsigned index) {
  int64_t zeroPoint = op.getZeroPoint(index);
  return zeroPoint == 0 ? NodeValue()
                        : op.scalar(op.getKind(index), double(zeroPoint));
}

/// An error unless the weights are quantized, with one zero point; it is 0
/// where there is a scale for each channel.
static llvm::Error checkWeights(const TFLiteOp &op, WeightedInputs at) {
  if (!op.isQuantized(at.weights))
    return op.refuseInput(at.weights, "quantized integers");
  const Quantization &weights = *op.getTensor(at.weights).quantization;
  if (weights.isPerTensor())
    return llvm::Error::success();
  if (weights.block || weights.axis != at.channelAxis ||
      llvm::any_of(weights.zeroPoints, [](int64_t zero) { return zero != 0; }))
    return op.refuseInput(
        at.weights,
        llvm::formatv("one scale, or scales along dimension {0} with zero "
                      "points 0",
                      at.channelAxis)
            .str());
  return llvm::Error::success();
}

/// An error unless sums of the stated kind are those of the input's kind.
static llvm::Error checkSumType(const TFLiteOp &op, WeightedInputs at,
                                schema::TensorType type) {
  bool isWide = op.getKind(at.input) == ElemKind::Int16;
  if (type == schema::TensorType::FLOAT32 ||
      type == schema::TensorType::INT32 ||
      (type == schema::TensorType::INT64 && isWide))
    return llvm::Error::success();
  return makeError("its bias and sums are {0} (quantized_bias_type); accepted "
                   "for {1}: INT32{2}",
                   schema::EnumNameTensorType(type),
                   getElemKindName(op.getKind(at.input)),
                   isWide ? ", INT64" : "");
}

NodeValue tflite::centered(TFLiteOp &op, unsigned index) {
  NodeValue x = op.cast(op.input(index), ElemKind::Int32);
  int64_t zeroPoint = op.getZeroPoint(index);
  return zeroPoint == 0 ? x : op.sub(x, double(zeroPoint));
}

/// The sums of the columns of \p rhs - \p zero, int32 [N]. Those of constant
/// weights are made here: folding would widen all of them first.
static NodeValue sumColumns(NodeBuilder &b, NodeValue rhs, int64_t zero) {
  auto *constant = rhs.getNodeAs<Constant>();
  int64_t rank = int64_t(rhs.getShape().size());
  if (constant && rank == 2) {
    const Tensor &weights = constant->getTensor();
    int64_t rows = rhs.getShape()[0], columns = rhs.getShape()[1];
    // Like those of a run, they wrap.
    std::vector<uint32_t> sums(size_t(columns), 0);
    for (int64_t k = 0; k < rows; ++k)
      for (int64_t n = 0; n < columns; ++n)
        sums[size_t(n)] += uint32_t(weights.getAsInt(k * columns + n) - zero);
    std::vector<int32_t> wrapped(sums.begin(), sums.end());
    return b.createConstant(
        Tensor::fromValues<int32_t>(Type(ElemKind::Int32, {columns}), wrapped));
  }
  NodeValue centers = b.cast(rhs, ElemKind::Int32);
  if (zero)
    centers = b.sub(centers, double(zero));
  return b.reduce(centers, "sum", {rank - 2}, /*keepDims=*/rank > 2);
}

NodeValue tflite::multiplyBytes(NodeBuilder &b, NodeValue lhs, int64_t lhsZero,
                                NodeValue rhs, int64_t rhsZero,
                                NodeValue bias) {
  if (!lhs || !rhs)
    return {};
  NodeValue zeroPoint = rhsZero ? b.number(rhs, double(rhsZero)) : NodeValue();
  NodeValue sums = b.make<MatMulIntegerNode>(lhs, rhs, zeroPoint);
  // What the zero point adds to a sum depends on rhs alone.
  if (lhsZero) {
    NodeValue added = b.mul(sumColumns(b, rhs, rhsZero), -double(lhsZero));
    bias = bias ? b.add(bias, added) : added;
  }
  return bias ? b.add(sums, bias) : sums;
}

NodeValue tflite::dequantized(TFLiteOp &op, unsigned index) {
  if (op.isQuantized(index))
    return dequantize(op, op.input(index), *op.getTensor(index).quantization);
  if (!isFloatKind(op.getKind(index)))
    return op.keep(op.refuseInput(index, "floats, quantized integers"));
  return op.cast(op.input(index), ElemKind::Float);
}

std::vector<double> tflite::getSumFactors(const TFLiteOp &op, unsigned lhs,
                                          unsigned rhs) {
  std::vector<double> factors;
  for (float scale : op.getTensor(rhs).quantization->scales)
    factors.push_back(double(op.getScale(lhs)) * double(scale) /
                      double(op.getOutputScale()));
  return factors;
}

llvm::Error tflite::checkBiasScales(const TFLiteOp &op, unsigned lhs,
                                    unsigned rhs, unsigned bias) {
  if (!op.isQuantized(bias))
    return llvm::Error::success();
  const ImportOptions &options = op.getContext().options;
  const std::vector<float> &own = op.getTensor(bias).quantization->scales;
  const std::vector<float> &weights = op.getTensor(rhs).quantization->scales;
  for (size_t i = 0; i < own.size(); ++i) {
    double expected = double(op.getScale(lhs)) *
                      double(weights[std::min(i, weights.size() - 1)]);
    double off = std::abs(double(own[i]) - expected);
    if (off <= TFLiteOptions::of(options).biasScaleTolerance * expected)
      continue;
    std::string text = llvm::formatv(
        "the scale of the bias is {0}, that of input and weights {1}",
        typerules::formatDouble(double(own[i])),
        typerules::formatDouble(expected));
    return TFLiteOptions::of(options).refusesBiasScales
               ? makeError("{0}; «tflite-bias-scale-check-max-error» accepts "
                           "more than {1}",
                           text,
                           typerules::formatDouble(
                               TFLiteOptions::of(options).biasScaleTolerance))
               : options.report(llvm::formatv("{0} {1}: {2}", op.getType(),
                                              quote(op.getName()), text)
                                    .str());
  }
  return llvm::Error::success();
}

NodeValue tflite::rescaleInt64(TFLiteOp &op, NodeValue x,
                               llvm::ArrayRef<double> factors) {
  // A shift to the right moves zeros in: what is shifted is made positive.
  constexpr int offsetBits = 62;
  std::vector<int64_t> multipliers, halves, shifts, offsets;
  for (double factor : factors) {
    FixedPointFactor fixed = FixedPointFactor::get(factor);
    int shift = std::clamp(15 - fixed.shift, 1, offsetBits);
    multipliers.push_back(fixed.multiplier < 0x7fff0000
                              ? (fixed.multiplier + (1 << 15)) >> 16
                              : 0x7fff);
    halves.push_back(int64_t(1) << (shift - 1));
    shifts.push_back(shift);
    offsets.push_back(int64_t(1) << (offsetBits - shift));
  }
  if (!x)
    return x;
  Dims shape;
  if (factors.size() > 1)
    shape.push_back(int64_t(factors.size()));
  auto constant = [&](llvm::ArrayRef<int64_t> values) {
    return op.ints(ElemKind::Int64, shape, values);
  };
  NodeValue scaled = op.add(op.mul(x, constant(multipliers)), constant(halves));
  NodeValue raised = op.add(scaled, std::ldexp(1, offsetBits));
  return op.sub(op.make<ShiftRightNode>(raised, constant(shifts)),
                constant(offsets));
}

llvm::Error tflite::checkWeightedInputs(const TFLiteOp &op, WeightedInputs at,
                                        int64_t taps,
                                        const SumOptions &options) {
  GLOWISH_RETURN_IF_ERROR(op.checkKind(at.input, activationKinds));
  GLOWISH_RETURN_IF_ERROR(op.checkKind(
      at.weights, {ElemKind::Int8, ElemKind::UInt8, ElemKind::Int4}));
  GLOWISH_RETURN_IF_ERROR(op.checkQuantized(at.input));
  GLOWISH_RETURN_IF_ERROR(op.checkOutputQuantized());
  GLOWISH_RETURN_IF_ERROR(checkWeights(op, at));
  GLOWISH_RETURN_IF_ERROR(checkSumType(op, at, options.sumType));
  GLOWISH_RETURN_IF_ERROR(checkBiasScales(op, at.input, at.weights, at.bias));
  if (op.getKind(at.input) != ElemKind::Int16)
    return op.hasInput(at.bias) ? op.checkKind(at.bias, ElemKind::Int32)
                                : llvm::Error::success();
  // The sums of both halves stay below 2^31.
  constexpr int64_t maxTaps = 1 << 16;
  if (op.getZeroPoint(at.input) != 0)
    return op.refuseInput(at.input, "int16 with the zero point 0");
  if (taps > maxTaps)
    return op.refuseInput(at.weights, "sums of at most 65536 elements");
  return llvm::Error::success();
}

NodeValue tflite::sumHalves(TFLiteOp &op, NodeValue x,
                            llvm::function_ref<NodeValue(NodeValue half)> sum) {
  if (!x)
    return x;
  NodeValue low = op.make<BitAndNode>(x, op.number(x, 255));
  NodeValue high = op.div(op.sub(x, low), 256);
  NodeValue ofHigh = sum(op.cast(high, ElemKind::Int8));
  return op.add(op.mul(ofHigh, 256), sum(op.cast(low, ElemKind::UInt8)));
}

NodeValue
tflite::quantizeSums(TFLiteOp &op, NodeValue x, NodeValue bias,
                     llvm::ArrayRef<double> factors, const SumOptions &options,
                     llvm::function_ref<NodeValue(NodeValue, NodeValue)> sum) {
  if (!x)
    return x;
  if (x.getElemKind() != ElemKind::Int16)
    return quantizeSteps(op, op.rescale(sum(x, bias), factors),
                         options.activation);
  NodeValue sums = sumHalves(op, x, [&](NodeValue half) {
    return op.cast(sum(half, NodeValue()), ElemKind::Int64);
  });
  if (bias)
    sums = op.add(sums, op.cast(bias, ElemKind::Int64));
  NodeValue steps = options.sumType == schema::TensorType::INT32
                        ? op.rescale(op.cast(sums, ElemKind::Int32), factors)
                        : rescaleInt64(op, sums, factors);
  return quantizeSteps(op, steps, options.activation);
}
