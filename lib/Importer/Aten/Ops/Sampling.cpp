//===- Sampling.cpp - Windows as columns, sampled images, distances -------===//

#include "Aten/Images.h"
#include "Common/GridSampling.h"
#include "Common/Positions.h"
#include <cmath>

using namespace glowish;

//===- Grids --------------------------------------------------------------===//

static llvm::Error importGridSampler(AtenOp &op) {
  NodeValue images = op.tensor("input"), grid = op.tensor("grid");
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("input"));
  DimsRef shape = images.getShape(), points = grid.getShape();
  if (shape.size() < 4 || points.size() != shape.size() ||
      points.back() != int64_t(shape.size()) - 2 || points[0] != shape[0])
    return op.refuse("grid", "points [N, ..., dimensions] of images [N, C, "
                             "...]");
  static constexpr llvm::StringLiteral modes[] = {"linear", "nearest", "cubic"};
  static constexpr llvm::StringLiteral paddings[] = {"zeros", "border",
                                                     "reflection"};
  int64_t mode = op.integer("interpolation_mode"),
          padding = op.integer("padding_mode");
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2)
    return op.refuse("interpolation_mode", "0 to 2, and so of padding_mode");
  return op.setResult(sampleGrid(op, images, grid,
                                 {.mode = modes[mode].str(),
                                  .padding = paddings[padding].str(),
                                  .alignCorners = op.flag("align_corners")}));
}

static AtenOperators gridSamplerOp(
    importGridSampler,
    {"grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int "
     "padding_mode, bool align_corners) -> Tensor",
     "grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int "
     "padding_mode, bool align_corners) -> Tensor",
     "grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int "
     "padding_mode, bool align_corners) -> Tensor"});

//===- Columns ------------------------------------------------------------===//

namespace {

/// The windows over images of extents [height, width].
struct Columns {
  std::vector<Edge> edges;
  int64_t getKernel() const { return edges[0].kernel * edges[1].kernel; }
  int64_t getCount() const { return edges[0].getCount() * edges[1].getCount(); }
};

} // namespace

static llvm::Expected<Columns> readColumns(AtenOp &op, DimsRef spatial) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> kernels,
                           op.integers("kernel_size", 2));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> dilations,
                           op.integers("dilation", 2));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> pads,
                           op.integers("padding", 2));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> strides,
                           op.integers("stride", 2));
  Columns columns;
  for (unsigned d = 0; d < 2; ++d) {
    for (int64_t value : {kernels[d], strides[d], dilations[d], pads[d] + 1})
      if (value < 1 || value > maxWindowNumber)
        return op.refuse("kernel_size", "windows of at least 1");
    columns.edges.push_back({.extent = spatial[d],
                             .kernel = kernels[d],
                             .stride = strides[d],
                             .dilation = dilations[d],
                             .before = pads[d],
                             .after = pads[d]});
    if (columns.edges.back().getCount() < 1)
      return op.refuse("kernel_size", "windows that fit into the images");
  }
  return columns;
}

/// For each element of each window [KH * KW, windows] its position in the
/// padded image.
static NodeValue getPositions(AtenOp &op, const Columns &columns) {
  const Edge &vertical = columns.edges[0], &horizontal = columns.edges[1];
  int64_t width = horizontal.extent + 2 * horizontal.before;
  return op.table(ElemKind::Int64, {columns.getKernel(), columns.getCount()},
                  [&](DimsRef index) {
                    int64_t ky = index[0] / horizontal.kernel,
                            kx = index[0] % horizontal.kernel;
                    int64_t y = index[1] / horizontal.getCount(),
                            x = index[1] % horizontal.getCount();
                    return double(
                        (y * vertical.stride + ky * vertical.dilation) * width +
                        x * horizontal.stride + kx * horizontal.dilation);
                  });
}

/// [N, C, H, W] to [N, C * KH * KW, windows].
static llvm::Error importToColumns(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(AtenImages images, AtenImages::read(op, "self", 2));
  GLOWISH_ASSIGN_OR_RETURN(Columns columns,
                           readColumns(op, images.getSpatial()));
  int64_t top = columns.edges[0].before, left = columns.edges[1].before;
  NodeValue x =
      op.pad(images.getValue(), {0, 0, top, left, 0, 0, top, left}, 0);
  if (!x)
    return op.setResult(x);
  DimsRef shape = x.getShape();
  int64_t batch = shape[0], channels = shape[1];
  x = op.reshape(x, {batch, channels, shape[2] * shape[3]});
  NodeValue windows = op.gather(x, getPositions(op, columns), 2);
  NodeValue result = op.reshape(
      windows, {batch, channels * columns.getKernel(), columns.getCount()});
  return op.setResult(images.restoreBatch(op, result));
}

/// The inverse, where elements of several windows are added.
static llvm::Error importFromColumns(AtenOp &op) {
  NodeValue x = op.tensor("self");
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> size,
                           op.integers("output_size", 2));
  for (int64_t extent : size)
    if (extent < 1 || extent > maxWindowNumber)
      return op.refuse("output_size", "extents of at least 1");
  GLOWISH_ASSIGN_OR_RETURN(Columns columns, readColumns(op, size));
  bool hasBatch = x.getShape().size() == 3;
  if (!hasBatch)
    x = op.unsqueeze(x, 0);
  int64_t kernel = columns.getKernel();
  if (!x || x.getShape().size() != 3 || x.getShape()[1] % kernel ||
      x.getShape()[2] != columns.getCount())
    return op.refuse("self", "[N, channels * kernel, windows]");
  int64_t batch = x.getShape()[0], channels = x.getShape()[1] / kernel;
  int64_t top = columns.edges[0].before, left = columns.edges[1].before;
  int64_t height = size[0] + 2 * top, width = size[1] + 2 * left;
  // A row of the scattered matrix is a pixel of all images.
  NodeValue updates = op.transpose(
      op.reshape(x, {batch * channels, kernel * columns.getCount()}), {1, 0});
  NodeValue sums = scatterRows(
      op, op.splat(x.getElemKind(), {height * width, batch * channels}, 0),
      getPositions(op, columns), updates, {height * width, batch * channels},
      "add");
  NodeValue images =
      op.reshape(op.transpose(sums, {1, 0}), {batch, channels, height, width});
  images = op.pad(images, {0, 0, -top, -left, 0, 0, -top, -left}, 0);
  if (!hasBatch && images)
    images = op.reshape(images, images.getShape().drop_front());
  return op.setResult(images);
}

static AtenOperators
    toColumnsOp(importToColumns,
                {"im2col(Tensor self, int[2] kernel_size, int[2] dilation, "
                 "int[2] padding, int[2] stride) -> Tensor"});
static AtenOperators
    fromColumnsOp(importFromColumns,
                  {"col2im(Tensor self, int[2] output_size, int[2] "
                   "kernel_size, int[2] dilation, int[2] padding, int[2] "
                   "stride) -> Tensor"});

//===- Elements by strides ------------------------------------------------===//

/// Of a tensor whose elements are in row-major order.
static llvm::Error importAsStrided(AtenOp &op) {
  NodeValue x = op.tensor("self");
  std::vector<int64_t> size = op.integers("size"),
                       strides = op.integers("stride");
  int64_t offset =
      op.isNone("storage_offset") ? 0 : op.integer("storage_offset");
  int64_t last = offset;
  if (size.size() != strides.size() || offset < 0)
    return op.refuse("stride", "one number for each extent");
  for (auto [extent, stride] : llvm::zip_equal(size, strides)) {
    int64_t reach;
    if (extent < 1 || stride < 0 ||
        __builtin_mul_overflow(extent - 1, stride, &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return op.refuse("size", "extents of at least 1, and strides of at least "
                               "0");
  }
  if (last >= x.getType().getNumElements())
    return op.refuse("size", "elements of 'self'");
  if (DimsRef(strides) == DimsRef(getDenseStrides(size)) && offset == 0 &&
      countElements(size) == x.getType().getNumElements())
    return op.setResult(op.reshape(x, size));
  NodeValue positions = makePositions(op, size, strides);
  if (offset)
    positions = op.add(positions, double(offset));
  return op.setResult(gatherPositions(op, x, positions));
}

static AtenOperators
    asStridedOp(importAsStrided,
                {"as_strided(Tensor(a) self, int[] size, int[] stride, int? "
                 "storage_offset=None) -> Tensor(a)"});

//===- Distances ----------------------------------------------------------===//

/// The p-norms of the differences of all rows of two matrices.
static llvm::Error importCdist(AtenOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("x1"));
  int64_t rank = op.getRank("x1");
  double p = op.number("p", 2);
  if (rank < 2 || op.getRank("x2") < 2 || !(p > 0))
    return op.refuse("x1", "matrices, and a power above 0");
  NodeValue x = op.unsqueeze(op.tensor("x1"), rank - 1);
  NodeValue y = op.unsqueeze(op.tensor("x2"), op.getRank("x2") - 2);
  NodeValue difference = op.unary<AbsNode>(op.sub(x, y));
  if (!difference)
    return op.setResult(difference);
  int64_t last = int64_t(difference.getShape().size()) - 1;
  auto reduce = [&](NodeValue value, llvm::StringRef mode) {
    return op.reduce(value, mode, {last}, /*keepDims=*/false);
  };
  if (std::isinf(p))
    return op.setResult(reduce(difference, "max"));
  if (p == 1)
    return op.setResult(reduce(difference, "sum"));
  if (p == 2)
    return op.setResult(
        op.unary<SqrtNode>(reduce(op.mul(difference, difference), "sum")));
  return op.setResult(op.pow(reduce(op.pow(difference, p), "sum"), 1 / p));
}

static AtenOperators
    cdistOp(importCdist, {"cdist(Tensor x1, Tensor x2, float p=2, int? "
                          "compute_mode=None) -> Tensor",
                          "_cdist_forward(Tensor x1, Tensor x2, float p, int? "
                          "compute_mode) -> Tensor"});

//===- Bags ---------------------------------------------------------------===//

/// Sums, means or maxima of rows of a table, for bags that known offsets begin;
/// a matrix of indices has a bag in each row. Other results are those of
/// training.
static llvm::Error importEmbeddingBag(AtenOp &op) {
  NodeValue table = op.tensor("weight"), indices = op.tensor("indices");
  auto *offsets = op.tensor("offsets").getNodeAs<Constant>();
  if (!offsets)
    return op.refuse("offsets", "a list that is known when the model is "
                                "compiled");
  int64_t mode = op.integer("mode");
  if (mode < 0 || mode > 2 || !op.isNone("per_sample_weights"))
    return op.refuse("mode", "0 to 2, without weights of samples");
  static constexpr llvm::StringLiteral modes[] = {"sum", "mean", "max"};
  int64_t count = indices.getType().getNumElements();
  NodeValue rows = op.gather(
      table, op.cast(op.reshape(indices, {count}), ElemKind::Int64), 0);
  const Tensor &starts = offsets->getTensor();
  int64_t bags =
      starts.getNumElements() - (op.flag("include_last_offset") ? 1 : 0);
  std::vector<NodeValue> parts;
  for (int64_t i = 0; i < bags; ++i) {
    int64_t start = starts.getAsInt(i);
    int64_t end =
        i + 1 < starts.getNumElements() ? starts.getAsInt(i + 1) : count;
    if (start < 0 || end <= start || end > count)
      return op.refuse("offsets", "ascending, of bags that are not empty");
    parts.push_back(op.reduce(op.slice(rows, 0, start, end - start),
                              modes[mode], {0}, /*keepDims=*/true));
  }
  if (parts.empty())
    return op.refuse("offsets", "at least one bag");
  return op.setResult(op.concat(parts, 0));
}

static AtenOperators embeddingBagOp(
    importEmbeddingBag,
    {"_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool "
     "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? "
     "per_sample_weights=None, bool include_last_offset=False, int "
     "padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
     "_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor "
     "offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, "
     "Tensor? per_sample_weights=None, bool include_last_offset=False, int "
     "padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
     "embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool "
     "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? "
     "per_sample_weights=None, bool include_last_offset=False) -> (Tensor, "
     "Tensor, Tensor, Tensor)",
     "embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, "
     "bool scale_grad_by_freq, int mode, bool sparse, Tensor? "
     "per_sample_weights, bool include_last_offset, int? padding_idx) -> "
     "(Tensor, Tensor, Tensor, Tensor)"});
