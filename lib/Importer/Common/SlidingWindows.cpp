//===- SlidingWindows.cpp - Sliding windows in N dimensions ---------------===//

#include "Common/SlidingWindows.h"
#include "Common/Positions.h"
#include "glowish/Base/ElemRange.h"
#include "glowish/Support/Error.h"

using namespace glowish;

std::vector<Edge> glowish::makeEdges(DimsRef spatial,
                                     llvm::ArrayRef<int64_t> kernels,
                                     llvm::ArrayRef<int64_t> strides,
                                     llvm::ArrayRef<int64_t> dilations,
                                     llvm::ArrayRef<int64_t> pads) {
  std::vector<Edge> edges;
  for (size_t d = 0; d < spatial.size(); ++d)
    edges.push_back({.extent = spatial[d],
                     .kernel = kernels[d],
                     .stride = strides[d],
                     .dilation = dilations[d],
                     .before = pads[d],
                     .after = pads[spatial.size() + d]});
  return edges;
}

llvm::Error glowish::checkUnrolled(llvm::ArrayRef<Edge> edges) {
  for (const Edge &edge : edges)
    if (edge.kernel > maxUnrolledKernel)
      return makeError("a kernel has the extent {0}; accepted: at most {1}, as "
                       "each of its elements becomes a node",
                       edge.kernel, maxUnrolledKernel);
  return llvm::Error::success();
}

ImageWindow ImageWindow::along(llvm::ArrayRef<Edge> edges) {
  ImageWindow window;
  for (auto [i, edge] : llvm::enumerate(edges)) {
    unsigned d = unsigned(2 - edges.size() + i);
    window.kernels[d] = edge.kernel;
    window.strides[d] = edge.stride;
    window.dilations[d] = edge.dilation;
    window.setPads(d, edge);
  }
  return window;
}

Edge ImageWindow::getEdge(unsigned d, int64_t extent) const {
  return {.extent = extent,
          .kernel = kernels[d],
          .stride = strides[d],
          .dilation = dilations[d],
          .before = pads[d],
          .after = pads[d + 2]};
}

void ImageWindow::setPads(unsigned d, const Edge &edge) {
  pads[d] = edge.before;
  pads[d + 2] = edge.after;
  beyondPads[d] = edge.beyond;
}

bool ImageWindow::hasPads() const {
  return llvm::any_of(pads, [](int64_t pad) { return pad != 0; });
}

/// Adds the pads of ceil_mode where a run decides the extent: windows may then
/// reach as far as any of them does. Returns an error where some extents would
/// have a window that begins in the end padding, which is left out.
static llvm::Error completeOpenCeil(Edge &edge) {
  if (edge.stride == 1)
    return llvm::Error::success();
  if (edge.after + edge.stride > edge.getReach())
    return makeError("a run decides an extent, and in ceil_mode whether a "
                     "window of {0} elements begins in the padding; accepted: "
                     "windows of at least the pad and the stride, {1}",
                     edge.getReach(), edge.after + edge.stride);
  edge.beyond = edge.stride - 1;
  edge.after += edge.beyond;
  return llvm::Error::success();
}

llvm::Error glowish::completePads(Edge &edge, llvm::StringRef autoPad,
                                  bool ceilMode, const Extent *length) {
  if (autoPad == "VALID")
    edge.before = edge.after = 0;
  bool isSame = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
  if (isSame) {
    if (length && !divideExactly(*length, edge.stride))
      return makeError(
          "a run decides an extent, {0}, and how '{1}' pads it for "
          "a stride of {2}; accepted: multiples of the stride",
          length->describe(), autoPad, edge.stride);
    // All multiples of the stride have the same pads.
    int64_t extent = length ? edge.stride : edge.extent;
    int64_t count = (extent + edge.stride - 1) / edge.stride;
    int64_t total = std::max<int64_t>(
        (count - 1) * edge.stride + edge.getReach() - extent, 0);
    edge.before = autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
    edge.after = total - edge.before;
  }
  if (length)
    return ceilMode && !isSame ? completeOpenCeil(edge)
                               : llvm::Error::success();
  int64_t space = edge.extent + edge.before + edge.after - edge.getReach();
  int64_t rest = space < 0 ? 0 : space % edge.stride;
  // A window that would begin in the end padding is left out.
  if (!ceilMode || rest == 0 ||
      space - rest + edge.stride >= edge.extent + edge.before)
    return llvm::Error::success();
  edge.beyond = edge.stride - rest;
  edge.after += edge.beyond;
  return llvm::Error::success();
}

/// Returns element \p k of each window along dimension \p axis of padded
/// \p value.
static NodeValue takeLayer(NodeBuilder &b, NodeValue value, int64_t axis,
                           const Edge &edge, int64_t k) {
  if (!value)
    return value;
  std::vector<int64_t> starts(value.getShape().size(), 0);
  std::vector<int64_t> steps(value.getShape().size(), 1);
  std::vector<int64_t> sizes(value.getShape());
  starts[axis] = k * edge.dilation;
  steps[axis] = edge.stride;
  sizes[axis] = edge.getCount();
  return b.make<SliceNode>(value, starts, sizes, steps);
}

static NodeValue padEdge(NodeBuilder &b, NodeValue value, int64_t axis,
                         const Edge &edge, double filler) {
  if (!value)
    return value;
  unsigned rank = value.getShape().size();
  std::vector<int64_t> pads(2 * rank, 0);
  pads[axis] = edge.before;
  pads[rank + axis] = edge.after;
  return b.pad(value, pads, filler);
}

/// Sums over windows, one dimension after the other.
NodeValue glowish::sumWindows(NodeBuilder &b, NodeValue value,
                              llvm::ArrayRef<Edge> edges) {
  for (unsigned d = 0; d < edges.size(); ++d) {
    NodeValue padded = padEdge(b, value, d + 2, edges[d], 0);
    value = takeLayer(b, padded, d + 2, edges[d], 0);
    for (int64_t k = 1; k < edges[d].kernel; ++k)
      value = b.add(value, takeLayer(b, padded, d + 2, edges[d], k));
  }
  return value;
}

/// Whether \p next, of a later element, replaces \p best.
static NodeValue isLarger(NodeBuilder &b, NodeValue next, NodeValue best,
                          NaNPosition ofNaN) {
  NodeValue isAbove = b.greater(next, best);
  if (!isAbove || !isFloatKind(best.getElemKind()))
    return isAbove;
  NodeValue isNaN = b.unary<NotNode>(b.equal(next, next));
  if (ofNaN == NaNPosition::First)
    isNaN = b.logicalAnd(isNaN, b.equal(best, best));
  return b.logicalOr(isAbove, isNaN);
}

IndexedMaxima glowish::maxWindows(NodeBuilder &b, IndexedMaxima value,
                                  llvm::ArrayRef<Edge> edges,
                                  NaNPosition ofNaN) {
  if (!value.values)
    return value;
  double lowest = getLowest(value.values.getElemKind());
  for (unsigned d = edges.size(); d-- > 0;) {
    unsigned axis = d + 2;
    IndexedMaxima padded = {padEdge(b, value.values, axis, edges[d], lowest),
                            padEdge(b, value.positions, axis, edges[d], -1)};
    value = {takeLayer(b, padded.values, axis, edges[d], 0),
             takeLayer(b, padded.positions, axis, edges[d], 0)};
    for (int64_t k = 1; k < edges[d].kernel; ++k) {
      NodeValue next = takeLayer(b, padded.values, axis, edges[d], k);
      if (value.positions) {
        NodeValue position = takeLayer(b, padded.positions, axis, edges[d], k);
        // Padding has position -1, and any element replaces it.
        NodeValue wins =
            b.logicalOr(isLarger(b, next, value.values, ofNaN),
                        b.logicalAnd(b.less(value.positions, 0),
                                     b.greaterOrEqual(position, 0)));
        value.positions = b.select(wins, position, value.positions);
      }
      value.values = b.max(value.values, next);
    }
  }
  return value;
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

NodeValue glowish::padCounted(NodeBuilder &b, NodeValue pixels,
                              std::vector<int64_t> &pads, int64_t bottom,
                              int64_t right) {
  pixels = b.pad(
      pixels, {0, pads[0], pads[1], 0, 0, pads[2] - bottom, pads[3] - right, 0},
      0);
  pads = {0, 0, bottom, right};
  return pixels;
}

NodeValue glowish::averageWindows(NodeBuilder &b, NodeValue value,
                                  llvm::ArrayRef<Edge> edges, bool countPads) {
  NodeValue result = sumWindows(b, value, edges);
  for (unsigned d = 0; result && d < edges.size(); ++d) {
    Dims shape(value.getShape().size(), 1);
    shape[d + 2] = edges[d].getCount();
    NodeValue counts = b.table(value.getElemKind(), shape, [&](DimsRef index) {
      return double(countInside(edges[d], index[d + 2], countPads));
    });
    result = b.div(result, counts);
  }
  return result;
}

//===- Columns ------------------------------------------------------------===//

NodeValue glowish::makeWindowPositions(NodeBuilder &b,
                                       llvm::ArrayRef<Edge> edges) {
  Dims kernel, counts, padded;
  for (const Edge &edge : edges) {
    kernel.push_back(edge.kernel);
    counts.push_back(edge.getCount());
    padded.push_back(edge.getPadded());
  }
  Dims kernelStrides = getDenseStrides(kernel);
  Dims countStrides = getDenseStrides(counts),
       strides = getDenseStrides(padded);
  return b.table(ElemKind::Int64,
                 {countElements(kernel), countElements(counts)},
                 [&](DimsRef index) {
                   int64_t position = 0;
                   for (auto [d, edge] : llvm::enumerate(edges)) {
                     int64_t element = index[0] / kernelStrides[d] % kernel[d];
                     int64_t window = index[1] / countStrides[d] % counts[d];
                     position += strides[d] * (window * edge.stride +
                                               element * edge.dilation);
                   }
                   return double(position);
                 });
}

NodeValue glowish::addWindows(NodeBuilder &b, NodeValue columns,
                              llvm::ArrayRef<Edge> edges) {
  NodeValue positions = makeWindowPositions(b, edges);
  if (!columns || !positions)
    return {};
  ElemKind kind = columns.getElemKind();
  DimsRef shape = columns.getShape();
  int64_t taps = positions.getType().getNumElements();
  Dims padded = {shape[0], shape[1] / positions.getShape()[0]};
  int64_t images = countElements(padded);
  std::vector<int64_t> crop(2 * (edges.size() + 2), 0);
  for (auto [d, edge] : llvm::enumerate(edges)) {
    padded.push_back(edge.getPadded());
    crop[d + 2] = -edge.before;
    crop[d + edges.size() + 4] = -edge.after;
  }
  // A row of the scattered matrix is a pixel of all images.
  int64_t pixels = countElements(DimsRef(padded).drop_front(2));
  NodeValue updates = b.transposeLast(b.reshape(columns, {images, taps}));
  NodeValue sums = scatterRows(b, b.splat(kind, {pixels, images}, 0),
                               b.reshape(positions, {taps}), updates,
                               {pixels, images}, "add");
  return b.pad(b.reshape(b.transposeLast(sums), padded), crop, 0);
}

//===- 3-D convolutions ---------------------------------------------------===//

NodeValue glowish::makeVolumeConvolution(NodeBuilder &b, NodeValue input,
                                         NodeValue filter, NodeValue bias,
                                         llvm::ArrayRef<Edge> edges,
                                         int64_t group) {
  DimsRef shape = input.getShape(), kernel = filter.getShape();
  const Edge &depth = edges[0], &height = edges[1], &width = edges[2];
  int64_t layers = depth.getCount();
  NodeValue padded = padEdge(b, input, 2, depth, 0);
  NodeValue sum;
  for (int64_t k = 0; k < depth.kernel; ++k) {
    // [N, C, D, H, W] to images [N * D, H, W, C].
    NodeValue images =
        b.transpose(takeLayer(b, padded, 2, depth, k), {0, 2, 3, 4, 1});
    images =
        b.reshape(images, {shape[0] * layers, shape[3], shape[4], shape[1]});
    NodeValue layer = b.transpose(b.slice(filter, 2, k, 1), {0, 2, 3, 4, 1});
    layer = b.reshape(layer, {kernel[0], kernel[3], kernel[4], kernel[1]});
    if (b.hasFailed())
      break;
    NodeValue part = b.make<ConvolutionNode>(
        images, layer, k == 0 ? bias : NodeValue(),
        std::vector<int64_t>{height.stride, width.stride},
        std::vector<int64_t>{height.before, width.before, height.after,
                             width.after},
        std::vector<int64_t>{height.dilation, width.dilation}, group);
    sum = sum ? b.add(sum, part) : part;
  }
  NodeValue volumes = b.reshape(
      sum, {shape[0], layers, height.getCount(), width.getCount(), kernel[0]});
  return b.transpose(volumes, {0, 4, 1, 2, 3});
}

/// Inserts zeros between \p parts [N, D, M] by the stride of \p depth, and pads
/// them to \p extent, beginning at \p first.
static NodeValue upsampleLayers(NodeBuilder &b, NodeValue parts,
                                const Edge &depth, int64_t first,
                                int64_t extent) {
  if (!parts)
    return parts;
  Dims shape(parts.getShape());
  NodeValue upsampled =
      b.pad(b.unsqueeze(parts, 2), {0, 0, 0, 0, 0, 0, depth.stride - 1, 0}, 0);
  upsampled =
      b.reshape(upsampled, {shape[0], shape[1] * depth.stride, shape[2]});
  int64_t length = (shape[1] - 1) * depth.stride + 1;
  upsampled = b.slice(upsampled, 1, 0, length);
  return b.pad(upsampled, {0, first, 0, 0, extent - first - length, 0}, 0);
}

NodeValue glowish::makeVolumeConvTranspose(NodeBuilder &b, NodeValue input,
                                           NodeValue filter, NodeValue bias,
                                           llvm::ArrayRef<Edge> edges,
                                           llvm::ArrayRef<int64_t> outputPads,
                                           int64_t group) {
  DimsRef shape = input.getShape(), kernel = filter.getShape();
  const Edge &depth = edges[0], &height = edges[1], &width = edges[2];
  int64_t extent =
      (depth.extent - 1) * depth.stride + depth.getReach() + outputPads[0];
  NodeValue images =
      b.reshape(b.transpose(input, {0, 2, 3, 4, 1}),
                {shape[0] * shape[2], shape[3], shape[4], shape[1]});
  NodeValue sum;
  Dims plane;
  for (int64_t k = 0; k < depth.kernel; ++k) {
    NodeValue layer =
        b.reshape(b.transpose(b.slice(filter, 2, k, 1), {0, 2, 3, 4, 1}),
                  {kernel[0], kernel[3], kernel[4], kernel[1]});
    if (b.hasFailed())
      break;
    NodeValue part = b.make<ConvTransposeNode>(
        images, layer, NodeValue(),
        std::vector<int64_t>{height.stride, width.stride},
        std::vector<int64_t>{height.before, width.before, height.after,
                             width.after},
        outputPads.drop_front().vec(),
        std::vector<int64_t>{height.dilation, width.dilation}, group);
    if (b.hasFailed())
      break;
    plane = Dims(part.getShape().drop_front());
    part = b.reshape(part, {shape[0], shape[2], countElements(plane)});
    part = upsampleLayers(b, part, depth, k * depth.dilation, extent);
    sum = sum ? b.add(sum, part) : part;
  }
  sum = b.pad(sum, {0, -depth.before, 0, 0, -depth.after, 0}, 0);
  if (b.hasFailed())
    return {};
  NodeValue volumes = b.reshape(
      sum, {shape[0], sum.getShape()[1], plane[0], plane[1], plane[2]});
  if (bias)
    volumes = b.add(volumes, bias);
  return b.transpose(volumes, {0, 4, 1, 2, 3});
}
