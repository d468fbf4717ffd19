//===- Int16Table.cpp - Functions of quantized int16 ----------------------===//

#include "TFLite/Int16Table.h"
#include <cmath>

using namespace glowish;
using namespace glowish::tflite;

/// The integers from one entry of a table to the next one: 2^stepBits.
static constexpr int stepBits = 7;
static constexpr int64_t numSteps = (1 << 16) >> stepBits;
static constexpr float least = -32768, most = 32767;

static llvm::Error checkInt16(const TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkKind(0, ElemKind::Int16));
  GLOWISH_RETURN_IF_ERROR(op.checkQuantized(0));
  GLOWISH_RETURN_IF_ERROR(op.checkOutputQuantized());
  if (op.getOutputKind() != ElemKind::Int16)
    return makeError("output 0 is {0}; accepted: the input's kind",
                     op.getStatedType().str());
  if (op.getZeroPoint(0) != 0 || op.getOutputZeroPoint() != 0)
    return op.refuseInput(0, "int16 with the zero point 0, as the output");
  return llvm::Error::success();
}

/// The integer that \p value is, limited to int16; the least one of NaN.
static int64_t limitToInt16(float value) {
  return int64_t(value > least ? std::min(value, most) : least);
}

/// The values of \p function at the ends of the steps. Each lies beside the
/// curve by half of what the middle of a chord is off, so that what is
/// interpolated is off as much above as below.
static std::vector<int64_t>
tabulate(const TFLiteOp &op, llvm::function_ref<float(float)> function) {
  float low = op.getScale(0) * least, high = op.getScale(0) * most;
  float lowest = op.getOutputScale() * least,
        highest = op.getOutputScale() * most;
  float step = (high - low) / float(numSteps);
  float toOutput = 65536.0f / (highest - lowest);
  std::vector<int64_t> entries;
  for (int64_t i = 0; i < numSteps; ++i) {
    float begin = low + float(i) * step, end = low + float(i + 1) * step;
    float value = std::round(function(begin) * toOutput);
    float chord = std::round((function(end) * toOutput + value) / 2);
    float middle = std::round(function(begin + step / 2) * toOutput);
    float shift = std::round((chord - middle) / 2);
    // Infinities have no difference.
    entries.push_back(
        limitToInt16(std::isfinite(shift) ? value - shift : value));
  }
  entries.push_back(limitToInt16(std::round(function(high) * toOutput)));
  return entries;
}

llvm::Error
tflite::setInt16Function(TFLiteOp &op,
                         llvm::function_ref<float(float)> function) {
  GLOWISH_RETURN_IF_ERROR(checkInt16(op));
  std::vector<int64_t> entries = tabulate(op, function), slopes;
  for (int64_t i = 0; i < numSteps; ++i)
    slopes.push_back(int16_t(entries[size_t(i) + 1] - entries[size_t(i)]));
  NodeValue x = op.add(op.cast(op.input(0), ElemKind::Int32), double(1 << 15));
  if (!x)
    return op.takeError();
  auto shiftRight = [&](NodeValue value) {
    return op.make<ShiftRightNode>(value, op.number(value, stepBits));
  };
  NodeValue index = shiftRight(x);
  NodeValue place =
      op.make<BitAndNode>(x, op.number(x, double((1 << stepBits) - 1)));
  NodeValue base =
      op.gather(op.ints(ElemKind::Int32, {numSteps + 1}, entries), index, 0);
  NodeValue slope =
      op.gather(op.ints(ElemKind::Int32, {numSteps}, slopes), index, 0);
  // A shift to the right moves zeros in: what is shifted is made positive.
  constexpr double raise = 1 << 30, half = 1 << (stepBits - 1);
  NodeValue raised = op.add(op.mul(slope, place), raise + half);
  if (!raised)
    return op.takeError();
  NodeValue between = op.sub(shiftRight(raised), raise / double(1 << stepBits));
  return op.setOutput(0, op.cast(op.add(base, between), ElemKind::Int16));
}
