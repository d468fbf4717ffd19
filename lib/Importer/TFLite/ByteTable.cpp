//===- ByteTable.cpp - Functions of quantized bytes -----------------------===//

#include "TFLite/ByteTable.h"
#include "TFLite/FixedPoint.h"
#include "glowish/Base/ElemRange.h"
#include <cmath>

using namespace glowish;
using namespace glowish::tflite;

static llvm::Error checkBytes(const TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkKind(0, {ElemKind::Int8, ElemKind::UInt8}));
  GLOWISH_RETURN_IF_ERROR(op.checkQuantized(0));
  if (op.getOutputKind() != op.getKind(0))
    return makeError("output 0 is {0}; accepted: the input's kind",
                     op.getStatedType().str());
  return op.checkOutputQuantized();
}

/// The integer of input 0 that \p byte is.
static int64_t getInteger(const TFLiteOp &op, unsigned byte) {
  return op.getKind(0) == ElemKind::Int8 ? int8_t(uint8_t(byte))
                                         : int64_t(byte);
}

/// \p value as the output's kind has it.
static int64_t saturateByte(const TFLiteOp &op, int64_t value) {
  return int64_t(getFiniteRange(op.getOutputKind()).clamp(double(value)));
}

llvm::Error tflite::setByteTable(TFLiteOp &op,
                                 llvm::Expected<ByteTable> table) {
  if (!table)
    return table.takeError();
  return op.setOutput(0, op.make<LookupNode>(op.input(0), *table));
}

llvm::Error tflite::setByteFunction(TFLiteOp &op,
                                    llvm::function_ref<float(float)> function) {
  GLOWISH_RETURN_IF_ERROR(checkBytes(op));
  float inverse = 1.0f / op.getOutputScale();
  ByteTable table;
  for (unsigned byte = 0; byte < 256; ++byte) {
    float x = op.getScale(0) * float(getInteger(op, byte) - op.getZeroPoint(0));
    float steps = std::round(function(x) * inverse);
    // NaN, as the logarithm of a negative number is, becomes the least number.
    steps = steps == steps ? std::clamp(steps, -65536.0f, 65536.0f) : -65536.0f;
    table.push_back(saturateByte(op, int64_t(steps) + op.getOutputZeroPoint()));
  }
  return setByteTable(op, std::move(table));
}

/// The factor that turns steps of 1/128 of the input's scale into output steps.
static int16_t roundToInt16(int32_t multiplier) {
  int64_t rounded = (int64_t(multiplier) + (1 << 15)) >> 16;
  return int16_t(std::min<int64_t>(rounded, 32767));
}

llvm::Expected<ByteTable> tflite::tabulateHardSwish(const TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(checkBytes(op));
  float fine = op.getScale(0) / 128.0f;
  FixedPointFactor toOutput =
      FixedPointFactor::get(double(fine / op.getOutputScale()));
  // 3 / 32768: the steps in which x / 3 is an int16.
  FixedPointFactor toThirds =
      FixedPointFactor::get(double(fine / (3.0f / 32768.0f)));
  int16_t outputFactor = roundToInt16(toOutput.multiplier);
  int16_t thirdsFactor = roundToInt16(toThirds.multiplier);
  ByteTable table;
  for (unsigned byte = 0; byte < 256; ++byte) {
    auto x = int16_t((getInteger(op, byte) - op.getZeroPoint(0)) * 128);
    int16_t output = roundedMultiplyHigh16(x, outputFactor);
    int16_t thirds = x;
    if (toThirds.shift > 0)
      thirds = saturatingShiftLeft16(thirds, toThirds.shift - 1);
    thirds = roundedMultiplyHigh16(thirds, thirdsFactor);
    if (toThirds.shift > 0)
      thirds = saturatingShiftLeft16(thirds, 1);
    else if (toThirds.shift < 0)
      thirds = roundedShiftRight16(thirds, -toThirds.shift);
    // (x / 3 + 1) / 2 is x + 3 of 6, an int16 from 0 on.
    auto gate = int16_t((int32_t(thirds) + (1 << 15)) >> 1);
    int16_t gated = truncatedMultiplyHigh16(gate, output);
    int16_t result = roundedShiftRight16(gated, -toOutput.shift);
    table.push_back(saturateByte(op, result + op.getOutputZeroPoint()));
  }
  return table;
}

llvm::Expected<ByteTable> tflite::tabulateReciprocalRoot(const TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkKind(0, ElemKind::Int8));
  GLOWISH_RETURN_IF_ERROR(checkBytes(op));
  // Bits that a root below 1 has as an integer.
  constexpr int spareBits = 20;
  FixedPointFactor toOutput = FixedPointFactor::get(
      1 / double(std::sqrt(op.getScale(0)) * op.getOutputScale()));
  ByteTable table;
  for (unsigned byte = 0; byte < 256; ++byte) {
    int64_t x = getInteger(op, byte) - op.getZeroPoint(0);
    if (x <= 0) {
      table.push_back(std::numeric_limits<int8_t>::max());
      continue;
    }
    ScaledNumber root = getReciprocalRoot(int32_t(x));
    int32_t steps = rescale32(1, root.multiplier, root.shift + spareBits);
    steps = rescale32(steps, toOutput.multiplier, toOutput.shift - spareBits);
    table.push_back(saturateByte(op, steps + op.getOutputZeroPoint()));
  }
  return table;
}
