//===- Reduction.cpp - Sums, means and extremes along dimensions ----------===//

#include "TFLite/Quantized.h"
#include "llvm/ADT/StringSwitch.h"

using namespace glowish;
using namespace glowish::tflite;

/// Input 1, a constant: dimensions, all if there are none.
static llvm::Expected<std::vector<int64_t>> readAxes(const TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> axes, op.getConstantInts(1));
  return normalizeAxes(axes, unsigned(op.getShape(0).size()));
}

/// How the operators reduce.
static llvm::StringRef getMode(llvm::StringRef type) {
  return llvm::StringSwitch<llvm::StringRef>(type)
      .Case("MEAN", "mean")
      .Case("SUM", "sum")
      .Case("REDUCE_PROD", "prod")
      .Cases("REDUCE_MAX", "REDUCE_ANY", "max")
      .Default("min");
}

/// Sums of integers, brought to the output's scale, by the number of elements
/// where it is a mean, and rounded once.
static llvm::Error reduceQuantized(TFLiteOp &op, llvm::ArrayRef<int64_t> axes,
                                   bool keepDims) {
  GLOWISH_RETURN_IF_ERROR(checkActivations(op));
  double factor = double(op.getScale(0)) / double(op.getOutputScale());
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= op.getShape(0)[size_t(axis)];
  if (op.getType() == "MEAN") {
    // The factor is a constant.
    GLOWISH_RETURN_IF_ERROR(op.checkKnown(0, axes));
    factor /= double(std::max<int64_t>(count, 1));
  }
  NodeValue sums = op.reduce(centered(op, 0), "sum", axes, keepDims);
  return op.setOutput(0, quantizeSteps(op, op.rescale(sums, factor),
                                       schema::ActivationFunctionType::NONE));
}

static llvm::Error importReduce(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> axes, readAxes(op));
  bool keepDims = op.options<schema::ReducerOptions>().get<"keep_dims">();
  llvm::StringRef mode = getMode(op.getType());
  bool isExtreme = mode == "max" || mode == "min";
  if (op.isQuantized(0) && !isExtreme) {
    if (mode == "prod")
      return op.refuseInput(0, "tensors that are not quantized");
    return reduceQuantized(op, axes, keepDims);
  }
  if (op.isQuantized(0) &&
      op.getTensor(0).quantization != op.getOutputQuantization())
    return op.refuseInput(0, "the scale of the output");
  if (mode == "mean")
    GLOWISH_RETURN_IF_ERROR(op.checkFloat(0));
  return op.setOutput(0, op.reduce(op.input(0), mode, axes, keepDims));
}

/// Of bools: the largest, or the smallest, as numbers.
static llvm::Error importReduceBool(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkKind(0, ElemKind::Bool));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> axes, readAxes(op));
  bool keepDims = op.options<schema::ReducerOptions>().get<"keep_dims">();
  NodeValue x = op.cast(op.input(0), ElemKind::UInt8);
  NodeValue result = op.reduce(x, getMode(op.getType()), axes, keepDims);
  return op.setOutput(0, op.cast(result, ElemKind::Bool));
}

/// x / sqrt(the sum of squares of the last dimension).
static llvm::Error importL2Normalization(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat(0));
  int64_t axis = int64_t(op.getShape(0).size()) - 1;
  if (axis < 0)
    return op.refuseInput(0, "rank 1 and more");
  NodeValue x = op.input(0);
  NodeValue norm = op.unary<SqrtNode>(
      op.reduce(op.mul(x, x), "sum", {axis}, /*keepDims=*/true));
  // As TensorFlow Lite has it, against a division by 0.
  NodeValue result = op.div(x, op.max(norm, 1e-6));
  auto activation =
      op.options<schema::L2NormOptions>().get<"fused_activation_function">();
  return op.setOutput(0, activate(op, result, activation));
}

/// Over the channels of NHWC images.
static llvm::Error importLocalResponseNormalization(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat(0));
  auto options = op.options<schema::LocalResponseNormalizationOptions>();
  int64_t size = 2 * int64_t(options.get<"radius">()) + 1;
  if (options.get<"radius">() < 0 || options.get<"radius">() > (1 << 20))
    return makeError("its radius is {0}; accepted: 0 to {1}",
                     options.get<"radius">(), 1 << 20);
  return op.setOutput(
      0, op.make<LocalResponseNormalizationNode>(
             op.input(0), size, double(options.get<"alpha">()) * double(size),
             double(options.get<"beta">()), double(options.get<"bias">())));
}

static constexpr TFLiteOpTraits constantAxes{
    .inputs = 2, .limit = "the dimensions a constant"};

static const TFLiteOperators operators = {
    {"MEAN", importReduce, constantAxes},
    {"SUM", importReduce, constantAxes},
    {"REDUCE_PROD", importReduce, constantAxes},
    {"REDUCE_MAX", importReduce, constantAxes},
    {"REDUCE_MIN", importReduce, constantAxes},
    {"REDUCE_ANY", importReduceBool, constantAxes},
    {"REDUCE_ALL", importReduceBool, constantAxes},
    {"L2_NORMALIZATION", importL2Normalization, {.limit = "float"}},
    {"LOCAL_RESPONSE_NORMALIZATION",
     importLocalResponseNormalization,
     {.limit = "float"}}};
