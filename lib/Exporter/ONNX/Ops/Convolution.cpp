//===- Convolution.cpp - Export of convolutions ---------------------------===//

#include "ONNX/Ops/SlidingWindow.h"

using namespace glowish;

/// Returns the windows of a convolution with a filter [OC, KH, KW, ...].
template <typename T> static Windows getFilterWindows(const T &node) {
  return {node.getFilter().getShape().slice(1, 2), node.getStrides(),
          node.getPads(), node.getDilations()};
}

static OnnxAttrs getConvAttrs(const Windows &windows, int64_t group) {
  OnnxAttrs attrs = getWindowAttrs(windows);
  attrs.push_back(intAttr("group", group));
  return attrs;
}

//===- Convolution --------------------------------------------------------===//

/// Conv does not support integers. They are computed by MatMul of the windows
/// [N, OH, OW, G, 1, KH * KW * C / G] and the filter [G, KH * KW * C / G, OC /
/// G] (im2col).
static void writeIntegerConvolution(GraphWriter &w, const ConvolutionNode &node,
                                    const Windows &windows) {
  DimsRef shape = node.getType().getShape();
  DimsRef filter = node.getFilter().getShape();
  int64_t group = node.getGroup(),
          taps = windows.kernels[0] * windows.kernels[1];
  int64_t depth = taps * filter[3], columns = filter[0] / group;
  OnnxValue patches = w.op(
      "Concat", takeTaps(w, node.getInput(), windows, shape[1], shape[2], 0),
      {intAttr("axis", 3)});
  patches = w.reshape(patches,
                      {shape[0], shape[1], shape[2], taps, group, filter[3]});
  patches = w.transpose(patches, {0, 1, 2, 4, 3, 5});
  patches = w.reshape(patches, {shape[0], shape[1], shape[2], group, 1, depth});
  OnnxValue matrices =
      w.reshape(w.get(node.getFilter()), {group, columns, depth});
  OnnxValue sums = w.op("MatMul", {patches, w.transpose(matrices, {0, 2, 1})});
  sums = w.reshape(sums, shape);
  if (node.getBias())
    sums = w.add(sums, w.get(node.getBias()));
  w.setResult(node, sums);
}

static void exportConvolution(GraphWriter &w, const ConvolutionNode &node) {
  Windows windows = getFilterWindows(node);
  if (!isFloatKind(node.getType().getKind()))
    return writeIntegerConvolution(w, node, windows);
  OnnxAttrs attrs = getConvAttrs(windows, node.getGroup());
  OnnxValue result =
      w.op("Conv",
           {w.get(node.getInput(), toNchw), w.get(node.getFilter(), toNchw),
            w.getBias(node.getBias(), node.getInput(), node.getFilter())},
           std::move(attrs));
  w.setResult(node, result, fromNchw);
}
static const NodeExporter convolution = exportConvolution;

static void exportConvolutionInteger(GraphWriter &w,
                                     const ConvolutionIntegerNode &node) {
  OnnxAttrs attrs = getConvAttrs(getFilterWindows(node), node.getGroup());
  OnnxValue result =
      w.op("ConvInteger",
           {w.get(node.getInput(), toNchw), w.get(node.getFilter(), toNchw),
            w.get(node.getZeroPoint()), w.get(node.getFilterZeroPoint())},
           std::move(attrs));
  if (NodeValue bias = node.getBias()) {
    int64_t channels = bias.getShape()[0];
    result = w.add(result, w.reshape(w.get(bias), {1, channels, 1, 1}));
  }
  w.setResult(node, result, fromNchw);
}
static const NodeExporter convolutionInteger = exportConvolutionInteger;

//===- Transposed convolution ---------------------------------------------===//

/// The filter [C, KH, KW, OC / group] is permuted like an image.
static void exportConvTranspose(GraphWriter &w, const ConvTransposeNode &node) {
  OnnxAttrs attrs = getConvAttrs(getFilterWindows(node), node.getGroup());
  attrs.push_back(intsAttr("output_padding", node.getOutputPads()));
  OnnxValue result =
      w.op("ConvTranspose",
           {w.get(node.getInput(), toNchw), w.get(node.getFilter(), toNchw),
            w.get(node.getBias())},
           std::move(attrs));
  w.setResult(node, result, fromNchw);
}
static const NodeExporter convTranspose = exportConvTranspose;

//===- Gradient of the filter ---------------------------------------------===//

/// Expressed as a convolution of the input with the gradient as the filter,
/// where images and channels, and strides and dilations, change roles. The
/// first rows and columns of the result [C / G, OC, ...] are those of the
/// kernel.
static void
exportConvolutionFilterGradient(GraphWriter &w,
                                const ConvolutionFilterGradientNode &node) {
  DimsRef input = node.getInput().getShape();
  DimsRef gradient = node.getGradient().getShape();
  DimsRef result = node.getType().getShape();
  int64_t group = node.getGroup(), channels = result[3], images = input[0];
  // [N, H, W, C] as [C / G, G * N, H, W].
  OnnxValue x = w.reshape(w.get(node.getInput(), toNchw),
                          {images, group, channels, input[1], input[2]});
  x = w.reshape(w.transpose(x, {2, 1, 0, 3, 4}),
                {channels, group * images, input[1], input[2]});
  OnnxValue filter = w.get(node.getGradient(), {3, 0, 1, 2});
  OnnxAttrs attrs = getConvAttrs({gradient.slice(1, 2), node.getDilations(),
                                  node.getPads(), node.getStrides()},
                                 group);
  OnnxValue taps = w.op("Conv", {x, filter}, std::move(attrs));
  taps = w.slice(taps, {2, 3}, {0, 0}, {result[1], result[2]}, {1, 1});
  // [C / G, OC, KH, KW] is [OC, KH, KW, C / G] in the function.
  w.setResult(node, taps, {1, 2, 3, 0});
}
static const NodeExporter convolutionFilterGradient =
    exportConvolutionFilterGradient;
