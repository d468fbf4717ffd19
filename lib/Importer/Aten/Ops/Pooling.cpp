//===- Pooling.cpp - Pooling ----------------------------------------------===//

#include "Aten/Images.h"
#include "Common/Positions.h"
#include <limits>

using namespace glowish;
using namespace glowish::aten;

//===- Maxima -------------------------------------------------------------===//

/// The elements of images with their positions in these, which are the same in
/// all.
static IndexedMaxima getIndexed(AtenOp &op, const AtenImages &images) {
  NodeValue value = images.getValue();
  Dims shape(value.getShape()), strides = getDenseStrides(shape);
  shape[0] = shape[1] = 1;
  return {value, makePositions(op, shape, strides)};
}

/// Sets result 1, the positions of the maxima of windows of \p elements; leaves
/// it out where rows have another length in each run, as few programs read it.
static llvm::Error setPositions(AtenOp &op, const AtenImages &images,
                                const IndexedMaxima &elements,
                                llvm::ArrayRef<Edge> edges) {
  if (images.hasOpenSides())
    return llvm::Error::success();
  GLOWISH_RETURN_IF_ERROR(checkUnrolled(edges));
  IndexedMaxima maxima = maxWindows(op, elements, edges, NaNPosition::Last);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  NodeValue positions =
      op.broadcast(maxima.positions, maxima.values.getShape());
  return op.setResult(images.restoreBatch(op, positions), 1);
}

/// Result 1, where the schema has one, is the position of each maximum in its
/// image.
template <unsigned NumSpatial> static llvm::Error importMaxPool(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(AtenImages images,
                           AtenImages::read(op, "self", NumSpatial));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Edge> edges, readEdges(op, images));
  bool wantsIndices = op.getSchema().results.size() > 1;
  if (NumSpatial == 3)
    GLOWISH_RETURN_IF_ERROR(checkUnrolled(edges));
  NodeValue value = images.getValue();
  if (wantsIndices)
    GLOWISH_RETURN_IF_ERROR(
        setPositions(op, images, getIndexed(op, images), edges));
  if (NumSpatial == 3)
    return op.setResult(images.restoreBatch(
        op, maxWindows(op, {value, {}}, edges, NaNPosition::Last).values));
  ImageWindow window = ImageWindow::along(edges);
  return op.setResult(images.fromNHWC(
      op, op.make<MaxPoolNode>(images.getNHWC(op), window.kernels,
                               window.strides, window.pads, window.dilations)));
}

static AtenOperators maxima(
    {{importMaxPool<1>,
      {"max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] "
       "padding=0, int[1] dilation=1, bool ceil_mode=False) -> Tensor"}},
     {importMaxPool<2>,
      {"max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] "
       "padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor",
       "max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] "
       "stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) "
       "-> (Tensor, Tensor)"}},
     {importMaxPool<3>,
      {"max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] "
       "padding=0, int[3] dilation=1, bool ceil_mode=False) -> Tensor",
       "max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] "
       "stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) "
       "-> (Tensor, Tensor)"}}},
    AtenOrder::Images);

//===- Means --------------------------------------------------------------===//

template <unsigned NumSpatial> static llvm::Error importAvgPool(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(AtenImages images,
                           AtenImages::read(op, "self", NumSpatial));
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("self"));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Edge> edges, readEdges(op, images));
  bool countPads = op.flag("count_include_pad");
  if (op.isStated("divisor_override")) {
    GLOWISH_RETURN_IF_ERROR(checkUnrolled(edges));
    NodeValue sums = sumWindows(op, images.getValue(), edges);
    return op.setResult(images.restoreBatch(
        op, op.div(sums, double(op.integer("divisor_override")))));
  }
  if (NumSpatial == 3) {
    GLOWISH_RETURN_IF_ERROR(checkUnrolled(edges));
    return op.setResult(images.restoreBatch(
        op, averageWindows(op, images.getValue(), edges, countPads)));
  }
  ImageWindow window = ImageWindow::along(edges);
  NodeValue pixels = images.getNHWC(op);
  int64_t bottom = edges.size() == 2 ? edges[0].beyond : 0;
  int64_t right = edges.back().beyond;
  if (countPads && (bottom || right)) {
    pixels = padCounted(op, pixels, window.pads, bottom, right);
    countPads = false;
  }
  return op.setResult(images.fromNHWC(
      op, op.make<AvgPoolNode>(pixels, window.kernels, window.strides,
                               window.pads, window.dilations, countPads)));
}

static AtenOperators averages(
    {{importAvgPool<1>,
      {"avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] "
       "padding=0, bool ceil_mode=False, bool count_include_pad=True) -> "
       "Tensor"}},
     {importAvgPool<2>,
      {"avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] "
       "padding=0, bool ceil_mode=False, bool count_include_pad=True, int? "
       "divisor_override=None) -> Tensor"}},
     {importAvgPool<3>,
      {"avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] "
       "padding=0, bool ceil_mode=False, bool count_include_pad=True, int? "
       "divisor_override=None) -> Tensor"}}},
    AtenOrder::Images);

//===- To stated extents --------------------------------------------------===//

/// Elements that window \p index of \p to over \p from covers.
static std::pair<int64_t, int64_t> getCovered(int64_t index, int64_t from,
                                              int64_t to) {
  return {index * from / to, ((index + 1) * from + to - 1) / to};
}

/// The extents of the result; None is that of the image.
static llvm::Expected<std::vector<int64_t>> readOutputSize(AtenOp &op,
                                                           DimsRef spatial) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> sizes,
                           op.integers("output_size", spatial.size()));
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] < 1 || sizes[d] > maxWindowValue || spatial[d] < 1)
      return op.refuse("output_size", "extents of at least 1");
  return sizes;
}

static llvm::Error refuseUnrolled(AtenOp &op) {
  return op.refuse("output_size", "divisors of the extents, or at most " +
                                      std::to_string(maxUnrolledKernel));
}

/// Refuses windows that depend on an extent which a run decides.
static llvm::Error checkAdaptive(AtenOp &op, llvm::ArrayRef<int64_t> sizes) {
  const Type &type = op.tensor("self").getType();
  for (auto [i, size] : llvm::enumerate(sizes))
    if (size != 1 && type.getExtent(type.getRank() - sizes.size() + i))
      return op.refuse("self", "extents that are known when the model is "
                               "compiled, or an output_size of 1");
  return llvm::Error::success();
}

/// One dimension after the other: a matmul by what each window takes.
static NodeValue averageAlong(AtenOp &op, NodeValue value, int64_t axis,
                              int64_t to) {
  if (!value || value.getShape()[axis] == to)
    return value;
  int64_t from = value.getShape()[axis];
  NodeValue weights =
      op.table(value.getElemKind(), {from, to}, [&](DimsRef index) {
        auto [low, high] = getCovered(index[1], from, to);
        return index[0] >= low && index[0] < high ? 1 / double(high - low) : 0;
      });
  int64_t last = int64_t(value.getShape().size()) - 1;
  return op.swapDims(op.matMul(op.swapDims(value, axis, last), weights), axis,
                     last);
}

static NodeValue maximumAlong(AtenOp &op, NodeValue value, int64_t axis,
                              int64_t to) {
  if (!value || value.getShape()[axis] == to)
    return value;
  int64_t from = value.getShape()[axis];
  std::vector<NodeValue> parts;
  for (int64_t i = 0; i < to; ++i) {
    auto [low, high] = getCovered(i, from, to);
    parts.push_back(op.reduce(op.slice(value, axis, low, high - low), "max",
                              {axis}, /*keepDims=*/true));
  }
  return op.concat(parts, axis);
}

/// As setPositions(). Windows of several extents become those of the longest
/// one, by elements that are repeated.
static llvm::Error setAdaptivePositions(AtenOp &op, const AtenImages &images,
                                        llvm::ArrayRef<int64_t> sizes) {
  IndexedMaxima elements = getIndexed(op, images);
  std::vector<Edge> edges;
  for (auto [d, from, to] : llvm::enumerate(images.getSpatial(), sizes)) {
    if (from % to == 0) {
      edges.push_back(
          {.extent = from, .kernel = from / to, .stride = from / to});
      continue;
    }
    if (to > maxUnrolledKernel)
      return refuseUnrolled(op);
    int64_t longest = 0;
    for (int64_t i = 0; i < to; ++i) {
      auto [low, high] = getCovered(i, from, to);
      longest = std::max(longest, high - low);
    }
    std::vector<int64_t> covered;
    for (int64_t i = 0; i < to; ++i) {
      auto [low, high] = getCovered(i, from, to);
      for (int64_t k = 0; k < longest; ++k)
        covered.push_back(std::min(low + k, high - 1));
    }
    int64_t axis = int64_t(d) + 2, extent = int64_t(covered.size());
    elements.values = op.gather(elements.values, op.int64s(covered), axis);
    elements.positions =
        op.gather(elements.positions, op.int64s(covered), axis);
    edges.push_back({.extent = extent, .kernel = longest, .stride = longest});
  }
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  // Few programs read the positions: none is refused for them alone.
  if (llvm::Error error = checkUnrolled(edges)) {
    llvm::consumeError(std::move(error));
    return llvm::Error::success();
  }
  return setPositions(op, images, elements, edges);
}

/// A pooling whose windows all have one extent, if there is one.
template <typename Pool>
static llvm::Error setAdaptive(AtenOp &op, const AtenImages &images,
                               llvm::ArrayRef<int64_t> sizes, Pool pool) {
  DimsRef spatial = images.getSpatial();
  std::vector<Edge> edges;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (spatial[d] % sizes[d] == 0)
      edges.push_back({.extent = spatial[d],
                       .kernel = spatial[d] / sizes[d],
                       .stride = spatial[d] / sizes[d]});
  if (edges.size() == sizes.size() && sizes.size() < 3)
    return op.setResult(images.fromNHWC(
        op, pool(images.getNHWC(op), ImageWindow::along(edges))));
  for (int64_t size : sizes)
    if (Pool::unrollsResult && size > maxUnrolledKernel)
      return refuseUnrolled(op);
  NodeValue value = images.getValue();
  for (size_t d = 0; d < sizes.size(); ++d)
    value = pool(value, int64_t(d) + 2, sizes[d]);
  return op.setResult(images.restoreBatch(op, value));
}

namespace {

struct AveragePool {
  static constexpr bool unrollsResult = false;
  AtenOp &op;
  bool isGlobal;
  NodeValue operator()(NodeValue pixels, const ImageWindow &window) const {
    if (isGlobal)
      return op.make<GlobalAvgPoolNode>(pixels);
    return op.make<AvgPoolNode>(pixels, window.kernels, window.strides,
                                window.pads, window.dilations,
                                /*countIncludePads=*/false);
  }
  NodeValue operator()(NodeValue value, int64_t axis, int64_t to) const {
    return averageAlong(op, value, axis, to);
  }
};

struct MaximumPool {
  /// Each element along a dimension becomes a node.
  static constexpr bool unrollsResult = true;
  AtenOp &op;
  NodeValue operator()(NodeValue pixels, const ImageWindow &window) const {
    return op.make<MaxPoolNode>(pixels, window.kernels, window.strides,
                                window.pads, window.dilations);
  }
  NodeValue operator()(NodeValue value, int64_t axis, int64_t to) const {
    return maximumAlong(op, value, axis, to);
  }
};

} // namespace

template <unsigned NumSpatial>
static llvm::Error importAdaptiveAvgPool(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(AtenImages images,
                           AtenImages::read(op, "self", NumSpatial));
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("self"));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> sizes,
                           readOutputSize(op, images.getSpatial()));
  GLOWISH_RETURN_IF_ERROR(checkAdaptive(op, sizes));
  bool isGlobal =
      llvm::all_of(sizes, [](int64_t extent) { return extent == 1; });
  return setAdaptive(op, images, sizes, AveragePool{op, isGlobal});
}

template <unsigned NumSpatial>
static llvm::Error importAdaptiveMaxPool(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(AtenImages images,
                           AtenImages::read(op, "self", NumSpatial));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> sizes,
                           readOutputSize(op, images.getSpatial()));
  GLOWISH_RETURN_IF_ERROR(checkAdaptive(op, sizes));
  GLOWISH_RETURN_IF_ERROR(setAdaptivePositions(op, images, sizes));
  return setAdaptive(op, images, sizes, MaximumPool{op});
}

static AtenOperators adaptive(
    {{importAdaptiveAvgPool<1>,
      {"adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor"}},
     {importAdaptiveAvgPool<2>,
      {"adaptive_avg_pool2d(Tensor self, int[2] output_size) -> Tensor",
       "_adaptive_avg_pool2d(Tensor self, int[2] output_size) -> Tensor"}},
     {importAdaptiveAvgPool<3>,
      {"adaptive_avg_pool3d(Tensor self, int[3] output_size) -> Tensor",
       "_adaptive_avg_pool3d(Tensor self, int[3] output_size) -> Tensor"}},
     {importAdaptiveMaxPool<1>,
      {"adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, "
       "Tensor)"}},
     {importAdaptiveMaxPool<2>,
      {"adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, "
       "Tensor)"}}},
    AtenOrder::Images);
