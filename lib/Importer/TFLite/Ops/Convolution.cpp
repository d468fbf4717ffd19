//===- Convolution.cpp - Convolutions of images ---------------------------===//

#include "TFLite/Quantized.h"
#include "TFLite/SlidingWindow.h"

using namespace glowish;
using tflite::ActivationFunctionType;

namespace {

/// Input 0 [N, H, W, C], and a filter [OC, KH, KW, C / group], the operator's
/// input 1 in the order of a Convolution.
struct Conv {
  NodeValue filter;
  int64_t group = 1;
  TFLiteWindow window;
  ActivationFunctionType activation;
};

} // namespace

static NodeValue convolve(TFLiteOp &op, NodeValue input, const Conv &conv,
                          NodeValue filter, NodeValue bias) {
  if (!input || !filter)
    return {};
  const TFLiteWindow &window = conv.window;
  return op.make<ConvolutionNode>(input, filter, bias, window.strides,
                                  window.pads, window.dilations, conv.group);
}

static NodeValue convolveBytes(TFLiteOp &op, NodeValue input, const Conv &conv,
                               NodeValue zeroPoint, NodeValue bias) {
  if (!input || !conv.filter)
    return {};
  const TFLiteWindow &window = conv.window;
  return op.make<ConvolutionIntegerNode>(
      input, conv.filter, zeroPoint, getZeroPoint(op, 1), bias, window.strides,
      window.pads, window.dilations, conv.group);
}

/// The sums of int16 are int64: those of both halves.
static NodeValue convolveInt16(TFLiteOp &op, NodeValue input, const Conv &conv,
                               NodeValue bias) {
  Int16Halves halves = splitInt16(op, input);
  auto sums = [&](NodeValue half) {
    return op.cast(convolveBytes(op, half, conv, {}, {}), ElemKind::Int64);
  };
  NodeValue sum = op.add(op.mul(sums(halves.high), 256), sums(halves.low));
  return bias ? op.add(sum, op.cast(bias, ElemKind::Int64)) : sum;
}

/// The sums of an int16 times a byte stay below 2^31 in each half.
static llvm::Error checkInt16(const TFLiteOp &op, const Conv &conv) {
  constexpr int64_t maxTaps = 1 << 16;
  int64_t taps = conv.filter.getType().getNumElements() /
                 std::max<int64_t>(conv.filter.getShape()[0], 1);
  if (op.getZeroPoint(0) != 0)
    return op.refuseInput(0, "int16 with the zero point 0");
  if (taps > maxTaps)
    return op.refuseInput(1, "filters of at most 65536 elements");
  return llvm::Error::success();
}

static llvm::Error importQuantized(TFLiteOp &op, Conv conv) {
  GLOWISH_RETURN_IF_ERROR(op.checkKind(0, activationKinds));
  GLOWISH_RETURN_IF_ERROR(
      op.checkKind(1, {ElemKind::Int8, ElemKind::UInt8, ElemKind::Int4}));
  GLOWISH_RETURN_IF_ERROR(op.checkQuantized(0));
  GLOWISH_RETURN_IF_ERROR(op.checkOutputQuantized());
  GLOWISH_RETURN_IF_ERROR(checkWeights(op, 1));
  GLOWISH_RETURN_IF_ERROR(checkBiasScales(op, 0, 1, 2));
  std::vector<double> factors = getSumFactors(op, 0, 1);
  if (op.getKind(1) == ElemKind::Int4)
    conv.filter = op.cast(conv.filter, ElemKind::Int8);
  if (op.getKind(0) == ElemKind::Int16) {
    GLOWISH_RETURN_IF_ERROR(checkInt16(op, conv));
    NodeValue sums = convolveInt16(op, op.input(0), conv, op.input(2));
    return op.setOutput(
        0, quantizeSteps(op, rescaleInt64(op, sums, factors), conv.activation));
  }
  if (op.hasInput(2))
    GLOWISH_RETURN_IF_ERROR(op.checkKind(2, ElemKind::Int32));
  NodeValue sums =
      convolveBytes(op, op.input(0), conv, getZeroPoint(op, 0), op.input(2));
  return op.setOutput(
      0, quantizeSteps(op, op.rescale(sums, factors), conv.activation));
}

/// Floats, also with quantized weights.
static llvm::Error importFloat(TFLiteOp &op, const Conv &conv,
                               NodeValue filter) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat(0));
  NodeValue bias = op.hasInput(2) ? dequantized(op, 2) : NodeValue();
  NodeValue result = convolve(op, op.input(0), conv, filter, bias);
  return op.setOutput(0, activate(op, result, conv.activation));
}

static llvm::Error importConv2D(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 4));
  GLOWISH_RETURN_IF_ERROR(op.checkRank(1, 4));
  const auto &options = op.options<tflite::Conv2DOptions>();
  DimsRef filter = op.getShape(1);
  int64_t channels = op.getShape(0)[3];
  if (filter[3] < 1 || channels % filter[3] != 0)
    return op.refuseInput(1, "a divisor of the input's channels at the end");
  Conv conv{.filter = op.input(1),
            .group = channels / filter[3],
            .window = {},
            .activation = options.fused_activation_function()};
  conv.window.kernels = {filter[1], filter[2]};
  conv.window.strides = {options.stride_h(), options.stride_w()};
  conv.window.dilations = {options.dilation_h_factor(),
                           options.dilation_w_factor()};
  GLOWISH_RETURN_IF_ERROR(
      placeWindow(conv.window, op.getShape(0), options.padding()));
  return op.isQuantized(0) ? importQuantized(op, conv)
                           : importFloat(op, conv, dequantized(op, 1));
}

/// The filter is [1, KH, KW, OC]; each channel has OC / C of the output.
static llvm::Error importDepthwiseConv2D(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 4));
  GLOWISH_RETURN_IF_ERROR(op.checkRank(1, 4));
  const auto &options = op.options<tflite::DepthwiseConv2DOptions>();
  DimsRef filter = op.getShape(1);
  int64_t channels = op.getShape(0)[3];
  if (filter[0] != 1 || channels < 1 || filter[3] % channels != 0)
    return op.refuseInput(1, "[1, height, width, a multiple of the input's "
                             "channels]");
  auto reorder = [&](NodeValue value) {
    return op.transpose(value, {3, 1, 2, 0});
  };
  Conv conv{.filter = reorder(op.input(1)),
            .group = channels,
            .window = {},
            .activation = options.fused_activation_function()};
  conv.window.kernels = {filter[1], filter[2]};
  conv.window.strides = {options.stride_h(), options.stride_w()};
  conv.window.dilations = {options.dilation_h_factor(),
                           options.dilation_w_factor()};
  GLOWISH_RETURN_IF_ERROR(
      placeWindow(conv.window, op.getShape(0), options.padding()));
  return op.isQuantized(0) ? importQuantized(op, conv)
                           : importFloat(op, conv, reorder(dequantized(op, 1)));
}

//===- Transposed convolution ---------------------------------------------===//

namespace {

/// Input 2 [N, H, W, C], and a filter [OC, KH, KW, C], input 1; each element of
/// the input is multiplied by the filter and added to a window of the result.
struct TransposedConv {
  std::vector<int64_t> kernels, strides;
  /// [top, left]: what is cut from the result, whose extents are `sizes`.
  std::vector<int64_t> before, sizes;
  ActivationFunctionType activation;
};

} // namespace

/// Input 0 states the shape of the result. What is cut from it is what a
/// convolution from the result to the input would pad.
static llvm::Expected<TransposedConv> readTransposed(const TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkRank(1, 4));
  GLOWISH_RETURN_IF_ERROR(op.checkRank(2, 4));
  const auto &options = op.options<tflite::TransposeConvOptions>();
  std::vector<int64_t> shape = op.getStatedType().getShape().vec();
  // Where a run states the shape, it is the one that the file states, too.
  if (op.input(0).getNodeAs<Constant>()) {
    GLOWISH_ASSIGN_OR_RETURN(shape, op.getConstantInts(0));
  }
  DimsRef filter = op.getShape(1), input = op.getShape(2);
  if (shape.size() != 4 || shape[3] != filter[0])
    return op.refuseInput(0, "a shape [N, H, W, C], C as in the filter");
  if (filter[3] != input[3])
    return op.refuseInput(1, "as many channels at the end as in the input");
  TransposedConv conv{.kernels = {filter[1], filter[2]},
                      .strides = {options.stride_h(), options.stride_w()},
                      .before = {0, 0},
                      .sizes = {shape[1], shape[2]},
                      .activation = options.fused_activation_function()};
  TFLiteWindow window{.kernels = conv.kernels, .strides = conv.strides};
  GLOWISH_RETURN_IF_ERROR(
      placeWindow(window, DimsRef(shape), options.padding()));
  for (unsigned d = 0; d < 2; ++d) {
    if (window.sizes[d] != input[d + 1])
      return makeError("the input has {0} rows or columns, and {1} would lead "
                       "to the stated {2}",
                       input[d + 1], window.sizes[d], conv.sizes[d]);
    conv.before[d] = window.pads[d];
  }
  return conv;
}

/// \p input with stride - 1 zero points between its pixels.
static NodeValue spreadPixels(TFLiteOp &op, NodeValue input,
                              const TransposedConv &conv, double zeroPoint) {
  if (!input)
    return input;
  Dims shape(input.getShape());
  int64_t n = shape[0], h = shape[1], w = shape[2], c = shape[3];
  int64_t vertical = conv.strides[0], horizontal = conv.strides[1];
  NodeValue x = op.reshape(input, {n, h, 1, w, 1, c});
  x = op.pad(x, {0, 0, 0, 0, 0, 0, 0, 0, vertical - 1, 0, horizontal - 1, 0},
             zeroPoint);
  x = op.reshape(x, {n, h * vertical, w * horizontal, c});
  x = op.slice(x, 1, 0, (h - 1) * vertical + 1);
  return op.slice(x, 2, 0, (w - 1) * horizontal + 1);
}

/// The filter, turned by 180 degrees: what a convolution over the spread pixels
/// multiplies them by.
static NodeValue turnFilter(TFLiteOp &op, NodeValue filter) {
  if (!filter)
    return filter;
  Dims shape(filter.getShape());
  return op.make<SliceNode>(filter, Dims{0, shape[1] - 1, shape[2] - 1, 0},
                            shape, Dims{1, -1, -1, 1});
}

/// The convolution over the spread pixels that adds the same.
static llvm::Expected<Conv>
spreadConvolution(TFLiteOp &op, const TransposedConv &conv, DimsRef spread) {
  Conv result{.filter = turnFilter(op, op.input(1)),
              .group = 1,
              .window = {},
              .activation = conv.activation};
  result.window.kernels = conv.kernels;
  result.window.strides = {1, 1};
  result.window.sizes = conv.sizes;
  for (unsigned d = 0; d < 2; ++d) {
    int64_t reach = conv.kernels[d] - 1, before = reach - conv.before[d];
    int64_t after = conv.sizes[d] + reach - spread[d + 1] - before;
    if (before < 0 || after < 0)
      return makeError("a filter of extent {0} leaves pixels of the result "
                       "without any of the input",
                       conv.kernels[d]);
    result.window.pads[d] = before;
    result.window.pads[d + 2] = after;
  }
  return result;
}

/// Bytes, and int16 in two halves.
static llvm::Error importTransposedQuantized(TFLiteOp &op,
                                             const TransposedConv &conv) {
  GLOWISH_RETURN_IF_ERROR(op.checkKind(2, activationKinds));
  GLOWISH_RETURN_IF_ERROR(op.checkKind(1, {ElemKind::Int8, ElemKind::UInt8}));
  GLOWISH_RETURN_IF_ERROR(op.checkQuantized(2));
  GLOWISH_RETURN_IF_ERROR(op.checkOutputQuantized());
  GLOWISH_RETURN_IF_ERROR(checkWeights(op, 1));
  GLOWISH_RETURN_IF_ERROR(checkBiasScales(op, 2, 1, 3));
  int64_t zeroPoint = op.getZeroPoint(2);
  NodeValue pixels = spreadPixels(op, op.input(2), conv, double(zeroPoint));
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  GLOWISH_ASSIGN_OR_RETURN(Conv spread,
                           spreadConvolution(op, conv, pixels.getShape()));
  std::vector<double> factors = getSumFactors(op, 2, 1);
  if (op.getKind(2) == ElemKind::Int16) {
    NodeValue sums = convolveInt16(op, pixels, spread, op.input(3));
    return op.setOutput(
        0, quantizeSteps(op, rescaleInt64(op, sums, factors), conv.activation));
  }
  NodeValue sums =
      convolveBytes(op, pixels, spread, getZeroPoint(op, 2), op.input(3));
  return op.setOutput(
      0, quantizeSteps(op, op.rescale(sums, factors), conv.activation));
}

static llvm::Error importTransposeConv(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(TransposedConv conv, readTransposed(op));
  if (op.isQuantized(2))
    return importTransposedQuantized(op, conv);
  GLOWISH_RETURN_IF_ERROR(op.checkFloat(2));
  DimsRef input = op.getShape(2);
  std::vector<int64_t> pads(4), outputPads(2);
  for (unsigned d = 0; d < 2; ++d) {
    int64_t whole = (input[d + 1] - 1) * conv.strides[d] + conv.kernels[d];
    int64_t after = whole - conv.before[d] - conv.sizes[d];
    pads[d] = conv.before[d];
    pads[d + 2] = std::max<int64_t>(after, 0);
    outputPads[d] = std::max<int64_t>(-after, 0);
  }
  NodeValue filter = op.transpose(dequantized(op, 1), {3, 1, 2, 0});
  NodeValue bias = op.hasInput(3) ? dequantized(op, 3) : NodeValue();
  NodeValue result = op.make<ConvTransposeNode>(
      op.input(2), filter, bias, conv.strides, pads, outputPads,
      std::vector<int64_t>{1, 1}, int64_t(1));
  return op.setOutput(0, activate(op, result, conv.activation));
}

static constexpr llvm::StringLiteral windowKinds =
    "float, int8, uint8 and int16; weights also int4";
static TFLiteOperator transposeConv("TRANSPOSE_CONV", importTransposeConv,
                                    {.minInputs = 3,
                                     .maxInputs = 4,
                                     .limit = "float, int8, uint8 and "
                                              "int16"});
static TFLiteOperator
    conv2D("CONV_2D", importConv2D,
           {.minInputs = 2, .maxInputs = 3, .limit = windowKinds});
static TFLiteOperator
    depthwiseConv2D("DEPTHWISE_CONV_2D", importDepthwiseConv2D,
                    {.minInputs = 2, .maxInputs = 3, .limit = windowKinds});
