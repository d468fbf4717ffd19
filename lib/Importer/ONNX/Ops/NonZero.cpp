//===- NonZero.cpp - NonZero and Compress ---------------------------------===//

#include "ONNX/Ops/NonZero.h"
#include "ONNX/Ops/DynamicReshape.h"
#include "ONNX/Ops/Indexing.h"

using namespace glowish;
using namespace glowish::onnximport;

//===- Positions of true elements -----------------------------------------===//

Found onnximport::findTrue(OpContext &op, Composer &c, NodeValue flags) {
  if (!flags)
    return {};
  int64_t n = flags.getShape()[0];
  NodeValue ones = c.cast(flags, ElemKind::Int64);
  NodeValue counts = c.cumSum(ones, 0);
  NodeValue count = c.reshape(c.slice(counts, 0, n - 1, 1), {});
  // Other positions are scattered out of range.
  NodeValue targets =
      c.select(flags, c.sub(counts, 1), c.scalar(ElemKind::Int64, double(n)));
  NodeValue numbers = c.iota(ElemKind::Int64, 2, 0, n);
  NodeValue none = c.splat(ElemKind::Int64, {n, 1}, 0);
  if (c.hasFailed())
    return {};
  NodeValue positions =
      c.reshape(c.make<ScatterNode>(none, targets, numbers, "replace"), {n});
  if (count)
    op.setBound(count, n);
  return {positions, count, counts};
}

//===- NonZero ------------------------------------------------------------===//

/// Returns the indices of nonzero elements of a constant: [rank, count].
static llvm::Error importConstantNonZero(OpContext &op, const Tensor &input) {
  DimsRef shape = input.getType().getShape();
  Dims strides = getDenseStrides(shape);
  GLOWISH_RETURN_IF_ERROR(op.checkBudget(
      input.getNumElements() * int64_t(sizeof(int64_t) * (shape.size() + 1))));
  std::vector<int64_t> found;
  for (int64_t i = 0; i < input.getNumElements(); ++i)
    if (input.getAsDouble(i) != 0)
      found.push_back(i);
  std::vector<int64_t> indices;
  for (unsigned d = 0; d < shape.size(); ++d)
    for (int64_t i : found)
      indices.push_back(i / strides[d] % shape[d]);
  return op.setOutput(
      0,
      op.createConstant(Tensor::fromValues<int64_t>(
          Type(ElemKind::Int64, {int64_t(shape.size()), int64_t(found.size())}),
          indices)));
}

/// Converts row-major \p positions to indices: row d contains those into
/// dimension d of \p shape.
static NodeValue splitPositions(Composer &c, NodeValue positions,
                                DimsRef shape) {
  if (!positions)
    return positions;
  int64_t n = positions.getShape()[0];
  if (shape.empty())
    return c.splat(ElemKind::Int64, {0, n}, 0);
  Dims strides = getDenseStrides(shape);
  std::vector<NodeValue> rows;
  for (unsigned d = 0; d < shape.size(); ++d) {
    NodeValue whole = c.div(positions, double(strides[d]));
    if (d > 0)
      whole =
          c.sub(whole, c.mul(c.div(whole, double(shape[d])), double(shape[d])));
    rows.push_back(c.reshape(whole, {1, n}));
  }
  return c.concat(rows, 0);
}

/// Flattens \p flags, of the shape of \p x, with false beyond its actual
/// extents.
static NodeValue flattenFlags(Composer &c, const DynamicValue &x,
                              NodeValue flags) {
  if (NodeValue inside = isInside(c, x, getAllDims(x.getRank())))
    flags = c.logicalAnd(flags, inside);
  return flags ? c.reshape(flags, {flags.getType().getNumElements()}) : flags;
}

static llvm::Error importNonZero(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(DynamicValue x, getDynamicInput(op, 0));
  auto *constant = x.value.getNodeAs<Constant>();
  if (constant && !x.isDynamic())
    return importConstantNonZero(op, constant->getTensor());
  Composer c(op);
  DimsRef shape = x.getShape();
  int64_t count = x.value.getType().getNumElements();
  if (count == 0)
    return c.setOutput(0,
                       c.splat(ElemKind::Int64, {int64_t(shape.size()), 0}, 0));
  NodeValue flags = c.cast(x.value, ElemKind::Bool);
  Found found = findTrue(op, c, flattenFlags(c, x, flags));
  return setDynamicOutput(
      op, c, 0,
      {splitPositions(c, found.positions, shape), {NodeValue(), found.count}});
}

//===- Compress -----------------------------------------------------------===//

/// Selects slices by a condition, which may be shorter than the dimension.
static llvm::Error importCompress(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(DynamicValue x, getDynamicInput(op, 0));
  GLOWISH_ASSIGN_OR_RETURN(DynamicValue condition, getDynamicInput(op, 1));
  if (condition.value.getElemKind() != ElemKind::Bool ||
      condition.getRank() != 1)
    return makeError("input 1 is {0}; accepted: bools of rank 1",
                     condition.value.getType().str());
  Composer c(op);
  int64_t axis = 0;
  if (op.hasAttr("axis")) {
    GLOWISH_ASSIGN_OR_RETURN(axis, op.getAxis("axis", 0, x.getRank()));
  } else {
    GLOWISH_ASSIGN_OR_RETURN(x, flatten(op, c, x));
  }
  if (c.hasFailed())
    return c.setOutput(0, {});
  int64_t count = std::min(condition.getShape()[0], x.getShape()[axis]);
  condition.value = c.slice(condition.value, 0, 0, count);
  // Selected slices must be inside both actual extents.
  NodeValue flags = flattenFlags(c, condition, condition.value);
  if (x.isDynamic(axis))
    flags = c.logicalAnd(
        flags, c.less(c.iota(ElemKind::Int64, 1, 0, count), x.getExtent(axis)));
  if (count == 0) {
    x.value = c.slice(x.value, axis, 0, 0);
    x.setExtent(axis, {});
    return setDynamicOutput(op, c, 0, x);
  }
  Found found = findTrue(op, c, flags);
  x.value = c.gather(x.value, found.positions, axis);
  x.setExtent(axis, found.count);
  return setDynamicOutput(op, c, 0, x);
}

static OnnxOperator nonZeroOp("NonZero", 9, importNonZero);
static OnnxOperator compressOp("Compress", 9, importCompress);
