//===- Boundary.cpp - Inputs and outputs as the options ask for -----------===//

#include "TFLite/Boundary.h"
#include "TFLite/Quantized.h"

using namespace glowish;

/// \p x + \p offset in the integers of its kind, which wrap.
static NodeValue shiftBy(NodeBuilder &b, NodeValue x, int64_t offset,
                         ElemKind to) {
  NodeValue sum = b.add(b.cast(x, ElemKind::Int32), double(offset));
  return b.cast(sum, to);
}

/// From uint8 to int8: 0 becomes -128.
static constexpr int64_t uint8Offset = -128;

ElemKind glowish::getInputKind(const TFLiteTensor &tensor,
                               const TFLiteOptions &options) {
  if (options.hasFloatInputs && tensor.hasOneScale())
    return ElemKind::Float;
  ElemKind kind = tensor.type.getKind();
  return options.turnsUInt8ToInt8 && kind == ElemKind::UInt8 ? ElemKind::Int8
                                                             : kind;
}

void glowish::createInput(Function &function, TFLiteTensor &tensor,
                          DimsRef shape, const TFLiteOptions &options) {
  ElemKind kind = getInputKind(tensor, options), own = tensor.type.getKind();
  NodeValue value(function.getModule().createPlaceholder(
      tensor.name, Type(kind, shape), /*isInput=*/true, /*isOutput=*/false));
  NodeBuilder b(function, tensor.name);
  if (kind == own)
    tensor.value = value;
  else if (kind == ElemKind::Float)
    tensor.value = quantize(b, value, own, *tensor.quantization);
  else
    tensor.value = shiftBy(b, value, -uint8Offset, own);
}

void glowish::createOutput(Function &function, const TFLiteTensor &tensor,
                           llvm::StringRef name, const TFLiteOptions &options) {
  NodeBuilder b(function, tensor.name);
  NodeValue value = tensor.value;
  if (options.hasFloatOutputs && tensor.quantization)
    value = dequantize(b, value, *tensor.quantization);
  else if (options.turnsUInt8ToInt8 && value.getElemKind() == ElemKind::UInt8)
    value = shiftBy(b, value, uint8Offset, ElemKind::Int8);
  Placeholder *placeholder = function.getModule().createPlaceholder(
      name, value.getType(), /*isInput=*/false, /*isOutput=*/true);
  function.create<SaveNode>(("save_" + name).str(), value,
                            NodeValue(placeholder));
}

static int64_t getVariableOffset(const TFLiteTensor &tensor) {
  return tensor.quantization && isIntegerKind(tensor.type.getKind())
             ? tensor.quantization->getZeroPoint()
             : 0;
}

void glowish::createVariable(Function &function, TFLiteTensor &tensor) {
  tensor.variable = function.getModule().createPlaceholder(
      tensor.name, tensor.type, /*isInput=*/true, /*isOutput=*/true);
  tensor.value = NodeValue(tensor.variable);
  if (int64_t offset = getVariableOffset(tensor)) {
    NodeBuilder b(function, tensor.name);
    tensor.value = shiftBy(b, tensor.value, offset, tensor.type.getKind());
  }
  tensor.valueBefore = tensor.value;
}

void glowish::saveVariable(Function &function, const TFLiteTensor &tensor) {
  if (!tensor.variable || tensor.value == tensor.valueBefore)
    return;
  NodeValue value = tensor.value;
  if (int64_t offset = getVariableOffset(tensor)) {
    NodeBuilder b(function, tensor.name);
    value = shiftBy(b, value, -offset, tensor.type.getKind());
  }
  function.create<SaveNode>("save_" + tensor.name, value,
                            NodeValue(tensor.variable));
}
