//===- Indexing.cpp - Gather, scatter and advanced indexing ---------------===//

#include "Aten/AtenOp.h"
#include "Common/ElementWise.h"
#include "Common/Positions.h"

using namespace glowish;
using namespace glowish::aten;

/// \p indices as int64; an error unless they are integers.
static llvm::Expected<NodeValue> readIndices(AtenOp &op,
                                             llvm::StringRef argument) {
  NodeValue indices = op.tensor(argument);
  if (!isIntegerKind(indices.getElemKind()))
    return op.refuse(argument, "integers");
  return op.cast(indices, ElemKind::Int64);
}

//===- Rows ---------------------------------------------------------------===//

static llvm::Error importEmbedding(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue indices, readIndices(op, "indices"));
  if (op.getRank("weight") != 2)
    return op.refuse("weight", "rank 2");
  return op.setResult(op.gather(op.tensor("weight"), indices, 0));
}

static llvm::Error importIndexSelect(AtenOp &op) {
  NodeValue x = op.tensor("self");
  GLOWISH_ASSIGN_OR_RETURN(NodeValue indices, readIndices(op, "index"));
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.axis("dim", op.getRank("self")));
  if (indices.getShape().size() > 1)
    return op.refuse("index", "rank 1");
  if (x.getShape().empty())
    return op.setResult(x);
  indices = op.reshape(indices, {indices.getType().getNumElements()});
  return op.setResult(op.gather(x, indices, axis));
}

static AtenOperators embedding(
    {{importEmbedding,
      {"embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool "
       "scale_grad_by_freq=False, bool sparse=False) -> Tensor"}}},
    AtenOrder::RowMajor);
static AtenOperators selection(
    {{importIndexSelect,
      {"index_select(Tensor self, int dim, Tensor index) -> Tensor"}}});

//===- Elements along a dimension -----------------------------------------===//

namespace {

/// Arguments of gather() and of the kinds of scatter().
struct ElementIndices {
  /// `self` and `index`, at least of rank 1.
  NodeValue x, indices;
  int64_t axis;
};

} // namespace

static llvm::Expected<ElementIndices> readElements(AtenOp &op) {
  ElementIndices elements{op.tensor("self"), {}, 0};
  GLOWISH_ASSIGN_OR_RETURN(elements.indices, readIndices(op, "index"));
  GLOWISH_ASSIGN_OR_RETURN(elements.axis, op.axis("dim", op.getRank("self")));
  DimsRef shape = elements.x.getShape(), picked = elements.indices.getShape();
  bool fits = shape.size() == picked.size() ||
              (shape.size() <= 1 && picked.size() <= 1);
  for (size_t d = 0; fits && d < shape.size() && d < picked.size(); ++d)
    fits = int64_t(d) == elements.axis || picked[d] <= shape[d];
  if (!fits)
    return op.refuse("index", "the rank of 'self', and extents not above its "
                              "own but for 'dim'");
  if (shape.empty())
    elements.x = op.reshape(elements.x, {1});
  if (picked.empty())
    elements.indices = op.reshape(elements.indices, {1});
  return elements;
}

static llvm::Error importGather(AtenOp &op) {
  Dims shape(op.getShape("index"));
  GLOWISH_ASSIGN_OR_RETURN(ElementIndices elements, readElements(op));
  return op.setResult(op.reshape(
      gatherElements(op, elements.x, elements.indices, elements.axis), shape));
}

/// Without a dimension, of all elements in a row.
static llvm::Error importTakeAlongDim(AtenOp &op) {
  NodeValue x = op.tensor("self"), indices = op.tensor("indices");
  if (op.isNone("dim")) {
    NodeValue rows = op.reshape(x, {x.getType().getNumElements()});
    NodeValue flat = op.reshape(indices, {indices.getType().getNumElements()});
    return op.setResult(op.gather(rows, op.cast(flat, ElemKind::Int64), 0));
  }
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.axis("dim", op.getRank("self")));
  if (op.getRank("indices") != op.getRank("self") || op.getRank("self") == 0)
    return op.refuse("indices", "the rank of 'self'");
  // Both broadcast but for the dimension.
  Dims own(x.getShape()), picked(indices.getShape());
  for (size_t d = 0; d < own.size(); ++d)
    if (int64_t(d) != axis)
      own[d] = picked[d] = std::max(own[d], picked[d]);
  return op.setResult(gatherElements(op, op.broadcast(x, own),
                                     op.broadcast(indices, picked), axis));
}

/// Scatters; of bools, addition is "or" and multiplication "and".
static NodeValue scatterAny(AtenOp &op, NodeValue data, NodeValue rows,
                            NodeValue updates, ScatteredRows matrix,
                            llvm::StringRef mode) {
  if (!data || data.getElemKind() != ElemKind::Bool || mode == "replace")
    return scatterRows(op, data, rows, updates, matrix, mode);
  NodeValue result = scatterRows(op, op.cast(data, ElemKind::UInt8), rows,
                                 op.cast(updates, ElemKind::UInt8), matrix,
                                 mode == "add"   ? "max"
                                 : mode == "mul" ? "min"
                                                 : mode);
  return op.cast(result, ElemKind::Bool);
}

namespace {

/// Elements of `self` and what is written to them.
struct ScatteredElements {
  NodeValue x, rows, updates;

  NodeValue combine(AtenOp &op, NodeValue data, NodeValue values,
                    llvm::StringRef mode) const {
    if (!data)
      return data;
    return scatterAny(op, data, rows, values,
                      {data.getType().getNumElements(), 1}, mode);
  }
};

} // namespace

/// \p updates have the indices' extents or more.
static llvm::Expected<ScatteredElements> readScattered(AtenOp &op,
                                                       NodeValue updates) {
  GLOWISH_ASSIGN_OR_RETURN(ElementIndices elements, readElements(op));
  auto [x, indices, axis] = elements;
  if (!x || !indices || !updates)
    return op.takeError();
  DimsRef picked = indices.getShape();
  if (updates.getShape().empty())
    updates = op.broadcast(updates, picked);
  if (updates && updates.getShape().size() != picked.size())
    return op.refuse("index", "the rank of 'src'");
  for (size_t d = 0; updates && d < picked.size(); ++d)
    updates = op.slice(updates, int64_t(d), 0, picked[d]);
  return ScatteredElements{
      x, getElementPositions(op, x.getType(), indices, axis), updates};
}

static llvm::Error setScattered(AtenOp &op, NodeValue updates,
                                llvm::StringRef mode) {
  Dims shape(op.getShape("self"));
  GLOWISH_ASSIGN_OR_RETURN(ScatteredElements all, readScattered(op, updates));
  NodeValue result = all.combine(op, all.x, all.updates, mode);
  return op.setResult(op.reshape(result, shape));
}

static llvm::Error importScatter(AtenOp &op) {
  ElemKind kind = op.tensor("self").getElemKind();
  llvm::StringRef name = op.has("src") ? "src" : "value";
  std::string mode = "replace";
  if (op.has("reduce")) {
    mode = op.text("reduce");
    if (mode == "multiply")
      mode = "mul";
    if (mode != "add" && mode != "mul")
      return op.refuse("reduce", "'add' and 'multiply'");
  }
  return setScattered(op, op.operand(name, kind), mode);
}

static llvm::Error importScatterAdd(AtenOp &op) {
  return setScattered(op, op.tensor("src"), "add");
}

static llvm::Error importScatterReduce(AtenOp &op) {
  std::string reduction = op.text("reduce");
  llvm::StringRef mode = reduction == "sum" || reduction == "mean" ? "add"
                         : reduction == "prod"                     ? "mul"
                         : reduction == "amax"                     ? "max"
                         : reduction == "amin"                     ? "min"
                                                                   : "";
  if (mode.empty())
    return op.refuse("reduce", "sum, prod, mean, amax and amin");
  Dims shape(op.getShape("self"));
  GLOWISH_ASSIGN_OR_RETURN(ScatteredElements all,
                           readScattered(op, op.tensor("src")));
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  bool includesSelf = op.flag("include_self");
  NodeValue x = all.x;
  ElemKind kind = x.getElemKind();
  auto splat = [&](NodeValue like, double value) {
    return op.splat(kind, like.getShape(), value);
  };
  // What is written to starts without itself: at 0, at 1, or at an update.
  if (!includesSelf)
    x = all.combine(op, x,
                    mode == "add"   ? splat(all.updates, 0)
                    : mode == "mul" ? splat(all.updates, 1)
                                    : all.updates,
                    "replace");
  NodeValue result = all.combine(op, x, all.updates, mode);
  if (reduction == "mean") {
    NodeValue count = all.combine(op, splat(x, includesSelf ? 1 : 0),
                                  splat(all.updates, 1), "add");
    count = op.select(op.equal(count, 0), op.number(count, 1), count);
    result = isFloatKind(kind) ? op.div(result, count)
                               : divideDown(op, result, count);
  }
  return op.setResult(op.reshape(result, shape));
}

static AtenOperators elements(
    {{importGather,
      {"gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) "
       "-> Tensor"}},
     {importTakeAlongDim,
      {"take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor"}},
     {importScatter,
      {"scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
       "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> "
       "Tensor",
       "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str "
       "reduce) -> Tensor",
       "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, "
       "*, str reduce) -> Tensor"}},
     {importScatterAdd,
      {"scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> "
       "Tensor"}},
     {importScatterReduce,
      {"scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str "
       "reduce, *, bool include_self=True) -> Tensor"}}});

//===- Rows by index ------------------------------------------------------===//

/// Combines the rows of `source` with those at `index` along `dim`.
static llvm::Error setIndexed(AtenOp &op, NodeValue source,
                              llvm::StringRef mode) {
  NodeValue x = op.tensor("self");
  Dims result(x.getShape());
  GLOWISH_ASSIGN_OR_RETURN(NodeValue indices, readIndices(op, "index"));
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.axis("dim", op.getRank("self")));
  if (result.empty())
    x = op.reshape(x, {1});
  int64_t count = indices.getType().getNumElements();
  Dims part(x.getShape());
  part[axis] = count;
  source = op.swapDims(op.broadcast(source, part), 0, axis);
  x = op.swapDims(x, 0, axis);
  if (!x)
    return op.setResult(x);
  DimsRef shape = x.getShape();
  ScatteredRows rows{shape[0], countElements(shape.drop_front())};
  x = scatterAny(op, x, wrapIndices(op, indices, x.getType(), 0), source, rows,
                 mode);
  return op.setResult(op.reshape(op.swapDims(x, 0, axis), result));
}

static llvm::Error importIndexAdd(AtenOp &op) {
  NodeValue source = op.tensor("source");
  const AtenValue &alpha = op.get("alpha");
  NodeValue factor = op.operand("alpha", source.getElemKind());
  if (source.getElemKind() == ElemKind::Bool)
    source = op.logicalAnd(source, factor);
  else if (!alpha.isNumber() || alpha.getNumber() != 1)
    source = op.mul(source, factor);
  return setIndexed(op, source, "add");
}

static llvm::Error importIndexCopy(AtenOp &op) {
  return setIndexed(op, op.tensor("source"), "replace");
}

static llvm::Error importIndexFill(AtenOp &op) {
  return setIndexed(op, op.operand("value", op.tensor("self").getElemKind()),
                    "replace");
}

static AtenOperators
    rows({{importIndexAdd,
           {"index_add(Tensor self, int dim, Tensor index, Tensor "
            "source, *, Scalar alpha=1) -> Tensor"}},
          {importIndexCopy,
           {"index_copy(Tensor self, int dim, Tensor index, Tensor "
            "source) -> Tensor"}},
          {importIndexFill,
           {"index_fill.int_Scalar(Tensor self, int dim, Tensor index, "
            "Scalar value) -> Tensor",
            "index_fill.int_Tensor(Tensor self, int dim, Tensor index, "
            "Tensor value) -> Tensor"}}});

//===- Advanced indexing --------------------------------------------------===//

namespace {

/// A tensor indexed by tensors in some of its dimensions, which broadcast:
/// their dimensions take the place of the first one that is indexed, or come
/// first if others are between them.
struct AdvancedIndex {
  /// `self` with the indexed dimensions first.
  NodeValue x;
  /// What `x` is a permutation of `self` by.
  std::vector<int64_t> order;
  /// One for each index tuple: the row of the matrix whose rows are the
  /// elements of the dimensions that are not indexed.
  NodeValue rows;
  Dims indexShape, rowShape;
  /// The position of the indices' dimensions in the result.
  int64_t place = 0;
};

} // namespace

/// Masks that are known become lists of indices.
static llvm::Error expandMasks(AtenOp &op, std::vector<NodeValue> &indices) {
  std::vector<NodeValue> expanded;
  for (NodeValue index : indices) {
    ElemKind kind = index ? index.getElemKind() : ElemKind::Int64;
    if (kind != ElemKind::Bool) {
      expanded.push_back(index);
      continue;
    }
    auto *constant = index.getNodeAs<Constant>();
    if (!constant)
      return makeError("argument 'indices' has a mask, {0}, that is computed "
                       "when the model runs, so that the result's extents "
                       "are not known; accepted: integers, or masks that are "
                       "known when the model is compiled",
                       index.getType().str());
    DimsRef shape = index.getShape();
    std::vector<std::vector<int64_t>> lists(shape.size());
    Dims strides = getDenseStrides(shape);
    for (int64_t i = 0; i < constant->getTensor().getNumElements(); ++i)
      if (constant->getTensor().getAsInt(i))
        for (size_t d = 0; d < shape.size(); ++d)
          lists[d].push_back(i / strides[d] % shape[d]);
    for (const std::vector<int64_t> &list : lists)
      expanded.push_back(op.int64s(list));
  }
  indices = std::move(expanded);
  return llvm::Error::success();
}

/// The shape that the shapes of \p indices broadcast to.
static llvm::Expected<Dims> getIndexShape(llvm::ArrayRef<NodeValue> indices) {
  llvm::SmallVector<DimsRef, 4> shapes;
  for (NodeValue index : indices)
    if (index)
      shapes.push_back(index.getShape());
  llvm::Expected<Dims> shape = broadcastShapes(shapes);
  if (!shape)
    return addContext(shape.takeError(), "argument 'indices': ");
  return shape;
}

static llvm::Expected<AdvancedIndex> readAdvancedIndex(AtenOp &op) {
  std::vector<NodeValue> indices = op.tensors("indices");
  GLOWISH_RETURN_IF_ERROR(expandMasks(op, indices));
  DimsRef shape = op.getShape("self");
  if (indices.size() > shape.size())
    return op.refuse("indices", "at most one for each dimension");
  AdvancedIndex result;
  GLOWISH_ASSIGN_OR_RETURN(result.indexShape, getIndexShape(indices));
  std::vector<int64_t> others;
  Dims extents;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (d < indices.size() && indices[d]) {
      if (!isIntegerKind(indices[d].getElemKind()))
        return op.refuse("indices", "integers and masks");
      result.order.push_back(int64_t(d));
      extents.push_back(shape[d]);
    } else {
      others.push_back(int64_t(d));
      result.rowShape.push_back(shape[d]);
    }
  }
  if (result.order.empty())
    return op.refuse("indices", "at least one");
  bool isTogether = result.order.back() - result.order.front() ==
                    int64_t(result.order.size()) - 1;
  result.place = isTogether ? result.order.front() : 0;
  Dims strides = getDenseStrides(extents);
  for (auto [i, d] : llvm::enumerate(result.order)) {
    NodeValue wrapped = wrapIndices(op, indices[size_t(d)],
                                    op.tensor("self").getType(), unsigned(d));
    NodeValue part = op.mul(wrapped, double(strides[i]));
    result.rows = result.rows ? op.add(result.rows, part) : part;
  }
  result.rows = op.broadcast(result.rows, result.indexShape);
  result.order.insert(result.order.end(), others.begin(), others.end());
  result.x = llvm::is_sorted(result.order)
                 ? op.tensor("self")
                 : op.transpose(op.tensor("self"), result.order);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  return result;
}

/// Moves the dimensions of the indices, the first ones of \p value, to their
/// place; \p isBack moves them to the front.
static NodeValue placeIndices(AtenOp &op, NodeValue value,
                              const AdvancedIndex &index, bool isBack) {
  int64_t count = int64_t(index.indexShape.size());
  if (index.place == 0 || !value)
    return value;
  std::vector<int64_t> order = getAllDims(value.getType().getRank());
  int64_t middle = isBack ? index.place : count;
  int64_t end = index.place + count;
  std::rotate(order.begin(), order.begin() + middle, order.begin() + end);
  return op.transpose(value, order);
}

static llvm::Error importIndex(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(AdvancedIndex index, readAdvancedIndex(op));
  unsigned numIndexed = index.x.getType().getRank() - index.rowShape.size();
  NodeValue result = gatherRows(op, index.x, index.rows, numIndexed);
  return op.setResult(placeIndices(op, result, index, /*isBack=*/false));
}

/// A mask that is computed selects element by element.
static llvm::Error putMasked(AtenOp &op, NodeValue mask) {
  NodeValue x = op.tensor("self");
  NodeValue values = op.cast(op.tensor("values"), x.getElemKind());
  if (values.getType().getNumElements() != 1)
    return op.refuse("values", "one number, where a mask is computed when the "
                               "model runs");
  Dims shape(mask.getShape());
  while (shape.size() < x.getShape().size())
    shape.push_back(1);
  mask = op.reshape(mask, shape);
  values = op.reshape(values, {});
  if (op.flag("accumulate"))
    values = op.add(x, values);
  return op.setResult(op.select(mask, values, x));
}

static llvm::Error importIndexPut(AtenOp &op) {
  std::vector<NodeValue> indices = op.tensors("indices");
  if (indices.size() == 1 && indices[0] &&
      indices[0].getElemKind() == ElemKind::Bool &&
      !indices[0].getNodeAs<Constant>())
    return putMasked(op, indices[0]);
  GLOWISH_ASSIGN_OR_RETURN(AdvancedIndex index, readAdvancedIndex(op));
  Dims placed = index.rowShape;
  placed.insert(placed.begin() + index.place, index.indexShape.begin(),
                index.indexShape.end());
  NodeValue values =
      op.cast(op.tensor("values"), op.tensor("self").getElemKind());
  values = placeIndices(op, op.broadcast(values, placed), index,
                        /*isBack=*/true);
  ScatteredRows rows{
      countElements(index.x.getShape().drop_back(index.rowShape.size())),
      countElements(index.rowShape)};
  NodeValue result = scatterRows(op, index.x, index.rows, values, rows,
                                 op.flag("accumulate") ? "add" : "replace");
  std::vector<int64_t> inverse(index.order.size());
  for (auto [i, d] : llvm::enumerate(index.order))
    inverse[d] = int64_t(i);
  if (!llvm::is_sorted(index.order))
    result = op.transpose(result, inverse);
  return op.setResult(result);
}

static AtenOperators indexing(
    {{importIndex,
      {"index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
       "_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor"}}},
    AtenOrder::Unknown);
static AtenOperators
    replacement({{importIndexPut,
                  {"index_put(Tensor self, Tensor?[] indices, Tensor values, "
                   "bool accumulate=False) -> Tensor",
                   "_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor "
                   "values, bool accumulate=False) -> Tensor"}}});

//===- Others -------------------------------------------------------------===//

/// 1 at each index of a new last dimension, which must be stated.
static llvm::Error importOneHot(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, readIndices(op, "self"));
  int64_t classes = op.integer("num_classes");
  if (classes < 1)
    return op.refuse("num_classes", "1 and more");
  NodeValue isChosen = makeOneHot(op, x, op.getRank("self"), classes);
  return op.setResult(op.cast(isChosen, ElemKind::Int64));
}

/// The elements (i, i + offset) of two dimensions, as a new last one.
static llvm::Error importDiagonal(AtenOp &op) {
  NodeValue x = op.tensor("self");
  int64_t rank = op.getRank("self"), offset = op.integer("offset");
  GLOWISH_ASSIGN_OR_RETURN(int64_t first, op.axis("dim1", rank));
  GLOWISH_ASSIGN_OR_RETURN(int64_t second, op.axis("dim2", rank));
  if (rank < 2 || first == second)
    return op.refuse("self", "rank 2 and more, and different dimensions");
  DimsRef shape = x.getShape();
  // Farther off there are none, either.
  offset = std::clamp(offset, -shape[first], shape[second]);
  int64_t row = std::max<int64_t>(-offset, 0);
  int64_t column = std::max<int64_t>(offset, 0);
  int64_t count = std::min(shape[first] - row, shape[second] - column);
  Dims outer, strides = getDenseStrides(shape), ownStrides;
  for (int64_t d = 0; d < rank; ++d)
    if (d != first && d != second) {
      outer.push_back(shape[d]);
      ownStrides.push_back(strides[d]);
    }
  outer.push_back(count);
  ownStrides.push_back(strides[first] + strides[second]);
  NodeValue positions =
      op.add(makePositions(op, outer, ownStrides),
             double(row * strides[first] + column * strides[second]));
  return op.setResult(gatherPositions(op, x, positions));
}

/// Windows along a dimension, as a new last one.
static llvm::Error importUnfold(AtenOp &op) {
  NodeValue x = op.tensor("self");
  int64_t size = op.integer("size"), step = op.integer("step");
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis,
                           op.axis("dimension", op.getRank("self")));
  // A scalar is its only window.
  bool isScalar = x.getShape().empty();
  if (isScalar)
    x = op.reshape(x, {1});
  if (size < 0 || step < 1 || size > x.getShape()[axis])
    return op.refuse("size", "windows that fit into the dimension");
  int64_t count = (x.getShape()[axis] - size) / step + 1;
  NodeValue indices =
      op.table(ElemKind::Int64, {count, size}, [&](DimsRef index) {
        return double(index[0] * step + index[1]);
      });
  NodeValue windows = op.gather(x, indices, axis);
  if (isScalar)
    return op.setResult(op.reshape(op.slice(windows, 0, 0, 1), {size}));
  int64_t last = op.getRank("self");
  return op.setResult(
      op.transpose(windows, getMovedDims(last + 1, axis + 1, last)));
}

static AtenOperators oneHot(
    {{importOneHot, {"one_hot(Tensor self, int num_classes=-1) -> Tensor"}}},
    AtenOrder::RowMajor);
static AtenOperators views({{importDiagonal,
                             {"diagonal(Tensor(a) self, int offset=0, int "
                              "dim1=0, int dim2=1) -> Tensor(a)"}},
                            {importUnfold,
                             {"unfold(Tensor(a) self, int dimension, int "
                              "size, int step) -> Tensor(a)"}}});
