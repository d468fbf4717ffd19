//===- Convolution.cpp - Convolutions of images ---------------------------===//

#include "TFLite/Quantized.h"
#include "TFLite/SlidingWindow.h"

using namespace glowish;
using namespace glowish::tflite;

namespace {

/// Input 0 [N, H, W, C], and a filter [OC, KH, KW, C / group], the operator's
/// input 1 in the order of a Convolution.
struct Conv {
  NodeValue filter;
  int64_t group = 1;
  ImageWindow window;
  SumOptions sums;
};

} // namespace

/// The int32 sums of \p input, bytes with \p zeroPoint, null for 0.
static NodeValue convolveBytes(TFLiteOp &op, NodeValue input, const Conv &conv,
                               NodeValue zeroPoint, NodeValue bias) {
  if (!input || !conv.filter)
    return {};
  const ImageWindow &window = conv.window;
  return op.make<ConvolutionIntegerNode>(
      input, conv.filter, zeroPoint, getZeroPoint(op, 1), bias, window.strides,
      window.pads, window.dilations, conv.group);
}

/// Sets the output to \p conv of \p pixels, made of inputs \p at.
static llvm::Error setQuantized(TFLiteOp &op, WeightedInputs at,
                                NodeValue pixels, Conv conv) {
  int64_t taps = conv.filter
                     ? conv.filter.getType().getNumElements() /
                           std::max<int64_t>(conv.filter.getShape()[0], 1)
                     : 0;
  GLOWISH_RETURN_IF_ERROR(checkWeightedInputs(op, at, taps, conv.sums));
  if (op.getKind(at.weights) == ElemKind::Int4)
    conv.filter = op.cast(conv.filter, ElemKind::Int8);
  NodeValue zeroPoint = getZeroPoint(op, at.input);
  return op.setOutput(
      0, quantizeSums(op, pixels, op.input(at.bias),
                      getSumFactors(op, at.input, at.weights), conv.sums,
                      [&](NodeValue x, NodeValue bias) {
                        return convolveBytes(op, x, conv, zeroPoint, bias);
                      }));
}

/// Reads the window of a filter that has its height and width in the middle.
/// Options: of CONV_2D or DEPTHWISE_CONV_2D.
template <typename Options>
static llvm::Expected<Conv> readConv(TFLiteOp &op, NodeValue filter,
                                     int64_t group) {
  auto options = op.options<Options>();
  DimsRef shape = op.getShape(1);
  Conv conv{
      .filter = filter,
      .group = group,
      .window = {.kernels = {shape[1], shape[2]},
                 .strides = {options.template get<"stride_h">(),
                             options.template get<"stride_w">()},
                 .dilations = {options.template get<"dilation_h_factor">(),
                               options.template get<"dilation_w_factor">()}},
      .sums = {.activation =
                   options.template get<"fused_activation_function">()}};
  GLOWISH_RETURN_IF_ERROR(placeWindow(conv.window, op.input(0).getType(),
                                      options.template get<"padding">()));
  return conv;
}

/// Bytes and int16, or floats, also with quantized weights; \p reorder brings
/// the filter in the order of a Convolution. \p channelAxis: the dimension of
/// the stored filter that has the channels of the result.
static llvm::Error
setConvolution(TFLiteOp &op, const Conv &conv, int64_t channelAxis,
               llvm::function_ref<NodeValue(NodeValue)> reorder) {
  if (op.isQuantized(0))
    return setQuantized(
        op, {.input = 0, .weights = 1, .bias = 2, .channelAxis = channelAxis},
        op.input(0), conv);
  GLOWISH_RETURN_IF_ERROR(op.checkFloat(0));
  NodeValue filter = reorder(dequantized(op, 1));
  NodeValue bias = op.hasInput(2) ? dequantized(op, 2) : NodeValue();
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  const ImageWindow &window = conv.window;
  NodeValue result =
      op.make<ConvolutionNode>(op.input(0), filter, bias, window.strides,
                               window.pads, window.dilations, conv.group);
  return op.setOutput(0, activate(op, result, conv.sums.activation));
}

static llvm::Error importConv2D(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 4));
  GLOWISH_RETURN_IF_ERROR(op.checkRank(1, 4));
  int64_t channels = op.getShape(0)[3], own = op.getShape(1)[3];
  if (own < 1 || channels % own != 0)
    return op.refuseInput(1, "a divisor of the input's channels at the end");
  GLOWISH_ASSIGN_OR_RETURN(Conv conv, readConv<schema::Conv2DOptions>(
                                          op, op.input(1), channels / own));
  if (op.isQuantized(0))
    conv.sums.sumType =
        op.options<schema::Conv2DOptions>().get<"quantized_bias_type">();
  return setConvolution(op, conv, /*channelAxis=*/0,
                        [](NodeValue filter) { return filter; });
}

/// The filter is [1, KH, KW, OC]; each channel has OC / C of the output.
static llvm::Error importDepthwiseConv2D(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 4));
  GLOWISH_RETURN_IF_ERROR(op.checkRank(1, 4));
  DimsRef filter = op.getShape(1);
  int64_t channels = op.getShape(0)[3];
  if (filter[0] != 1 || channels < 1 || filter[3] % channels != 0)
    return op.refuseInput(1, "[1, height, width, a multiple of the input's "
                             "channels]");
  auto reorder = [&](NodeValue value) {
    return op.transpose(value, {3, 1, 2, 0});
  };
  GLOWISH_ASSIGN_OR_RETURN(Conv conv, readConv<schema::DepthwiseConv2DOptions>(
                                          op, reorder(op.input(1)), channels));
  return setConvolution(op, conv, /*channelAxis=*/3, reorder);
}

//===- Transposed convolution ---------------------------------------------===//

namespace {

/// Input 2 [N, H, W, C], and a filter [OC, KH, KW, C], input 1; each element of
/// the input is multiplied by the filter and added to a window of the result.
struct TransposedConv {
  std::vector<int64_t> kernels, strides;
  /// [top, left]: what is cut from the result, whose extents are `sizes`.
  std::vector<int64_t> before, sizes;
  SumOptions sums;
};

} // namespace

/// Input 0, the shape of the result. The number of images is the input's.
static llvm::Expected<std::vector<int64_t>>
readResultShape(const TFLiteOp &op) {
  if (op.input(0).getNodeAs<Constant>())
    return op.getConstantInts(0);
  // Where a run states the shape, it is the one that the file states, too.
  std::vector<int64_t> shape = op.getStatedType().getShape().vec();
  llvm::Expected<std::vector<Extent>> stated = op.getExtents(0);
  if (!stated) {
    llvm::consumeError(stated.takeError());
    return shape;
  }
  shape = {op.getShape(2)[0]};
  for (const Extent &extent : llvm::drop_begin(*stated)) {
    if (!extent.isConstant())
      return op.refuseInput(0, "a height, width and number of channels that no "
                               "run decides");
    shape.push_back(*extent.getConstant());
  }
  return shape;
}

/// Input 0 states the shape of the result. What is cut from it is what a
/// convolution from the result to the input would pad.
static llvm::Expected<TransposedConv> readTransposed(const TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkRank(1, 4));
  GLOWISH_RETURN_IF_ERROR(op.checkRank(2, 4));
  auto options = op.options<schema::TransposeConvOptions>();
  GLOWISH_RETURN_IF_ERROR(op.checkKnown(2, {1, 2, 3}));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> shape, readResultShape(op));
  DimsRef filter = op.getShape(1), input = op.getShape(2);
  if (shape.size() != 4 || shape[3] != filter[0])
    return op.refuseInput(0, "a shape [N, H, W, C], C as in the filter");
  GLOWISH_RETURN_IF_ERROR(checkShape(op.getKind(2), shape));
  if (filter[3] != input[3])
    return op.refuseInput(1, "as many channels at the end as in the input");
  TransposedConv conv{
      .kernels = {filter[1], filter[2]},
      .strides = {options.get<"stride_h">(), options.get<"stride_w">()},
      .before = {0, 0},
      .sizes = {shape[1], shape[2]},
      .sums = {.activation = options.get<"fused_activation_function">()}};
  if (op.isQuantized(2))
    conv.sums.sumType = options.get<"quantized_bias_type">();
  ImageWindow window{.kernels = conv.kernels, .strides = conv.strides};
  GLOWISH_RETURN_IF_ERROR(placeWindow(window, Type(op.getKind(2), shape),
                                      options.get<"padding">()));
  for (unsigned d = 0; d < 2; ++d) {
    int64_t size = window.getEdge(d, shape[d + 1]).getCount();
    if (size != input[d + 1])
      return makeError("the input has {0} rows or columns, and {1} would lead "
                       "to the stated {2}",
                       input[d + 1], size, conv.sizes[d]);
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
              .sums = conv.sums};
  result.window.kernels = conv.kernels;
  result.window.strides = {1, 1};
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

static llvm::Error importTransposedQuantized(TFLiteOp &op,
                                             const TransposedConv &conv) {
  GLOWISH_RETURN_IF_ERROR(op.checkQuantized(2));
  NodeValue pixels =
      spreadPixels(op, op.input(2), conv, double(op.getZeroPoint(2)));
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  GLOWISH_ASSIGN_OR_RETURN(Conv spread,
                           spreadConvolution(op, conv, pixels.getShape()));
  return setQuantized(op, {.input = 2, .weights = 1, .bias = 3}, pixels,
                      std::move(spread));
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
  return op.setOutput(0, activate(op, result, conv.sums.activation));
}

static constexpr llvm::StringLiteral windowKinds =
    "float, int8, uint8 and int16; weights also int4";

static const TFLiteOperators operators = {
    {"TRANSPOSE_CONV",
     importTransposeConv,
     {.inputs = {3, 4}, .limit = "float, int8, uint8 and int16"}},
    {"CONV_2D", importConv2D, {.inputs = {2, 3}, .limit = windowKinds}},
    {"DEPTHWISE_CONV_2D",
     importDepthwiseConv2D,
     {.inputs = {2, 3}, .limit = windowKinds}}};
