//===- NonZero.cpp - NonZero and Compress ---------------------------------===//

#include "ONNX/Ops/NonZero.h"
#include "ONNX/Ops/DynamicReshape.h"
#include "ONNX/Ops/Indexing.h"

using namespace glowish;
using namespace glowish::onnximport;

//===- Positions of true elements -----------------------------------------===//

Found onnximport::findTrue(OpContext &op, NodeValue flags) {
  if (!flags)
    return {};
  int64_t n = flags.getShape()[0];
  NodeValue ones = op.cast(flags, ElemKind::Int64);
  NodeValue counts = op.cumSum(ones, 0);
  NodeValue count = op.reshape(op.slice(counts, 0, n - 1, 1), {});
  // Other positions are scattered out of range.
  NodeValue targets = op.select(flags, op.sub(counts, 1),
                                op.scalar(ElemKind::Int64, double(n)));
  NodeValue numbers = op.iota(ElemKind::Int64, 2, 0, n);
  NodeValue none = op.splat(ElemKind::Int64, {n, 1}, 0);
  if (op.hasFailed())
    return {};
  NodeValue positions =
      op.reshape(op.make<ScatterNode>(none, targets, numbers, "replace"), {n});
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
static NodeValue splitPositions(OpContext &op, NodeValue positions,
                                DimsRef shape) {
  if (!positions)
    return positions;
  int64_t n = positions.getShape()[0];
  if (shape.empty())
    return op.splat(ElemKind::Int64, {0, n}, 0);
  Dims strides = getDenseStrides(shape);
  std::vector<NodeValue> rows;
  for (unsigned d = 0; d < shape.size(); ++d) {
    NodeValue whole = op.div(positions, double(strides[d]));
    if (d > 0)
      whole = op.sub(whole,
                     op.mul(op.div(whole, double(shape[d])), double(shape[d])));
    rows.push_back(op.reshape(whole, {1, n}));
  }
  return op.concat(rows, 0);
}

/// Flattens \p flags, of the shape of \p x, with false beyond its actual
/// extents.
static NodeValue flattenFlags(OpContext &op, const DynamicValue &x,
                              NodeValue flags) {
  if (NodeValue inside = isInside(op, x, getAllDims(x.getRank())))
    flags = op.logicalAnd(flags, inside);
  return flags ? op.reshape(flags, {flags.getType().getNumElements()}) : flags;
}

static llvm::Error importNonZero(OpContext &op, DynamicValue x) {
  auto *constant = x.value.getNodeAs<Constant>();
  if (constant && !x.isDynamic())
    return importConstantNonZero(op, constant->getTensor());
  DimsRef shape = x.getShape();
  int64_t count = x.value.getType().getNumElements();
  if (count == 0)
    return op.setOutput(
        0, op.splat(ElemKind::Int64, {int64_t(shape.size()), 0}, 0));
  NodeValue flags = op.cast(x.value, ElemKind::Bool);
  Found found = findTrue(op, flattenFlags(op, x, flags));
  return setDynamicOutput(
      op, 0,
      {splitPositions(op, found.positions, shape), {NodeValue(), found.count}});
}

//===- Compress -----------------------------------------------------------===//

/// Selects slices by a condition, which may be shorter than the dimension.
static llvm::Error importCompress(OpContext &op, DynamicValue x,
                                  DynamicValue condition) {
  if (condition.value.getElemKind() != ElemKind::Bool ||
      condition.getRank() != 1)
    return makeError("input 1 is {0}; accepted: bools of rank 1",
                     condition.value.getType().str());
  int64_t axis = 0;
  if (op.hasAttr("axis")) {
    GLOWISH_ASSIGN_OR_RETURN(axis, op.getAxis("axis", 0, x.getRank()));
  } else {
    NodeValue flat = flatten(op, op.declare(x.value, x.extents));
    GLOWISH_RETURN_IF_ERROR(op.takeError());
    x = {op.dropExtents(flat), op.getLengths(flat)};
  }
  if (op.hasFailed())
    return op.setOutput(0, {});
  int64_t count = std::min(condition.getShape()[0], x.getShape()[axis]);
  condition.value = op.slice(condition.value, 0, 0, count);
  // Selected slices must be inside both actual extents.
  NodeValue flags = flattenFlags(op, condition, condition.value);
  if (x.isDynamic(axis))
    flags = op.logicalAnd(flags, op.less(op.iota(ElemKind::Int64, 1, 0, count),
                                         x.getExtent(axis)));
  if (count == 0) {
    x.value = op.slice(x.value, axis, 0, 0);
    x.setExtent(axis, {});
    return setDynamicOutput(op, 0, x);
  }
  Found found = findTrue(op, flags);
  x.value = op.gather(x.value, found.positions, axis);
  x.setExtent(axis, found.count);
  return setDynamicOutput(op, 0, x);
}

static OnnxOperator nonZeroOp("NonZero", 9, importNonZero);
static OnnxOperator compressOp("Compress", 9, importCompress);
