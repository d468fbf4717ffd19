//===- Pooling.cpp - Pools of images --------------------------------------===//

#include "TFLite/Quantized.h"
#include "TFLite/SlidingWindow.h"

using namespace glowish;
using namespace glowish::tflite;

static llvm::Expected<ImageWindow> readWindow(const TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 4));
  auto options = op.options<schema::Pool2DOptions>();
  ImageWindow window{
      .kernels = {options.get<"filter_height">(),
                  options.get<"filter_width">()},
      .strides = {options.get<"stride_h">(), options.get<"stride_w">()}};
  GLOWISH_RETURN_IF_ERROR(
      placeWindow(window, op.input(0).getType(), options.get<"padding">()));
  return window;
}

/// Bytes and int16 whose output has the same scale.
static llvm::Error checkQuantizedPool(const TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(checkActivations(op));
  if (op.getOutputQuantization() != op.getTensor(0).quantization)
    return op.refuseInput(0, "the scale and zero point of the output");
  return llvm::Error::success();
}

/// Quantized \p x limited by the activation: it has its zero point already.
static NodeValue limitSteps(TFLiteOp &op, NodeValue x,
                            schema::ActivationFunctionType activation) {
  NodeValue steps = op.cast(x, ElemKind::Int32);
  if (int64_t zeroPoint = op.getOutputZeroPoint())
    steps = op.sub(steps, double(zeroPoint));
  return quantizeSteps(op, steps, activation);
}

static llvm::Error importMaxPool(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(ImageWindow window, readWindow(op));
  auto activation =
      op.options<schema::Pool2DOptions>().get<"fused_activation_function">();
  NodeValue result =
      op.make<MaxPoolNode>(op.input(0), window.kernels, window.strides,
                           window.pads, window.dilations);
  if (!op.isQuantized(0)) {
    GLOWISH_RETURN_IF_ERROR(op.checkFloat(0));
    return op.setOutput(0, activate(op, result, activation));
  }
  GLOWISH_RETURN_IF_ERROR(checkQuantizedPool(op));
  if (activation != schema::ActivationFunctionType::NONE)
    result = limitSteps(op, result, activation);
  return op.setOutput(0, result);
}

/// The sums of all windows, in int32; nothing is added outside of the image.
static NodeValue sumWindows(TFLiteOp &op, const ImageWindow &window) {
  NodeValue x = op.input(0);
  int64_t channels = op.getShape(0)[3];
  bool isOpen = x.getType().getExtent(1) || x.getType().getExtent(2);
  bool isWhole = !isOpen && !window.hasPads() &&
                 window.kernels[0] == op.getShape(0)[1] &&
                 window.kernels[1] == op.getShape(0)[2];
  if (isWhole)
    return op.reduce(op.cast(x, ElemKind::Int32), "sum", {1, 2},
                     /*keepDims=*/true);
  Dims shape = {channels, window.kernels[0], window.kernels[1], 1};
  if (op.getKind(0) == ElemKind::Int16)
    return op.make<ConvolutionNode>(
        op.cast(x, ElemKind::Int32), op.splat(ElemKind::Int32, shape, 1),
        NodeValue(), window.strides, window.pads, window.dilations, channels);
  return op.make<ConvolutionIntegerNode>(
      x, op.splat(ElemKind::Int8, shape, 1), NodeValue(), NodeValue(),
      NodeValue(), window.strides, window.pads, window.dilations, channels);
}

/// How many pixels of the image each window has: [1, OH, OW, 1].
static NodeValue countPixels(TFLiteOp &op, const ImageWindow &window) {
  Dims shape = {1, 1, 1, 1};
  for (unsigned d = 0; d < 2; ++d)
    shape[d + 1] = window.getEdge(d, op.getShape(0)[d + 1]).getCount();
  return op.table(ElemKind::Int32, shape, [&](DimsRef index) {
    double count = 1;
    for (unsigned d = 0; d < 2; ++d) {
      int64_t begin = index[d + 1] * window.strides[d] - window.pads[d];
      int64_t end = std::min(begin + window.kernels[d], op.getShape(0)[d + 1]);
      count *= double(end - std::max<int64_t>(begin, 0));
    }
    return count;
  });
}

/// Means of integers, halves rounded away from zero.
static llvm::Error importAveragePool(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(ImageWindow window, readWindow(op));
  auto activation =
      op.options<schema::Pool2DOptions>().get<"fused_activation_function">();
  if (!op.isQuantized(0)) {
    GLOWISH_RETURN_IF_ERROR(op.checkFloat(0));
    NodeValue result = op.make<AvgPoolNode>(
        op.input(0), window.kernels, window.strides, window.pads,
        window.dilations, /*countIncludePads=*/false);
    return op.setOutput(0, activate(op, result, activation));
  }
  GLOWISH_RETURN_IF_ERROR(checkQuantizedPool(op));
  // How many pixels a window at the end has is not known.
  for (unsigned d = 0; d < 2; ++d)
    if (window.pads[d] != 0 || window.pads[d + 2] != 0)
      GLOWISH_RETURN_IF_ERROR(op.checkKnown(0, {int64_t(d + 1)}));
  NodeValue sums = sumWindows(op, window);
  bool isEven = !window.hasPads();
  NodeValue count =
      isEven ? op.scalar(ElemKind::Int32,
                         double(window.kernels[0] * window.kernels[1]))
             : countPixels(op, window);
  NodeValue half = op.div(count, 2);
  NodeValue rounding = op.select(op.less(sums, 0), op.sub(0, half), half);
  NodeValue means = op.div(op.add(sums, rounding), count);
  return op.setOutput(0, limitSteps(op, means, activation));
}

static constexpr TFLiteOpTraits traits{.limit = "float, int8, uint8 and int16"};

static const TFLiteOperators operators = {
    {"MAX_POOL_2D", importMaxPool, traits},
    {"AVERAGE_POOL_2D", importAveragePool, traits}};
