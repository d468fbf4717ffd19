//===- Unary.cpp - Functions of one element -------------------------------===//

#include "TFLite/ByteTable.h"
#include "TFLite/Int16Table.h"
#include "TFLite/Quantized.h"
#include <cmath>

using namespace glowish;
using namespace glowish::tflite;
using schema::ActivationFunctionType;

//===- Floats -------------------------------------------------------------===//

static llvm::Error importSquare(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkNotQuantized());
  return op.setOutput(0, op.mul(op.input(0), op.input(0)));
}

static llvm::Error importGelu(TFLiteOp &op) {
  bool isApproximate = op.options<schema::GeluOptions>().get<"approximate">();
  if (op.isQuantized(0))
    return setByteFunction(op, [=](float x) {
      if (isApproximate)
        return 0.5f * x *
               (1.0f + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
      return 0.5f * x * (1.0f + std::erf(x * 0.7071067812f));
    });
  GLOWISH_RETURN_IF_ERROR(op.checkFloat(0));
  return op.setOutput(0, isApproximate ? op.unary<GeluTanhNode>(op.input(0))
                                       : op.unary<GeluNode>(op.input(0)));
}

//===- Functions of bytes by tables ---------------------------------------===//

template <typename T, float (*Function)(float)>
static llvm::Error importFunction(TFLiteOp &op) {
  if (op.isQuantized(0))
    return setByteFunction(op, Function);
  GLOWISH_RETURN_IF_ERROR(op.checkFloat(0));
  return op.setOutput(0, op.unary<T>(op.input(0)));
}

static float logistic(float x) { return 1.0f / (1.0f + std::exp(-x)); }
static float hyperbolicTangent(float x) { return std::tanh(x); }
static float exponential(float x) { return std::exp(x); }
static float logarithm(float x) { return std::log(x); }

static llvm::Error importElu(TFLiteOp &op) {
  if (op.isQuantized(0))
    return setByteFunction(
        op, [](float x) { return x < 0.0f ? std::expm1(x) : x; });
  GLOWISH_RETURN_IF_ERROR(op.checkFloat(0));
  return op.setOutput(0, op.make<EluNode>(op.input(0), 1.0));
}

//===- Functions of int16 by tables ---------------------------------------===//

static bool isQuantizedInt16(const TFLiteOp &op) {
  return op.isQuantized(0) && op.getKind(0) == ElemKind::Int16;
}

static llvm::Error importExp(TFLiteOp &op) {
  return isQuantizedInt16(op) ? setInt16Function(op, exponential)
                              : importFunction<ExpNode, exponential>(op);
}

/// The least number stands for logarithms of what is not above 0.
static llvm::Error importLog(TFLiteOp &op) {
  if (!isQuantizedInt16(op))
    return importFunction<LogNode, logarithm>(op);
  GLOWISH_RETURN_IF_ERROR(op.checkOutputQuantized());
  float least = -32768 * op.getOutputScale();
  return setInt16Function(op,
                          [=](float x) { return x > 0 ? std::log(x) : least; });
}

/// The largest number stands for roots of what is not above 0.
static llvm::Error importRsqrt(TFLiteOp &op) {
  if (isQuantizedInt16(op)) {
    GLOWISH_RETURN_IF_ERROR(op.checkOutputQuantized());
    float most = 32767 * op.getOutputScale();
    return setInt16Function(
        op, [=](float x) { return x > 0 ? 1.0f / std::sqrt(x) : most; });
  }
  if (op.isQuantized(0))
    return setByteTable(op, tabulateReciprocalRoot(op));
  GLOWISH_RETURN_IF_ERROR(op.checkFloat(0));
  return op.setOutput(
      0, op.unary<ReciprocalNode>(op.unary<SqrtNode>(op.input(0))));
}

//===- Rectifiers ---------------------------------------------------------===//

/// Sets the output to the integers of input 0 in the steps of the output,
/// limited as \p limit states: by an activation, or to bounds.
template <typename Limit>
static llvm::Error setLimited(TFLiteOp &op, Limit limit) {
  GLOWISH_RETURN_IF_ERROR(checkActivations(op));
  double factor = double(op.getScale(0)) / double(op.getOutputScale());
  return op.setOutput(
      0, quantizeSteps(op, op.rescale(centered(op, 0), factor), limit));
}

template <ActivationFunctionType Activation>
static llvm::Error importRectifier(TFLiteOp &op) {
  if (!op.isQuantized(0))
    return op.setOutput(0, activate(op, op.input(0), Activation));
  return setLimited(op, Activation);
}

/// No operator has this as its activation.
static llvm::Error importRelu0To1(TFLiteOp &op) {
  if (op.isQuantized(0))
    return setLimited(op, ActivationBounds{0, 1});
  GLOWISH_RETURN_IF_ERROR(op.checkFloat(0));
  return op.setOutput(0, op.clip(op.input(0), 0, 1));
}

/// The int32 \p x times \p positive; \p negativeSteps where it is negative.
static NodeValue rescaleBySign(TFLiteOp &op, NodeValue x, double positive,
                               NodeValue negativeSteps) {
  return op.select(op.less(x, 0), negativeSteps, op.rescale(x, positive));
}

static llvm::Error importLeakyRelu(TFLiteOp &op) {
  float alpha = op.options<schema::LeakyReluOptions>().get<"alpha">();
  if (!op.isQuantized(0)) {
    GLOWISH_RETURN_IF_ERROR(op.checkFloat(0));
    return op.setOutput(0, op.make<LeakyReluNode>(op.input(0), double(alpha)));
  }
  GLOWISH_RETURN_IF_ERROR(checkActivations(op));
  // Multiplied and divided as floats, as TensorFlow Lite does it.
  double identity = double(op.getScale(0) / op.getOutputScale());
  double slope = double(op.getScale(0) * alpha / op.getOutputScale());
  NodeValue x = centered(op, 0);
  NodeValue negative =
      slope < 0 ? op.rescale(op.sub(0, x), -slope) : op.rescale(x, slope);
  NodeValue steps = rescaleBySign(op, x, identity, negative);
  return op.setOutput(0,
                      quantizeSteps(op, steps, ActivationFunctionType::NONE));
}

/// The slopes below 0 are input 1.
static llvm::Error importPRelu(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkBroadcast());
  if (!op.isQuantized(0)) {
    GLOWISH_RETURN_IF_ERROR(op.checkFloat(0));
    return op.setOutput(0, op.make<PReluNode>(op.input(0), op.input(1)));
  }
  GLOWISH_RETURN_IF_ERROR(
      checkActivations(op, 2, {ElemKind::Int8, ElemKind::UInt8}));
  double toScale = double(op.getOutputScale());
  NodeValue x = centered(op, 0), slopes = centered(op, 1);
  NodeValue negative =
      op.rescale(op.mul(x, slopes),
                 double(op.getScale(0)) * double(op.getScale(1)) / toScale);
  NodeValue steps =
      rescaleBySign(op, x, double(op.getScale(0)) / toScale, negative);
  return op.setOutput(0,
                      quantizeSteps(op, steps, ActivationFunctionType::NONE));
}

static llvm::Error importHardSwish(TFLiteOp &op) {
  if (op.isQuantized(0))
    return setByteTable(op, tabulateHardSwish(op));
  GLOWISH_RETURN_IF_ERROR(op.checkFloat(0));
  return op.setOutput(0, op.unary<HardSwishNode>(op.input(0)));
}

static constexpr TFLiteOpTraits plain{.limit = "not quantized"};
static constexpr TFLiteOpTraits bytes{.limit = "float, int8 and uint8"};
static constexpr TFLiteOpTraits quantized{.limit =
                                              "float, int8, uint8 and int16"};

static const TFLiteOperators operators = {
    {"RSQRT", importRsqrt, {.limit = "float, int8 and int16"}},
    {"SQUARE", importSquare, plain},
    {"EXP", importExp, quantized},
    {"LOG", importLog, quantized},
    {"LOGISTIC", importFunction<SigmoidNode, logistic>, bytes},
    {"TANH", importFunction<TanhNode, hyperbolicTangent>, bytes},
    {"GELU", importGelu, bytes},
    {"ELU", importElu, bytes},
    {"RELU", importRectifier<ActivationFunctionType::RELU>, quantized},
    {"RELU6", importRectifier<ActivationFunctionType::RELU6>, quantized},
    {"RELU_N1_TO_1", importRectifier<ActivationFunctionType::RELU_N1_TO_1>,
     quantized},
    {"RELU_0_TO_1", importRelu0To1, quantized},
    {"LEAKY_RELU", importLeakyRelu, quantized},
    {"PRELU", importPRelu, {.inputs = 2, .limit = "float, int8 and uint8"}},
    {"HARD_SWISH", importHardSwish, bytes}};
