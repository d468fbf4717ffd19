//===- Softmax.cpp - Softmax of floats and of bytes -----------------------===//

#include "TFLite/FixedPoint.h"
#include "TFLite/Quantized.h"
#include "glowish/Importer/TFLite.h"
#include "glowish/Ops/TypeRuleHelpers.h"
#include <cmath>

using namespace glowish;
using namespace glowish::tflite;

namespace {

/// The bits in front of the point of differences, and of sums.
constexpr int diffBits = 5, sumBits = 12;

/// What is looked up by how far a byte is below the largest of its row: e to
/// the difference, with 31 bits behind the point, and with 31 - sumBits.
struct Exponents {
  std::vector<int64_t> fine, coarse;
};

} // namespace

static llvm::Expected<Exponents> tabulate(double scale) {
  double factor = std::min(scale * double(1 << (31 - diffBits)),
                           double((int64_t(1) << 31) - 1));
  FixedPointFactor fixed = FixedPointFactor::get(factor);
  if (fixed.multiplier == 0 || fixed.shift < 0)
    return makeError("the scale of its input, times beta, is {0}; accepted: at "
                     "least 2^-26",
                     typerules::formatDouble(scale));
  // Below it e to the difference is 0.
  double least = std::floor(double((1 << diffBits) - 1) *
                            double(int64_t(1) << (31 - diffBits)) /
                            std::ldexp(1, fixed.shift));
  Exponents result;
  for (int difference = 0; difference < 256; ++difference) {
    int32_t fine = 0;
    if (difference <= least) {
      auto raised = int32_t(-int64_t(difference) * (int64_t(1) << fixed.shift));
      fine =
          exponentOfNegative(roundedMultiplyHigh32(raised, fixed.multiplier));
    }
    result.fine.push_back(fine);
    result.coarse.push_back(roundedShiftRight32(fine, sumBits));
  }
  return result;
}

/// The product of two numbers with 31 bits behind the point.
static NodeValue multiply(TFLiteOp &op, NodeValue x, NodeValue y) {
  return x && y ? op.make<RescaleNode>(x, y, op.scalar(ElemKind::Int32, 0))
                : NodeValue();
}

/// 1 / (1 + x) of 0 <= x < 1, both with 31 bits behind the point: three steps
/// of Newton's method for half of 1 + x, of which numbers with 29 bits behind
/// the point are the results.
static NodeValue reciprocalOfOnePlus(TFLiteOp &op, NodeValue x) {
  constexpr double one = 1 << 29, half = 1 << 30;
  // 48 / 17 and -32 / 17.
  constexpr double offset = 1515870810, slope = -1010580540;
  if (!x)
    return x;
  NodeValue denominator =
      op.add(op.make<ShiftRightNode>(x, op.number(x, 1)), half);
  NodeValue result =
      op.add(multiply(op, denominator, op.number(x, slope)), offset);
  for (int step = 0; step < 3; ++step) {
    NodeValue rest = op.sub(one, multiply(op, denominator, result));
    result = op.add(result, op.mul(multiply(op, result, rest), 4));
  }
  return op.select(op.less(result, half), op.mul(result, 2),
                   op.number(x, std::numeric_limits<int32_t>::max()));
}

/// By integers alone: exponents from a table, and the reciprocal of their sum.
static llvm::Error importBytes(TFLiteOp &op, float beta) {
  GLOWISH_RETURN_IF_ERROR(op.checkKind(0, {ElemKind::Int8, ElemKind::UInt8}));
  GLOWISH_RETURN_IF_ERROR(op.checkQuantized(0));
  ElemKind kind = op.getOutputKind();
  if (kind != op.getKind(0) && kind != ElemKind::Int16)
    return makeError("output 0 is {0}; accepted: the input's kind, int16",
                     op.getStatedType().str());
  GLOWISH_ASSIGN_OR_RETURN(Exponents exponents,
                           tabulate(double(beta) * double(op.getScale(0))));
  NodeValue x = op.cast(op.input(0), ElemKind::Int32);
  int64_t axis = int64_t(op.getShape(0).size()) - 1;
  NodeValue below = op.sub(op.reduce(x, "max", {axis}, /*keepDims=*/true), x);
  auto lookUp = [&](llvm::ArrayRef<int64_t> table) {
    return op.gather(op.ints(ElemKind::Int32, {256}, table), below, 0);
  };
  NodeValue sum =
      op.reduce(lookUp(exponents.coarse), "sum", {axis}, /*keepDims=*/true);
  // The sum is at least 2^19, as the largest adds that much. It is 2^(19 +
  // bits) times 1 + a fraction.
  constexpr int leastBit = 31 - sumBits;
  NodeValue bits = op.number(x, 0);
  for (int bit = leastBit + 1; bit < 31; ++bit)
    bits = op.add(bits, op.cast(op.greaterOrEqual(sum, std::ldexp(1, bit)),
                                ElemKind::Int32));
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  NodeValue normal = op.make<ShiftLeftNode>(sum, op.sub(sumBits, bits));
  NodeValue fraction = op.sub(normal, -std::ldexp(1, 31));
  NodeValue reciprocal = reciprocalOfOnePlus(op, fraction);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  // A probability of 1 would be one more than the largest number.
  int outputBits = 8 * int(getElemSize(kind));
  NodeValue steps = op.make<RescaleNode>(lookUp(exponents.fine), reciprocal,
                                         op.sub(double(outputBits - 31), bits));
  if (isSignedIntegerKind(kind))
    steps = op.sub(steps, std::ldexp(1, outputBits - 1));
  return op.setOutput(0, saturate(op, steps, kind));
}

static llvm::Error importSoftmax(TFLiteOp &op) {
  float beta = op.options<schema::SoftmaxOptions>().get<"beta">();
  if (op.getShape(0).empty())
    return op.refuseInput(0, "rank 1 and more");
  bool isQuantized = op.isQuantized(0);
  if (isQuantized &&
      !TFLiteOptions::of(op.getContext().options).hasFloatSoftmax)
    return importBytes(op, beta);
  if (!isQuantized)
    GLOWISH_RETURN_IF_ERROR(op.checkFloat(0));
  int64_t axis = int64_t(op.getShape(0).size()) - 1;
  NodeValue x = dequantized(op, 0);
  if (beta != 1)
    x = op.mul(x, double(beta));
  NodeValue result = x ? op.make<SoftmaxNode>(x, axis) : x;
  if (!isQuantized)
    return op.setOutput(0, result);
  GLOWISH_RETURN_IF_ERROR(op.checkOutputQuantized());
  return op.setOutput(
      0, quantize(op, result, op.getOutputKind(), *op.getOutputQuantization()));
}

static llvm::Error importLogSoftmax(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat(0));
  if (op.getShape(0).empty())
    return op.refuseInput(0, "rank 1 and more");
  return op.setOutput(0, op.make<LogSoftmaxNode>(
                             op.input(0), int64_t(op.getShape(0).size()) - 1));
}

static const TFLiteOperators operators = {
    {"SOFTMAX", importSoftmax, {.limit = "float, int8 and uint8"}},
    {"LOG_SOFTMAX", importLogSoftmax, {.limit = "float"}}};
