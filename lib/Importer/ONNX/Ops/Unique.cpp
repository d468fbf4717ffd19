//===- Unique.cpp - Distinct elements and slices --------------------------===//

#include "ONNX/Ops/DynamicReshape.h"
#include "ONNX/Ops/Indexing.h"
#include "ONNX/Ops/NonZero.h"

using namespace glowish;
using namespace glowish::onnximport;

namespace {
/// The distinct values of each row of a matrix, numbered in ascending order.
struct Groups {
  /// The number of each element's value: its group.
  NodeValue groups;
  /// The number of groups less 1: [rows, 1].
  NodeValue last;
};
} // namespace

/// Whether elements of \p x and \p y are equal; NaNs are equal to each other.
static NodeValue areEqual(Composer &c, NodeValue x, NodeValue y) {
  NodeValue same = c.equal(x, y);
  if (c.hasFailed() || !isFloatKind(x.getElemKind()))
    return same;
  auto isNaN = [&](NodeValue value) {
    return c.unary<NotNode>(c.equal(value, value));
  };
  return c.logicalOr(same, c.logicalAnd(isNaN(x), isNaN(y)));
}

/// Sorts each row of \p keys [rows, n], n > 0, numbers the distinct values, and
/// scatters the numbers back to the original positions.
static Groups groupRows(Composer &c, NodeValue keys) {
  if (!keys)
    return {};
  int64_t rows = keys.getShape()[0], n = keys.getShape()[1];
  NodeValue order = c.make<TopKNode>(keys, n, /*largest=*/false);
  NodeValue sorted = gatherElements(c, keys, order, 1);
  NodeValue before = shiftAlong(c, sorted, 1, 1, 0);
  NodeValue isFirst = c.equal(c.iota(ElemKind::Int64, 2, 1, n), 0);
  NodeValue differs = c.unary<NotNode>(areEqual(c, sorted, before));
  NodeValue steps = c.cast(c.logicalOr(differs, isFirst), ElemKind::Int64);
  NodeValue numbers = c.sub(c.cumSum(steps, 1), 1);
  if (c.hasFailed())
    return {};
  NodeValue positions = getElementPositions(c, {rows, n}, order, 1);
  NodeValue none = c.splat(ElemKind::Int64, {rows * n, 1}, 0);
  positions = c.reshape(positions, {rows * n});
  NodeValue updates = c.reshape(numbers, {rows * n, 1});
  if (c.hasFailed())
    return {};
  NodeValue back = c.make<ScatterNode>(none, positions, updates, "replace");
  return {c.reshape(back, {rows, n}), c.slice(numbers, 1, n - 1, 1)};
}

/// Groups the columns of \p keys [rows, n], with the first row the most
/// significant: rows are replaced by group numbers, and pairs of rows combined
/// to one, until one is left.
static Groups groupColumns(Composer &c, NodeValue keys) {
  if (!keys)
    return {};
  double n = double(keys.getShape()[1]);
  while (keys && keys.getShape()[0] > 1) {
    NodeValue numbers = groupRows(c, keys).groups;
    if (!numbers)
      return {};
    int64_t rows = numbers.getShape()[0], pairs = (rows + 1) / 2;
    numbers = c.pad(numbers, {0, 0, 2 * pairs - rows, 0}, 0);
    numbers = c.reshape(numbers, {pairs, 2, int64_t(n)});
    NodeValue high = c.slice(numbers, 1, 0, 1), low = c.slice(numbers, 1, 1, 1);
    keys = c.reshape(c.add(c.mul(high, n), low), {pairs, int64_t(n)});
  }
  return groupRows(c, keys);
}

/// Returns the slices of \p x along \p axis as columns of a matrix.
static NodeValue getColumns(Composer &c, NodeValue x, int64_t axis) {
  if (!x)
    return x;
  unsigned rank = x.getType().getRank();
  int64_t n = x.getShape()[axis], rows = x.getType().getNumElements() / n;
  if (x.getElemKind() == ElemKind::Bool)
    x = c.cast(x, ElemKind::UInt8);
  // Slices without elements are all equal.
  if (rows == 0)
    return c.splat(ElemKind::Int64, {1, n}, 0);
  return c.reshape(c.transpose(x, getMovedDims(rank, axis, rank - 1)),
                   {rows, n});
}

/// Combines \p values into elements \p rows of a tensor of n elements \p start.
static NodeValue combine(Composer &c, NodeValue rows, NodeValue values,
                         double start, llvm::StringRef mode) {
  if (!rows || !values)
    return {};
  int64_t n = rows.getShape()[0];
  NodeValue target = c.splat(ElemKind::Int64, {n, 1}, start);
  values = c.reshape(values, {n, 1});
  if (c.hasFailed())
    return {};
  return c.reshape(c.make<ScatterNode>(target, rows, values, mode), {n});
}

/// Sets the outputs for an input without elements.
static llvm::Error setEmptyOutputs(OpContext &op, Composer &c,
                                   const DynamicValue &x) {
  GLOWISH_RETURN_IF_ERROR(setDynamicOutput(op, c, 0, x));
  for (unsigned i = 1; i < 4; ++i)
    GLOWISH_RETURN_IF_ERROR(c.setOutput(i, c.splat(ElemKind::Int64, {0}, 0)));
  return llvm::Error::success();
}

namespace {
/// The outputs of Unique with n elements each, before they are cropped.
struct Distinct {
  /// The first element of each group, the group of each element, and the number
  /// of elements of each group.
  NodeValue first, inverse, sizes;
  NodeValue count;
};
} // namespace

/// Groups in ascending order. \p isValid states which elements count; null
/// means all.
static Distinct findDistinct(OpContext &op, Composer &c, NodeValue columns,
                             NodeValue isValid) {
  Groups groups = groupColumns(c, columns);
  if (c.hasFailed())
    return {};
  int64_t n = groups.groups.getShape()[1];
  Distinct result;
  result.inverse = c.reshape(groups.groups, {n});
  NodeValue numbers = c.iota(ElemKind::Int64, 1, 0, n);
  result.first = combine(c, result.inverse, numbers, double(n), "min");
  NodeValue ones = isValid ? c.cast(isValid, ElemKind::Int64)
                           : c.splat(ElemKind::Int64, {n}, 1);
  result.sizes = combine(c, result.inverse, ones, 0, "add");
  result.count = c.add(c.reshape(groups.last, {}), 1);
  // If no element counts, the group of the others does not either.
  if (isValid) {
    NodeValue any = c.reshape(c.slice(isValid, 0, 0, 1), {});
    result.count = c.select(any, result.count, c.scalar(ElemKind::Int64, 0));
  }
  if (result.count)
    op.setBound(result.count, n);
  return result;
}

/// Sorts the groups of \p distinct by their first element.
static Distinct sortByFirst(OpContext &op, Composer &c, Distinct distinct) {
  if (c.hasFailed())
    return {};
  int64_t n = distinct.inverse.getShape()[0];
  NodeValue firstOfSame = c.gather(distinct.first, distinct.inverse, 0);
  NodeValue begins = c.equal(firstOfSame, c.iota(ElemKind::Int64, 1, 0, n));
  Found found = findTrue(op, c, begins);
  NodeValue groups = c.gather(distinct.inverse, found.positions, 0);
  return {found.positions, c.sub(c.gather(found.counts, firstOfSame, 0), 1),
          c.gather(distinct.sizes, groups, 0), distinct.count};
}

static llvm::Error importUnique(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(DynamicValue x, getDynamicInput(op, 0));
  GLOWISH_ASSIGN_OR_RETURN(int64_t sorted, op.getInt("sorted", 1));
  Composer c(op);
  int64_t axis = 0;
  if (op.hasAttr("axis")) {
    GLOWISH_ASSIGN_OR_RETURN(axis, op.getAxis("axis", 0, x.getRank()));
  } else {
    GLOWISH_ASSIGN_OR_RETURN(x, flatten(op, c, x));
  }
  for (unsigned d = 0; d < x.getRank(); ++d)
    if (d != axis && x.isDynamic(d))
      return makeError("the extent of dimension {0} is known only when the "
                       "model runs; accepted: such an extent of dimension {1}",
                       d, axis);
  int64_t n = x.getShape()[axis];
  if (n == 0)
    return setEmptyOutputs(op, c, x);
  // Elements beyond the actual extent become copies of the first, which do not
  // count.
  NodeValue isValid, extent = x.getExtent(axis);
  if (extent) {
    NodeValue numbers = c.iota(ElemKind::Int64, 1, 0, n);
    isValid = c.less(numbers, extent);
    numbers = c.select(isValid, numbers, c.number(numbers, 0));
    x.value = c.gather(x.value, numbers, axis);
  }
  Distinct distinct =
      findDistinct(op, c, getColumns(c, x.value, axis), isValid);
  if (!sorted)
    distinct = sortByFirst(op, c, distinct);
  x.value = c.gather(x.value, distinct.first, axis);
  x.setExtent(axis, distinct.count);
  GLOWISH_RETURN_IF_ERROR(setDynamicOutput(op, c, 0, x));
  GLOWISH_RETURN_IF_ERROR(
      setDynamicOutput(op, c, 1, {distinct.first, {distinct.count}}));
  GLOWISH_RETURN_IF_ERROR(
      setDynamicOutput(op, c, 2, {distinct.inverse, {extent}}));
  return setDynamicOutput(op, c, 3, {distinct.sizes, {distinct.count}});
}

static OnnxOperator uniqueOp("Unique", 11, importUnique);
