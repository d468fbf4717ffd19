//===- Pooling.cpp - Export of poolings and their gradients ---------------===//

#include "ONNX/Ops/SlidingWindow.h"
#include <cmath>

using namespace glowish;

/// Whether the padding is smaller than the kernel, as ONNX Runtime requires.
static bool arePadsSmall(const Windows &windows) {
  for (unsigned i = 0; i < 4; ++i)
    if (windows.pads[i] >= windows.kernels[i % 2])
      return false;
  return true;
}

//===- Forward ------------------------------------------------------------===//

/// Maximum of the slices of the windows, for kinds and padding that MaxPool
/// does not support.
static void composeMaxPool(GraphWriter &w, const MaxPoolNode &node,
                           const Windows &windows) {
  DimsRef shape = node.getType().getShape();
  OnnxValues taps =
      takeTaps(w, node.getInput(), windows, shape[1], shape[2], -HUGE_VAL);
  w.setResult(node, w.op("Max", taps));
}

static void exportMaxPool(GraphWriter &w, const MaxPoolNode &node) {
  Windows windows = getWindows(node);
  ElemKind kind = node.getType().getKind();
  bool isByte = isIntegerKind(kind) && getElemSize(kind) == 1;
  if ((!isFloatKind(kind) && !isByte) || !arePadsSmall(windows))
    return composeMaxPool(w, node, windows);
  OnnxValue result = w.op("MaxPool", {w.get(node.getInput(), toNchw)},
                          getWindowAttrs(windows));
  w.setResult(node, result, fromNchw);
}
static const NodeExporter maxPool = exportMaxPool;

/// Sum of the slices of the windows divided by their number, for windows that
/// AveragePool-11 does not support: it has no dilations.
static void composeAvgPool(GraphWriter &w, const AvgPoolNode &node,
                           const Windows &windows) {
  DimsRef shape = node.getType().getShape();
  OnnxValue sum =
      w.op("Sum", takeTaps(w, node.getInput(), windows, shape[1], shape[2], 0));
  Tensor counts = countInside(windows, node.getInput().getShape().slice(1, 2),
                              shape.slice(1, 2), node.getCountIncludePads(),
                              node.getType().getKind());
  w.setResult(node, w.div(sum, w.constant(std::move(counts))));
}

static void exportAvgPool(GraphWriter &w, const AvgPoolNode &node) {
  Windows windows = getWindows(node);
  if (!llvm::all_equal(windows.dilations) || windows.dilations[0] != 1 ||
      !arePadsSmall(windows))
    return composeAvgPool(w, node, windows);
  OnnxAttrs attrs = getWindowAttrs(windows, /*haveDilations=*/false);
  attrs.push_back(intAttr("count_include_pad", node.getCountIncludePads()));
  OnnxValue result =
      w.op("AveragePool", {w.get(node.getInput(), toNchw)}, std::move(attrs));
  w.setResult(node, result, fromNchw);
}
static const NodeExporter avgPool = exportAvgPool;

template <typename T>
static void exportGlobalPool(GraphWriter &w, const T &node,
                             llvm::StringRef type) {
  w.setResult(node, w.op(type, {w.get(node.getInput(), toNchw)}), fromNchw);
}
static const NodeExporter globalAvgPool = [](GraphWriter &w,
                                             const GlobalAvgPoolNode &node) {
  exportGlobalPool(w, node, "GlobalAveragePool");
};
static const NodeExporter globalMaxPool = [](GraphWriter &w,
                                             const GlobalMaxPoolNode &node) {
  exportGlobalPool(w, node, "GlobalMaxPool");
};

//===- Gradients ----------------------------------------------------------===//

/// The second result of MaxPool has the NCHW positions of the maxima, to which
/// the gradient is added.
static void exportMaxPoolGradient(GraphWriter &w,
                                  const MaxPoolGradientNode &node) {
  OnnxValue input = w.get(node.getInput(), toNchw);
  Windows windows = getWindows(node);
  if (!arePadsSmall(windows))
    return w.fail("the padding is not smaller than the window; accepted: less "
                  "padding");
  OnnxValue positions =
      w.ops(2, "MaxPool", {input}, getWindowAttrs(windows))[1];
  DimsRef shape = node.getType().getShape();
  OnnxValue zeros = w.filled(input.kind, {node.getType().getNumElements()}, 0);
  OnnxValue gradient =
      w.reshape(w.get(node.getGradient(), toNchw),
                {node.getGradient().getType().getNumElements()});
  positions =
      w.reshape(positions, {node.getGradient().getType().getNumElements()});
  OnnxValue sums = w.op("ScatterElements", {zeros, positions, gradient},
                        {intAttr("axis", 0), stringAttr("reduction", "add")});
  w.setResult(node, w.reshape(sums, {shape[0], shape[3], shape[1], shape[2]}),
              fromNchw);
}
static const NodeExporter maxPoolGradient = exportMaxPoolGradient;

/// The gradient divided by the size of the window is spread over the window,
/// per channel: a transposed convolution with ones.
static void exportAvgPoolGradient(GraphWriter &w,
                                  const AvgPoolGradientNode &node) {
  Windows windows = getWindows(node);
  DimsRef gradient = node.getGradient().getShape(), sizes = node.getSizes();
  int64_t channels = gradient[3];
  ElemKind kind = node.getType().getKind();
  Tensor counts = countInside(windows, sizes, gradient.slice(1, 2),
                              node.getCountIncludePads(), kind);
  int64_t height = gradient[1], width = gradient[2];
  OnnxValue shares =
      w.div(w.get(node.getGradient(), toNchw),
            w.reshape(w.constant(std::move(counts)), {1, 1, height, width}));
  int64_t missing[2];
  for (unsigned d = 0; d < 2; ++d)
    missing[d] = sizes[d] - ((gradient[d + 1] - 1) * windows.strides[d] +
                             (windows.kernels[d] - 1) * windows.dilations[d] +
                             1 - windows.pads[d] - windows.pads[d + 2]);
  OnnxValue ones =
      w.filled(kind, {channels, 1, windows.kernels[0], windows.kernels[1]}, 1);
  OnnxAttrs attrs = getWindowAttrs(windows);
  attrs.push_back(intAttr("group", channels));
  OnnxValue sums = w.op("ConvTranspose", {shares, ones}, std::move(attrs));
  // The last rows and columns may be outside of all windows.
  if (missing[0] || missing[1])
    sums = w.pad(sums, {0, 0, 0, 0, 0, 0, missing[0], missing[1]}, 0);
  w.setResult(node, sums, fromNchw);
}
static const NodeExporter avgPoolGradient = exportAvgPoolGradient;
