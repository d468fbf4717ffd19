//===- Quantization.cpp - Conversions of elements -------------------------===//

#include "TFLite/Quantized.h"

using namespace glowish;
using namespace glowish::tflite;
using schema::ActivationFunctionType;

static constexpr ElemKind quantizedKinds[] = {ElemKind::Int8, ElemKind::UInt8,
                                              ElemKind::Int16, ElemKind::Int32};

/// Of floats, or from one scale to another.
static llvm::Error importQuantize(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkOutputQuantized());
  if (!llvm::is_contained(quantizedKinds, op.getOutputKind()))
    return makeError("output 0 is {0}; accepted: int8, uint8, int16, int32",
                     op.getStatedType().str());
  if (!op.isQuantized(0)) {
    GLOWISH_RETURN_IF_ERROR(op.checkFloat(0));
    return op.setOutput(0, quantize(op, op.input(0), op.getOutputKind(),
                                    *op.getOutputQuantization()));
  }
  GLOWISH_RETURN_IF_ERROR(op.checkKind(0, quantizedKinds));
  GLOWISH_RETURN_IF_ERROR(op.checkQuantized(0));
  double factor = double(op.getScale(0)) / double(op.getOutputScale());
  NodeValue steps = op.rescale(centered(op, 0), factor);
  if (op.getOutputKind() == ElemKind::Int32)
    return op.setOutput(0, op.add(steps, double(op.getOutputZeroPoint())));
  return op.setOutput(0,
                      quantizeSteps(op, steps, ActivationFunctionType::NONE));
}

static llvm::Error importDequantize(TFLiteOp &op) {
  return op.setOutput(0, dequantized(op, 0));
}

static llvm::Error importCast(TFLiteOp &op) {
  return op.setOutput(0, op.cast(op.input(0), op.getOutputKind()));
}

static const TFLiteOperators operators = {
    {"QUANTIZE", importQuantize, {.limit = "one scale for a tensor"}},
    {"DEQUANTIZE", importDequantize},
    {"CAST", importCast}};
