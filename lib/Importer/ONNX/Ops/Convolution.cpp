//===- Convolution.cpp - Conv, and the windows of pooling -----------------===//

#include "ONNX/Window.h"

using namespace glowish;

/// Attributes larger than this are nonsense, and could overflow.
static constexpr int64_t maxWindowValue = int64_t(1) << 31;

/// A list of one value a spatial dimension (two for pads); one-dimensional
/// ones get a height of \p filler in front.
static llvm::Expected<std::vector<int64_t>>
readList(const OpContext &op, llvm::StringRef name, unsigned perDim,
         bool isOneDimensional, int64_t filler, int64_t least) {
  unsigned length = perDim * (isOneDimensional ? 1 : 2);
  GLOWISH_TRY(std::vector<int64_t> values,
              op.getInts(name, std::vector<int64_t>(length, filler)));
  if (values.size() != length)
    return makeError("attribute '{0}' has {1} values; accepted: {2} (one or "
                     "two spatial dimensions)",
                     name, values.size(), length);
  for (int64_t value : values)
    if (value < least || value > maxWindowValue)
      return makeError("attribute '{0}' has the value {1}; accepted: at least "
                       "{2}",
                       name, value, least);
  if (!isOneDimensional)
    return values;
  if (perDim == 1)
    return std::vector<int64_t>{filler, values[0]};
  return std::vector<int64_t>{filler, values[0], filler, values[1]};
}

/// SAME_UPPER and SAME_LOWER: as much padding as gives ceil(size / stride)
/// windows; the odd one goes to the end or the start.
static void padToSame(Window &window, DimsRef spatial, bool isUpper) {
  for (unsigned d = 0; d < 2; ++d) {
    int64_t stride = window.strides[d];
    int64_t count = (spatial[d] + stride - 1) / stride;
    int64_t reach = (window.kernels[d] - 1) * window.dilations[d] + 1;
    int64_t total =
        std::max<int64_t>((count - 1) * stride + reach - spatial[d], 0);
    int64_t smaller = total / 2, larger = total - smaller;
    window.pads[d] = isUpper ? smaller : larger;
    window.pads[d + 2] = isUpper ? larger : smaller;
  }
}

/// ceil_mode: more padding at the end where the last window would not fit. A
/// window that would begin in the end padding is left out, as PyTorch and
/// ONNX do.
static void padForCeil(Window &window, DimsRef spatial) {
  for (unsigned d = 0; d < 2; ++d) {
    int64_t reach = (window.kernels[d] - 1) * window.dilations[d] + 1;
    int64_t room =
        spatial[d] + window.pads[d] + window.pads[d + 2] - reach;
    int64_t rest = room < 0 ? 0 : room % window.strides[d];
    if (rest == 0)
      continue;
    int64_t start = room - rest + window.strides[d];
    if (start >= spatial[d] + window.pads[d])
      continue;
    window.pads[d + 2] += window.strides[d] - rest;
    window.reachesBeyondPads = true;
  }
}

llvm::Expected<Window> glowish::readWindow(const OpContext &op,
                                           DimsRef spatial,
                                           std::vector<int64_t> kernels) {
  bool isOneDimensional =
      op.getProto().input_size() &&
      (op.hasAttr("kernel_shape") ? op.findAttr("kernel_shape")->ints_size() == 1
                                  : kernels.size() == 1);
  Window window;
  if (kernels.empty() || kernels.size() == 1) {
    GLOWISH_TRY(window.kernels,
                readList(op, "kernel_shape", 1, isOneDimensional, 1, 1));
    if (!kernels.empty() && window.kernels[1] != kernels[0] &&
        op.hasAttr("kernel_shape"))
      return makeError("attribute 'kernel_shape' differs from the filter");
    if (!kernels.empty())
      window.kernels = {1, kernels[0]};
  } else {
    window.kernels = std::move(kernels);
  }
  GLOWISH_TRY(window.strides,
              readList(op, "strides", 1, isOneDimensional, 1, 1));
  GLOWISH_TRY(window.dilations,
              readList(op, "dilations", 1, isOneDimensional, 1, 1));
  GLOWISH_TRY(window.pads, readList(op, "pads", 2, isOneDimensional, 0, 0));
  GLOWISH_TRY(std::string autoPad, op.getString("auto_pad", "NOTSET"));
  if (autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER")
    padToSame(window, spatial, autoPad == "SAME_UPPER");
  else if (autoPad == "VALID")
    window.pads.assign(4, 0);
  else if (autoPad != "NOTSET" && !autoPad.empty())
    return makeError("attribute 'auto_pad' is '{0}'", autoPad);
  GLOWISH_TRY(int64_t ceilMode, op.getInt("ceil_mode", 0));
  if (ceilMode)
    padForCeil(window, spatial);
  return window;
}

llvm::Expected<NodeValue> glowish::widenToImage(OpContext &op,
                                                NodeValue value) {
  DimsRef shape = value.getShape();
  if (shape.size() == 4)
    return value;
  if (shape.size() != 3)
    return makeError("input 0 is {0}; accepted: rank 3 or 4 (one or two "
                     "spatial dimensions)",
                     value.getType().str());
  return op.reshape(value, {shape[0], shape[1], 1, shape[2]});
}

static llvm::Error importConv(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  GLOWISH_TRY(NodeValue filter, op.getInput(1));
  bool isOneDimensional = input.getShape().size() == 3;
  if (filter.getShape().size() != input.getShape().size())
    return makeError("the filter is {0} and the input {1}: their ranks differ",
                     filter.getType().str(), input.getType().str());
  std::vector<int64_t> kernels(filter.getShape().drop_front(2));
  GLOWISH_TRY(input, widenToImage(op, input));
  GLOWISH_TRY(filter, widenToImage(op, filter));
  GLOWISH_TRY(Window window,
              readWindow(op, input.getShape().drop_front(2), kernels));
  NodeValue bias;
  if (op.hasInput(2)) {
    GLOWISH_TRY(bias, op.getInput(2));
  }
  GLOWISH_TRY(int64_t group, op.getInt("group", 1));
  GLOWISH_TRY(NodeValue image, op.toNHWC(input));
  GLOWISH_TRY(NodeValue weights, op.toNHWC(filter));
  GLOWISH_TRY(NodeValue result,
              op.create<ConvolutionNode>(image, weights, bias, window.strides,
                                         window.pads, window.dilations, group));
  GLOWISH_TRY(result, op.toNCHW(result));
  if (isOneDimensional) {
    DimsRef shape = result.getShape();
    GLOWISH_TRY(result, op.reshape(result, {shape[0], shape[1], shape[3]}));
  }
  return op.setOutput(0, result);
}

static OnnxOperator convOp("Conv", 1, importConv);
