//===- Boundary.cpp - Inputs and outputs as the options ask for -----------===//

#include "TFLite/Boundary.h"
#include "Common/Outputs.h"
#include "TFLite/Quantized.h"

using namespace glowish;
using namespace glowish::tflite;

/// \p x + \p offset in the integers of its kind, which wrap.
static NodeValue shiftBy(NodeBuilder &b, NodeValue x, int64_t offset,
                         ElemKind to) {
  NodeValue sum = b.add(b.cast(x, ElemKind::Int32), double(offset));
  return b.cast(sum, to);
}

/// From uint8 to int8: 0 becomes -128.
static constexpr int64_t uint8Offset = -128;

ElemKind tflite::getInputKind(const TFLiteTensor &tensor,
                              const TFLiteOptions &options) {
  if (options.hasFloatInputs && tensor.hasOneScale())
    return ElemKind::Float;
  ElemKind kind = tensor.type.getKind();
  return options.turnsUInt8ToInt8 && kind == ElemKind::UInt8 ? ElemKind::Int8
                                                             : kind;
}

void tflite::setInput(Function &function, TFLiteTensor &tensor,
                      Placeholder *placeholder) {
  NodeValue value(placeholder);
  ElemKind kind = value.getElemKind(), own = tensor.type.getKind();
  NodeBuilder b(function, tensor.name);
  if (kind == own)
    tensor.value = value;
  else if (kind == ElemKind::Float)
    tensor.value = quantize(b, value, own, *tensor.quantization);
  else
    tensor.value = shiftBy(b, value, -uint8Offset, own);
}

void tflite::createOutput(Function &function, const TFLiteTensor &tensor,
                          llvm::StringRef name, const TFLiteOptions &options) {
  NodeBuilder b(function, tensor.name);
  NodeValue value = tensor.value;
  if (options.hasFloatOutputs && tensor.quantization)
    value = dequantize(b, value, *tensor.quantization);
  else if (options.turnsUInt8ToInt8 && value.getElemKind() == ElemKind::UInt8)
    value = shiftBy(b, value, uint8Offset, ElemKind::Int8);
  createOutput(function, name.str(), value);
}

/// What is added to the integers that the placeholder of \p variable holds.
static int64_t getVariableOffset(const TFLiteVariable &variable) {
  return variable.quantization && isIntegerKind(variable.type->getKind())
             ? variable.quantization->getZeroPoint()
             : 0;
}

NodeValue tflite::createVariable(Function &function, TFLiteVariable &variable) {
  if (!variable.placeholder)
    variable.placeholder = function.getModule().createPlaceholder(
        variable.name, *variable.type, /*isInput=*/true, /*isOutput=*/true);
  NodeValue value(variable.placeholder);
  int64_t offset = getVariableOffset(variable);
  if (offset == 0)
    return value;
  NodeBuilder b(function, variable.name);
  return shiftBy(b, value, offset, variable.type->getKind());
}

void tflite::saveVariable(Function &function, const TFLiteVariable &variable,
                          NodeValue value) {
  if (int64_t offset = getVariableOffset(variable)) {
    NodeBuilder b(function, variable.name);
    value = shiftBy(b, value, -offset, variable.type->getKind());
  }
  function.create<SaveNode>("save_" + variable.name, value,
                            NodeValue(variable.placeholder));
}

bool tflite::isZero(const TFLiteVariable &variable, NodeValue value) {
  auto *constant = value.getNodeAs<Constant>();
  if (!constant)
    return false;
  const Tensor &tensor = constant->getTensor();
  if (isIntegerKind(variable.type->getKind())) {
    int64_t zero = getVariableOffset(variable);
    for (int64_t i = 0; i < tensor.getNumElements(); ++i)
      if (tensor.getAsInt(i) != zero)
        return false;
    return true;
  }
  // Of floats not -0, which has another reciprocal.
  llvm::ArrayRef<uint8_t> bytes(static_cast<const uint8_t *>(tensor.getBytes()),
                                size_t(tensor.getSizeInBytes()));
  return llvm::all_of(bytes, [](uint8_t byte) { return byte == 0; });
}
