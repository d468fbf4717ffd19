//===- Sampling.cpp - Windows as columns, sampled images, distances -------===//

#include "Aten/Images.h"
#include "Aten/Layout.h"
#include "Common/GridSampling.h"
#include "Common/Positions.h"
#include "glowish/Base/CheckedInt.h"
#include <cmath>
#include <limits>

using namespace glowish;
using namespace glowish::aten;

//===- Grids --------------------------------------------------------------===//

static llvm::Error importGridSampler(AtenOp &op) {
  NodeValue images = op.tensor("input"), grid = op.tensor("grid");
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("input"));
  DimsRef shape = images.getShape(), points = grid.getShape();
  if (shape.size() < 4 || points.size() != shape.size() ||
      points.back() != int64_t(shape.size()) - 2 || points[0] != shape[0])
    return op.refuse("grid", "points [N, ..., dimensions] of images [N, C, "
                             "...]");
  for (unsigned d = 2; d < shape.size(); ++d)
    if (images.getType().getExtent(d))
      return op.refuse("input", "spatial extents that no run decides");
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
                                  .alignCorners = op.flag("align_corners"),
                                  .roundsFirst = false,
                                  .isNaNLast = shape.size() > 4}));
}

static AtenOperators gridSamplers(
    {{importGridSampler,
      {"grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int "
       "padding_mode, bool align_corners) -> Tensor",
       "grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int "
       "padding_mode, bool align_corners) -> Tensor",
       "grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int "
       "padding_mode, bool align_corners) -> Tensor"}}});

//===- Columns ------------------------------------------------------------===//

/// [N, C, H, W] to [N, C * KH * KW, windows].
static llvm::Error importToColumns(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(AtenImages images, AtenImages::read(op, "self", 2));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Edge> edges, readEdges(op, images));
  int64_t top = edges[0].before, left = edges[1].before;
  NodeValue x =
      op.pad(images.getValue(), {0, 0, top, left, 0, 0, top, left}, 0);
  NodeValue positions = makeWindowPositions(op, edges);
  if (!x || !positions)
    return op.setResult(x);
  DimsRef shape = x.getShape();
  int64_t batch = shape[0], channels = shape[1];
  x = op.reshape(x, {batch, channels, shape[2] * shape[3]});
  DimsRef taps = positions.getShape();
  NodeValue result = op.reshape(op.gather(x, positions, 2),
                                {batch, channels * taps[0], taps[1]});
  return op.setResult(images.restoreBatch(op, result));
}

/// The inverse, where elements of several windows are added.
static llvm::Error importFromColumns(AtenOp &op) {
  NodeValue x = op.tensor("self");
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> size,
                           op.integers("output_size", 2));
  for (int64_t extent : size)
    if (extent < 1 || extent > maxWindowValue)
      return op.refuse("output_size", "extents of at least 1");
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Edge> edges, readEdges(op, size));
  bool hasBatch = x.getShape().size() == 3;
  if (!hasBatch)
    x = op.unsqueeze(x, 0);
  CheckedInt windows = CheckedInt(edges[0].getCount()) * edges[1].getCount();
  if (!x || x.getShape().size() != 3 ||
      x.getShape()[1] % (edges[0].kernel * edges[1].kernel) ||
      x.getShape()[2] != windows.get())
    return op.refuse("self", "[N, channels * kernel, windows]");
  NodeValue images = addWindows(op, x, edges);
  if (!hasBatch && images)
    images = op.reshape(images, images.getShape().drop_front());
  return op.setResult(images);
}

static AtenOperators columns(
    {{importToColumns,
      {"im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] "
       "padding, int[2] stride) -> Tensor"}},
     {importFromColumns,
      {"col2im(Tensor self, int[2] output_size, int[2] kernel_size, int[2] "
       "dilation, int[2] padding, int[2] stride) -> Tensor"}}});

//===- Elements by strides ------------------------------------------------===//

/// Returns the elements of \p memory with these strides, which are all of it,
/// as they are in it but for the order of dimensions; null if they are not.
static NodeValue permuteMemory(AtenOp &op, NodeValue memory, DimsRef size,
                               DimsRef strides) {
  // One of each element that is repeated.
  Dims once(size);
  for (auto [extent, stride] : llvm::zip_equal(once, strides))
    if (stride == 0)
      extent = 1;
  auto order = findOrder(once, strides);
  if (!order || countElements(once) != memory.getType().getNumElements())
    return {};
  Dims shape;
  std::vector<int64_t> permutation(once.size());
  for (auto [i, dim] : llvm::enumerate(*order)) {
    shape.push_back(once[size_t(dim)]);
    permutation[size_t(dim)] = int64_t(i);
  }
  NodeValue result = op.transpose(op.reshape(memory, shape), permutation);
  return result && size != DimsRef(once) ? op.broadcast(result, size) : result;
}

/// Elements of `self`, which is all of the memory, in row-major order: an
/// importer that follows where tensors are replaces those that are not, and
/// states the offset (Layout.h).
static llvm::Error importAsStrided(AtenOp &op) {
  NodeValue x = op.tensor("self");
  std::vector<int64_t> size = op.integers("size"),
                       strides = op.integers("stride");
  bool hasOffset = op.isStated("storage_offset");
  int64_t offset = hasOffset ? op.integer("storage_offset") : 0;
  int64_t last = offset;
  if (size.size() != strides.size() || offset < 0)
    return op.refuse("stride", "one number for each extent");
  for (auto [extent, stride] : llvm::zip_equal(size, strides)) {
    int64_t reach;
    if (extent < 0 || stride < 0 ||
        __builtin_mul_overflow(std::max<int64_t>(extent - 1, 0), stride,
                               &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return op.refuse("size", "extents and strides of at least 0");
  }
  if (llvm::is_contained(size, 0))
    return op.setResult(op.splat(x.getElemKind(), size, 0));
  if (last >= x.getType().getNumElements())
    return op.refuse("size", "elements of 'self'");
  // With strides of 0 there may be more than elements.
  GLOWISH_RETURN_IF_ERROR(checkShape(x.getElemKind(), size));
  if (offset == 0)
    if (NodeValue permuted = permuteMemory(op, x, size, strides))
      return op.setResult(permuted);
  NodeValue positions = makePositions(op, size, strides);
  if (offset)
    positions = op.add(positions, double(offset));
  return op.setResult(gatherPositions(op, x, positions));
}

static AtenOperators
    byStrides({{importAsStrided,
                {"as_strided(Tensor(a) self, int[] size, int[] stride, int? "
                 "storage_offset=None) -> Tensor(a)",
                 "_reshape_alias(Tensor(a) self, int[] size, int[] stride) "
                 "-> Tensor(a)"}}});

//===- Distances ----------------------------------------------------------===//

/// The p-norms of the differences of all rows of two matrices.
static llvm::Error importCdist(AtenOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("x1"));
  int64_t rank = op.getRank("x1");
  double p = op.number("p", 2);
  if (rank < 2 || op.getRank("x2") < 2 || !(p >= 0))
    return op.refuse("x1", "matrices, and a power that is not negative");
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
  // How many differ.
  if (p == 0)
    difference = op.min(op.unary<CeilNode>(difference), 1);
  if (p <= 1 && p == std::floor(p))
    return op.setResult(reduce(difference, "sum"));
  if (p == 2)
    return op.setResult(
        op.unary<SqrtNode>(reduce(op.mul(difference, difference), "sum")));
  return op.setResult(op.pow(reduce(op.pow(difference, p), "sum"), 1 / p));
}

static AtenOperators
    distances({{importCdist,
                {"cdist(Tensor x1, Tensor x2, float p=2, int? "
                 "compute_mode=None) -> Tensor",
                 "_cdist_forward(Tensor x1, Tensor x2, float p, "
                 "int? compute_mode) -> Tensor"}}});

//===- Bags ---------------------------------------------------------------===//

namespace {

/// Rows of a table, of which a bag takes some.
struct BagRows {
  NodeValue rows;
  /// Whether each row counts, [rows, 1]; null if all do.
  NodeValue areCounted;

  /// Returns their sum, mean or maximum, 0 if none counts: [1, row].
  NodeValue reduce(AtenOp &op, llvm::StringRef mode, int64_t start,
                   int64_t count) const {
    if (!rows)
      return rows;
    ElemKind kind = rows.getElemKind();
    if (count == 0)
      return op.splat(kind, {1, rows.getShape()[1]}, 0);
    auto reduceRows = [&](NodeValue value, llvm::StringRef how) {
      return op.reduce(value, how, {0}, /*keepDims=*/true);
    };
    NodeValue own = op.slice(rows, 0, start, count);
    if (!areCounted)
      return reduceRows(own, mode);
    NodeValue isCounted = op.slice(areCounted, 0, start, count);
    NodeValue number = reduceRows(op.cast(isCounted, kind), "sum");
    constexpr double lowest = -std::numeric_limits<double>::infinity();
    NodeValue other = op.scalar(kind, mode == "max" ? lowest : 0);
    own = op.select(isCounted, own, other);
    if (mode == "mean")
      return op.div(reduceRows(own, "sum"), op.max(number, 1));
    return op.select(op.greater(number, 0), reduceRows(own, mode),
                     op.scalar(kind, 0));
  }
};

} // namespace

/// The rows at `indices`, times the weights of samples.
static llvm::Expected<BagRows> readBagRows(AtenOp &op, bool isSum) {
  NodeValue table = op.tensor("weight"), indices = op.tensor("indices");
  int64_t count = indices.getType().getNumElements();
  indices = op.cast(op.reshape(indices, {count}), ElemKind::Int64);
  BagRows bags{op.gather(table, indices, 0), {}};
  if (!op.isNone("per_sample_weights")) {
    NodeValue weights = op.tensor("per_sample_weights");
    if (!isSum || weights.getType().getNumElements() != count)
      return op.refuse("per_sample_weights",
                       "one for each index, with mode 0 (sum)");
    bags.rows = op.mul(bags.rows, op.cast(op.reshape(weights, {count, 1}),
                                          table.getElemKind()));
  }
  if (!op.isStated("padding_idx"))
    return bags;
  // Of the overload of this name -1 is the last row, of others none.
  int64_t padding = op.integer("padding_idx");
  if (padding < 0 && op.getSchema().overload == "padding_idx")
    padding += table.getShape()[0];
  if (padding >= 0)
    bags.areCounted =
        op.unsqueeze(op.unary<NotNode>(op.equal(indices, double(padding))), 1);
  return bags;
}

/// Sums, means or maxima of rows of a table, for bags that known offsets begin;
/// a matrix of indices has a bag in each row. Other results are those of
/// training.
static llvm::Error importEmbeddingBag(AtenOp &op) {
  auto *offsets = op.tensor("offsets").getNodeAs<Constant>();
  if (!offsets)
    return op.refuse("offsets", "a list that is known when the model is "
                                "compiled");
  static constexpr llvm::StringLiteral modes[] = {"sum", "mean", "max"};
  int64_t mode = op.integer("mode");
  if (mode < 0 || mode > 2)
    return op.refuse("mode", "0 to 2");
  GLOWISH_ASSIGN_OR_RETURN(BagRows rows, readBagRows(op, mode == 0));
  int64_t count = op.tensor("indices").getType().getNumElements();
  const Tensor &starts = offsets->getTensor();
  int64_t bags =
      starts.getNumElements() - (op.flag("include_last_offset") ? 1 : 0);
  std::vector<NodeValue> parts;
  for (int64_t i = 0; i < bags; ++i) {
    int64_t start = starts.getAsInt(i);
    int64_t end =
        i + 1 < starts.getNumElements() ? starts.getAsInt(i + 1) : count;
    if (start < 0 || end < start || end > count)
      return op.refuse("offsets", "ascending, of indices that there are");
    parts.push_back(rows.reduce(op, modes[mode], start, end - start));
  }
  if (parts.empty())
    return op.refuse("offsets", "at least one bag");
  return op.setResult(op.concat(parts, 0));
}

static AtenOperators embeddingBags(
    {{importEmbeddingBag,
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
       "embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor "
       "offsets, bool scale_grad_by_freq, int mode, bool sparse, Tensor? "
       "per_sample_weights, bool include_last_offset, int? padding_idx) -> "
       "(Tensor, Tensor, Tensor, Tensor)"}}});
