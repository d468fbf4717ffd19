//===- Convolution.cpp - Convolutions -------------------------------------===//

#include "Aten/Images.h"

using namespace glowish;
using namespace glowish::aten;

namespace {

/// What the schemas of convolutions state.
struct Convolution {
  NodeValue filter, bias;
  std::vector<int64_t> strides, dilations, outputPads;
  /// Before and after each dimension.
  std::vector<int64_t> before, after;
  int64_t groups = 1;
  bool isTransposed = false;
};

} // namespace

static llvm::Expected<std::vector<int64_t>>
readWindowInts(AtenOp &op, llvm::StringRef argument, unsigned count,
               int64_t least) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> values,
                           op.integers(argument, count));
  for (int64_t value : values)
    if (value < least || value > maxWindowValue)
      return op.refuse(argument,
                       llvm::formatv("numbers of {0} and more", least).str());
  return values;
}

/// Pads are numbers, or 'valid' or 'same'; an odd one is behind.
static llvm::Error readPadding(AtenOp &op, Convolution &conv, DimsRef kernels) {
  unsigned count = unsigned(kernels.size());
  if (!op.get("padding").is<std::string>()) {
    GLOWISH_ASSIGN_OR_RETURN(conv.before,
                             readWindowInts(op, "padding", count, 0));
    conv.after = conv.before;
    return llvm::Error::success();
  }
  std::string mode = op.text("padding");
  if (mode != "valid" && mode != "same")
    return op.refuse("padding", "'valid' and 'same'");
  for (unsigned d = 0; d < count; ++d) {
    int64_t total = mode == "same" ? conv.dilations[d] * (kernels[d] - 1) : 0;
    conv.before.push_back(total / 2);
    conv.after.push_back(total - total / 2);
  }
  return llvm::Error::success();
}

static llvm::Expected<Convolution> readConvolution(AtenOp &op) {
  Convolution conv;
  conv.filter = op.tensor("weight");
  conv.bias = op.tensor("bias");
  int64_t rank = op.getRank("weight");
  if (rank < 3 || rank > 5)
    return op.refuse("weight", "one to three spatial dimensions");
  unsigned count = unsigned(rank) - 2;
  DimsRef kernels = op.getShape("weight").drop_front(2);
  for (int64_t kernel : kernels)
    if (kernel < 1 || kernel > maxWindowValue)
      return op.refuse("weight", "extents of at least 1");
  GLOWISH_ASSIGN_OR_RETURN(conv.strides,
                           readWindowInts(op, "stride", count, 1));
  GLOWISH_ASSIGN_OR_RETURN(conv.dilations,
                           readWindowInts(op, "dilation", count, 1));
  GLOWISH_RETURN_IF_ERROR(readPadding(op, conv, kernels));
  conv.outputPads.assign(count, 0);
  if (op.has("output_padding")) {
    GLOWISH_ASSIGN_OR_RETURN(conv.outputPads,
                             readWindowInts(op, "output_padding", count, 0));
    conv.isTransposed = !op.has("transposed") || op.flag("transposed");
  }
  conv.groups = op.integer("groups");
  if (conv.groups < 1)
    return op.refuse("groups", "1 and more");
  return conv;
}

static std::vector<Edge> getEdges(const Convolution &conv, DimsRef spatial) {
  std::vector<Edge> edges;
  DimsRef kernels = conv.filter.getShape().drop_front(2);
  for (size_t d = 0; d < spatial.size(); ++d)
    edges.push_back({.extent = spatial[d],
                     .kernel = kernels[d],
                     .stride = conv.strides[d],
                     .dilation = conv.dilations[d],
                     .before = conv.before[d],
                     .after = conv.after[d]});
  return edges;
}

static llvm::Error setVolume(AtenOp &op, const AtenImages &images,
                             const Convolution &conv,
                             llvm::ArrayRef<Edge> edges) {
  GLOWISH_RETURN_IF_ERROR(checkUnrolled(edges.front()));
  if (edges.front().extent > maxWindowValue)
    return op.refuse("input", "fewer layers");
  NodeValue result =
      conv.isTransposed
          ? makeVolumeConvTranspose(op, images.getValue(), conv.filter,
                                    conv.bias, edges, conv.outputPads,
                                    conv.groups)
          : makeVolumeConvolution(op, images.getValue(), conv.filter, conv.bias,
                                  edges, conv.groups);
  return op.setResult(images.restoreBatch(op, result));
}

static llvm::Error importConvolution(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(Convolution conv, readConvolution(op));
  unsigned count = unsigned(conv.strides.size());
  GLOWISH_ASSIGN_OR_RETURN(AtenImages images,
                           AtenImages::read(op, "input", count));
  std::vector<Edge> edges = getEdges(conv, images.getSpatial());
  for (const Edge &edge : edges)
    if (!conv.isTransposed && edge.getCount() < 1)
      return op.refuse("input", "images that a window fits into");
  if (count == 3)
    return setVolume(op, images, conv, edges);
  ImageWindow window = ImageWindow::along(edges);
  NodeValue filter = AtenImages::toNHWC(op, conv.filter);
  NodeValue pixels = images.getNHWC(op);
  if (!conv.isTransposed)
    return op.setResult(images.fromNHWC(
        op,
        op.make<ConvolutionNode>(pixels, filter, conv.bias, window.strides,
                                 window.pads, window.dilations, conv.groups)));
  std::vector<int64_t> outputPads = conv.outputPads;
  outputPads.insert(outputPads.begin(), 2 - count, 0);
  return op.setResult(images.fromNHWC(
      op, op.make<ConvTransposeNode>(pixels, filter, conv.bias, window.strides,
                                     window.pads, outputPads, window.dilations,
                                     conv.groups)));
}

static AtenOperators convolutions(
    {{importConvolution,
      {"conv1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] "
       "stride=1, int[1] padding=0, int[1] dilation=1, int groups=1) -> Tensor",
       "conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] "
       "stride=1, int[2] padding=0, int[2] dilation=1, int groups=1) -> Tensor",
       "conv3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] "
       "stride=1, int[3] padding=0, int[3] dilation=1, int groups=1) -> Tensor",
       "conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[1] "
       "stride=1, str padding='valid', int[1] dilation=1, int groups=1) -> "
       "Tensor",
       "conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[2] "
       "stride=1, str padding='valid', int[2] dilation=1, int groups=1) -> "
       "Tensor",
       "conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[3] "
       "stride=1, str padding='valid', int[3] dilation=1, int groups=1) -> "
       "Tensor",
       "conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, "
       "int[1] stride=1, int[1] padding=0, int[1] output_padding=0, int "
       "groups=1, int[1] dilation=1) -> Tensor",
       "conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, "
       "int[2] stride=1, int[2] padding=0, int[2] output_padding=0, int "
       "groups=1, int[2] dilation=1) -> Tensor",
       "conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, "
       "int[3] stride=1, int[3] padding=0, int[3] output_padding=0, int "
       "groups=1, int[3] dilation=1) -> Tensor",
       "convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, "
       "int[] padding, int[] dilation, bool transposed, int[] output_padding, "
       "int groups) -> Tensor",
       "_convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, "
       "int[] padding, int[] dilation, bool transposed, int[] output_padding, "
       "int groups, bool benchmark, bool deterministic, bool cudnn_enabled, "
       "bool allow_tf32) -> Tensor",
       "_convolution.deprecated(Tensor input, Tensor weight, Tensor? bias, "
       "int[] stride, int[] padding, int[] dilation, bool transposed, int[] "
       "output_padding, int groups, bool benchmark, bool deterministic, bool "
       "cudnn_enabled) -> Tensor"}}},
    AtenOrder::Images);
