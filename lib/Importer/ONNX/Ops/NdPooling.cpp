//===- NdPooling.cpp - Pooling and convolution in N dimensions ------------===//

#include "ONNX/Ops/NdPooling.h"
#include "ONNX/Ops/Indexing.h"
#include <cmath>

using namespace glowish;

namespace {

/// The window along one spatial dimension.
struct Edge {
  int64_t extent = 1, kernel = 1, stride = 1, dilation = 1;
  int64_t before = 0, after = 0; // pads
  int64_t beyond = 0;            // the part of `after` added by ceil_mode
  int64_t getReach() const { return (kernel - 1) * dilation + 1; }
  int64_t getCount() const {
    int64_t space = extent + before + after - getReach();
    return space < 0 ? 0 : space / stride + 1;
  }
};

/// Values and, optionally, the positions that they were taken from.
struct Indexed {
  NodeValue values, positions;
};

} // namespace

/// Each element along a window dimension is unrolled.
static constexpr int64_t maxKernel = 4096;
/// Resolves auto_pad and ceil_mode of one dimension, like Images.cpp for two.
static void completePads(Edge &edge, llvm::StringRef autoPad, bool ceilMode) {
  if (autoPad == "VALID")
    edge.before = edge.after = 0;
  if (autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER") {
    int64_t count = (edge.extent + edge.stride - 1) / edge.stride;
    int64_t total = std::max<int64_t>(
        (count - 1) * edge.stride + edge.getReach() - edge.extent, 0);
    edge.before = autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
    edge.after = total - edge.before;
  }
  int64_t space = edge.extent + edge.before + edge.after - edge.getReach();
  int64_t rest = space < 0 ? 0 : space % edge.stride;
  // A window that would begin in the end padding is left out.
  if (!ceilMode || rest == 0 ||
      space - rest + edge.stride >= edge.extent + edge.before)
    return;
  edge.beyond = edge.stride - rest;
  edge.after += edge.beyond;
}

/// Reads the windows over the dimensions of \p input from 2 on. \p kernel is
/// the extents of a filter; if empty, the attribute is required.
static llvm::Expected<std::vector<Edge>>
readEdges(OpContext &op, NodeValue input, DimsRef kernel = {}) {
  if (input.getShape().size() < 3)
    return makeError("input 0 is {0}; accepted: rank 3 or more",
                     input.getType().str());
  DimsRef spatial = input.getShape().drop_front(2);
  size_t count = spatial.size();
  if (kernel.empty() && !op.hasAttr("kernel_shape"))
    return makeError("attribute 'kernel_shape' is missing");
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> kernels,
                           readWindowInts(op, "kernel_shape", count, 1, 1));
  if (!kernel.empty())
    kernels = kernel.vec();
  for (int64_t extent : kernels)
    if (extent < 1 || extent > maxKernel)
      return makeError("the kernel is {0}; accepted: extents of 1 to {1}",
                       formatShape(kernels), maxKernel);
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> strides,
                           readWindowInts(op, "strides", count, 1, 1));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> dilations,
                           readWindowInts(op, "dilations", count, 1, 1));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> pads,
                           readWindowInts(op, "pads", 2 * count, 0, 0));
  GLOWISH_ASSIGN_OR_RETURN(std::string autoPad,
                           op.getString("auto_pad", "NOTSET"));
  GLOWISH_ASSIGN_OR_RETURN(int64_t ceilMode, op.getInt("ceil_mode", 0));
  std::vector<Edge> edges;
  for (size_t d = 0; d < count; ++d) {
    Edge edge{spatial[d],   kernels[d], strides[d],
              dilations[d], pads[d],    pads[count + d]};
    completePads(edge, autoPad, ceilMode != 0);
    if (edge.getCount() < 1)
      return makeError("a window of {0} pixels does not fit into {1}",
                       edge.getReach(), input.getType().str());
    edges.push_back(edge);
  }
  return edges;
}

/// Returns element \p k of each window along dimension \p axis of padded
/// \p value.
static NodeValue takeLayer(Composer &c, NodeValue value, int64_t axis,
                           const Edge &edge, int64_t k) {
  if (!value)
    return value;
  std::vector<int64_t> starts(value.getShape().size(), 0);
  std::vector<int64_t> steps(value.getShape().size(), 1);
  std::vector<int64_t> sizes(value.getShape());
  starts[axis] = k * edge.dilation;
  steps[axis] = edge.stride;
  sizes[axis] = edge.getCount();
  return c.make<SliceNode>(value, starts, sizes, steps);
}

static NodeValue padEdge(Composer &c, NodeValue value, int64_t axis,
                         const Edge &edge, double filler) {
  if (!value)
    return value;
  unsigned rank = value.getShape().size();
  std::vector<int64_t> pads(2 * rank, 0);
  pads[axis] = edge.before;
  pads[rank + axis] = edge.after;
  return c.pad(value, pads, filler);
}

/// Sums over windows, one dimension after the other.
static NodeValue sumWindows(Composer &c, NodeValue value,
                            llvm::ArrayRef<Edge> edges) {
  for (unsigned d = 0; d < edges.size(); ++d) {
    NodeValue padded = padEdge(c, value, d + 2, edges[d], 0);
    value = takeLayer(c, padded, d + 2, edges[d], 0);
    for (int64_t k = 1; k < edges[d].kernel; ++k)
      value = c.add(value, takeLayer(c, padded, d + 2, edges[d], k));
  }
  return value;
}

/// Returns the minimum of \p kind.
static double getLowest(ElemKind kind) {
  if (isFloatKind(kind))
    return -std::numeric_limits<double>::infinity();
  return dispatchElemKind(kind, [](auto zero) -> double {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>)
      return double(std::numeric_limits<T>::lowest());
    return 0;
  });
}

/// Returns the maxima of windows, reducing the last dimension first. Of equal
/// elements the first in row-major order is selected.
static Indexed maxWindows(Composer &c, Indexed value,
                          llvm::ArrayRef<Edge> edges) {
  if (!value.values)
    return value;
  double lowest = getLowest(value.values.getElemKind());
  for (unsigned d = edges.size(); d-- > 0;) {
    unsigned axis = d + 2;
    Indexed padded = {padEdge(c, value.values, axis, edges[d], lowest),
                      padEdge(c, value.positions, axis, edges[d], -1)};
    value = {takeLayer(c, padded.values, axis, edges[d], 0),
             takeLayer(c, padded.positions, axis, edges[d], 0)};
    for (int64_t k = 1; k < edges[d].kernel; ++k) {
      NodeValue next = takeLayer(c, padded.values, axis, edges[d], k);
      if (value.positions) {
        NodeValue position = takeLayer(c, padded.positions, axis, edges[d], k);
        // Padding has position -1, and any element replaces it.
        NodeValue wins =
            c.logicalOr(c.greater(next, value.values),
                        c.logicalAnd(c.less(value.positions, 0),
                                     c.greaterOrEqual(position, 0)));
        value.positions = c.select(wins, position, value.positions);
      }
      value.values = c.max(value.values, next);
    }
  }
  return value;
}

llvm::Error glowish::importWindowMax(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue input, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Edge> edges, readEdges(op, input));
  GLOWISH_ASSIGN_OR_RETURN(int64_t columnMajor, op.getInt("storage_order", 0));
  Composer c(op);
  Indexed value{input, {}};
  DimsRef shape = input.getShape();
  if (op.wantsOutput(1)) {
    Dims strides = getDenseStrides(shape);
    if (columnMajor) {
      int64_t stride = 1;
      for (unsigned d = 2; d < shape.size(); ++d) {
        strides[d] = stride;
        stride *= shape[d];
      }
    }
    value.positions = makePositions(c, shape, strides);
  }
  value = maxWindows(c, value, edges);
  GLOWISH_RETURN_IF_ERROR(c.setOutput(0, value.values));
  return op.wantsOutput(1) ? c.setOutput(1, value.positions)
                           : llvm::Error::success();
}

/// Counts the elements of window \p index along \p edge that are inside the
/// input, or with \p countPads inside its padding.
static int64_t countInside(const Edge &edge, int64_t index, bool countPads) {
  int64_t low = countPads ? -edge.before : 0;
  int64_t high = edge.extent + (countPads ? edge.after - edge.beyond : 0);
  int64_t count = 0;
  for (int64_t k = 0; k < edge.kernel; ++k) {
    int64_t at = index * edge.stride - edge.before + k * edge.dilation;
    count += at >= low && at < high;
  }
  return count;
}

llvm::Error glowish::importWindowMean(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue input, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Edge> edges, readEdges(op, input));
  GLOWISH_ASSIGN_OR_RETURN(int64_t countPads,
                           op.getInt("count_include_pad", 0));
  Composer c(op);
  NodeValue result = sumWindows(c, input, edges);
  for (unsigned d = 0; result && d < edges.size(); ++d) {
    Dims shape(input.getShape().size(), 1);
    shape[d + 2] = edges[d].getCount();
    NodeValue counts = c.table(input.getElemKind(), shape, [&](DimsRef index) {
      return double(countInside(edges[d], index[d + 2], countPads != 0));
    });
    result = c.div(result, counts);
  }
  return c.setOutput(0, result);
}

/// (sum of |x|^p)^(1/p).
static llvm::Error importLpPool(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue input, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Edge> edges, readEdges(op, input));
  // A float in opset 1, an integer since opset 2.
  int64_t p = 2;
  if (op.getOpset() >= 2) {
    GLOWISH_ASSIGN_OR_RETURN(p, op.getInt("p", 2));
  } else {
    GLOWISH_ASSIGN_OR_RETURN(double number, op.getFloat("p", 2));
    p = int64_t(std::clamp(number, -1e9, 1e9));
  }
  Composer c(op);
  NodeValue power = c.pow(c.unary<AbsNode>(input), double(p));
  return c.setOutput(0, c.pow(sumWindows(c, power, edges), 1.0 / double(p)));
}

static llvm::Error importGlobalLpPool(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue input, op.getInput(0));
  // A float in opset 1.
  double p = 2;
  if (op.getOpset() == 1) {
    GLOWISH_ASSIGN_OR_RETURN(p, op.getFloat("p", p));
  } else {
    GLOWISH_ASSIGN_OR_RETURN(int64_t power, op.getInt("p", 2));
    p = double(power);
  }
  std::vector<int64_t> axes;
  for (unsigned d = 2; d < input.getShape().size(); ++d)
    axes.push_back(d);
  Composer c(op);
  NodeValue power = c.pow(c.unary<AbsNode>(input), p);
  NodeValue sum = c.reduce(power, "sum", axes, /*keepDims=*/true);
  return c.setOutput(0, c.pow(sum, 1 / p));
}

/// Scatters the elements to the positions that MaxPool took them from; others
/// are zero.
static llvm::Error importMaxUnpool(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue input, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue positions, op.getInput(1));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Edge> edges, readEdges(op, input));
  Dims shape(input.getShape());
  for (unsigned d = 0; d < edges.size(); ++d) {
    const Edge &edge = edges[d];
    if (__builtin_mul_overflow(edge.extent - 1, edge.stride, &shape[d + 2]))
      return makeError("strides {0} of {1} are too large", edge.stride,
                       input.getType().str());
    shape[d + 2] += edge.kernel - edge.before - edge.after;
  }
  GLOWISH_RETURN_IF_ERROR(checkShape(input.getElemKind(), shape));
  Dims result = shape;
  if (op.hasInput(2)) {
    GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> stated,
                             op.getConstantInts(2));
    if (stated.size() != shape.size())
      return makeError("input 2 has {0} elements; accepted: {1}", stated.size(),
                       shape.size());
    result.assign(stated.begin(), stated.end());
    GLOWISH_RETURN_IF_ERROR(checkShape(input.getElemKind(), result));
  }
  Composer c(op);
  int64_t count = input.getType().getNumElements();
  int64_t size = countElements(shape);
  NodeValue zeros = c.splat(input.getElemKind(), {size, 1}, 0);
  NodeValue rows = c.reshape(positions, {count});
  NodeValue values = c.reshape(input, {count, 1});
  if (c.hasFailed())
    return c.setOutput(0, zeros);
  NodeValue full =
      c.reshape(c.make<ScatterNode>(zeros, rows, values, "replace"), shape);
  // The positions refer to the extents implied by the window.
  std::vector<int64_t> pads(2 * shape.size(), 0);
  for (unsigned d = 0; d < shape.size(); ++d)
    pads[shape.size() + d] = result[d] - shape[d];
  return c.setOutput(0, c.pad(full, pads, 0));
}

//===- 3-D convolutions ---------------------------------------------------===//

llvm::Error glowish::importVolumeConv(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue input, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue filter, op.getInput(1));
  NodeValue bias = op.getOptionalInput(2);
  GLOWISH_ASSIGN_OR_RETURN(int64_t group, op.getInt("group", 1));
  DimsRef shape = input.getShape(), kernel = filter.getShape();
  if (kernel.size() != 5)
    return makeError("the filter is {0}; accepted: rank 5",
                     filter.getType().str());
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Edge> edges,
                           readEdges(op, input, kernel.drop_front(2)));
  const Edge &depth = edges[0], &height = edges[1], &width = edges[2];
  int64_t layers = depth.getCount();
  Composer c(op);
  NodeValue padded = padEdge(c, input, 2, depth, 0);
  NodeValue sum;
  for (int64_t k = 0; k < depth.kernel; ++k) {
    // [N, C, D, H, W] to images [N * D, H, W, C].
    NodeValue images =
        c.transpose(takeLayer(c, padded, 2, depth, k), {0, 2, 3, 4, 1});
    images =
        c.reshape(images, {shape[0] * layers, shape[3], shape[4], shape[1]});
    NodeValue layer = c.transpose(c.slice(filter, 2, k, 1), {0, 2, 3, 4, 1});
    layer = c.reshape(layer, {kernel[0], kernel[3], kernel[4], kernel[1]});
    if (c.hasFailed())
      break;
    NodeValue part = c.make<ConvolutionNode>(
        images, layer, k == 0 ? bias : NodeValue(),
        std::vector<int64_t>{height.stride, width.stride},
        std::vector<int64_t>{height.before, width.before, height.after,
                             width.after},
        std::vector<int64_t>{height.dilation, width.dilation}, group);
    sum = sum ? c.add(sum, part) : part;
  }
  NodeValue volumes = c.reshape(
      sum, {shape[0], layers, height.getCount(), width.getCount(), kernel[0]});
  return c.setOutput(0, c.transpose(volumes, {0, 4, 1, 2, 3}));
}

/// Inserts zeros between \p parts [N, D, M] by the stride of \p depth, and pads
/// them to \p extent, beginning at \p first.
static NodeValue upsampleLayers(Composer &c, NodeValue parts, const Edge &depth,
                                int64_t first, int64_t extent) {
  if (!parts)
    return parts;
  Dims shape(parts.getShape());
  NodeValue upsampled =
      c.pad(c.unsqueeze(parts, 2), {0, 0, 0, 0, 0, 0, depth.stride - 1, 0}, 0);
  upsampled =
      c.reshape(upsampled, {shape[0], shape[1] * depth.stride, shape[2]});
  int64_t length = (shape[1] - 1) * depth.stride + 1;
  upsampled = c.slice(upsampled, 1, 0, length);
  return c.pad(upsampled, {0, first, 0, 0, extent - first - length, 0}, 0);
}

llvm::Error glowish::importVolumeConvTranspose(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue input, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue filter, op.getInput(1));
  NodeValue bias = op.getOptionalInput(2);
  GLOWISH_ASSIGN_OR_RETURN(int64_t group, op.getInt("group", 1));
  DimsRef shape = input.getShape(), kernel = filter.getShape();
  if (kernel.size() != 5 || shape[2] < 1 || kernel[2] < 1 ||
      kernel[2] > maxKernel || shape[2] > maxWindowValue)
    return makeError("inputs are {0} and {1}; accepted: rank 5, not empty, and "
                     "a kernel of up to {2} layers",
                     input.getType().str(), filter.getType().str(), maxKernel);
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> strides,
                           readWindowInts(op, "strides", 3, 1, 1));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> dilations,
                           readWindowInts(op, "dilations", 3, 1, 1));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> pads,
                           readWindowInts(op, "pads", 6, 0, 0));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> added,
                           readWindowInts(op, "output_padding", 3, 0, 0));
  op.ignoreAttrs({"kernel_shape"}); // implied by the filter
  Edge depth{shape[2], kernel[2], strides[0], dilations[0], pads[0], pads[3]};
  int64_t extent =
      (depth.extent - 1) * depth.stride + depth.getReach() + added[0];
  Composer c(op);
  NodeValue images =
      c.reshape(c.transpose(input, {0, 2, 3, 4, 1}),
                {shape[0] * shape[2], shape[3], shape[4], shape[1]});
  NodeValue sum;
  Dims plane;
  for (int64_t k = 0; k < depth.kernel; ++k) {
    NodeValue layer =
        c.reshape(c.transpose(c.slice(filter, 2, k, 1), {0, 2, 3, 4, 1}),
                  {kernel[0], kernel[3], kernel[4], kernel[1]});
    if (c.hasFailed())
      break;
    NodeValue part = c.make<ConvTransposeNode>(
        images, layer, NodeValue(),
        std::vector<int64_t>{strides[1], strides[2]},
        std::vector<int64_t>{pads[1], pads[2], pads[4], pads[5]},
        std::vector<int64_t>{added[1], added[2]},
        std::vector<int64_t>{dilations[1], dilations[2]}, group);
    if (c.hasFailed())
      break;
    plane = Dims(part.getShape().drop_front());
    part = c.reshape(part, {shape[0], shape[2], countElements(plane)});
    part = upsampleLayers(c, part, depth, k * depth.dilation, extent);
    sum = sum ? c.add(sum, part) : part;
  }
  sum = c.pad(sum, {0, -depth.before, 0, 0, -depth.after, 0}, 0);
  if (c.hasFailed())
    return c.setOutput(0, sum);
  NodeValue volumes = c.reshape(
      sum, {shape[0], sum.getShape()[1], plane[0], plane[1], plane[2]});
  if (bias)
    volumes = c.add(volumes, bias);
  return c.setOutput(0, c.transpose(volumes, {0, 4, 1, 2, 3}));
}

static OnnxOperator lpPoolOp("LpPool", 1, importLpPool);
static OnnxOperator globalLpPoolOp("GlobalLpPool", 1, importGlobalLpPool);
static OnnxOperator maxUnpoolOp("MaxUnpool", 9, importMaxUnpool);
