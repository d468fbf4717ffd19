//===- Unique.cpp - Distinct elements and slices --------------------------===//

#include "Common/Positions.h"
#include "ONNX/Ops/NonZero.h"
#include "ONNX/Ops/Reshape.h"

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
static NodeValue areEqual(OpContext &op, NodeValue x, NodeValue y) {
  NodeValue same = op.equal(x, y);
  if (op.hasFailed() || !isFloatKind(x.getElemKind()))
    return same;
  auto isNaN = [&](NodeValue value) {
    return op.unary<NotNode>(op.equal(value, value));
  };
  return op.logicalOr(same, op.logicalAnd(isNaN(x), isNaN(y)));
}

/// Sorts each row of \p keys [rows, n], n > 0, numbers the distinct values, and
/// scatters the numbers back to the original positions.
static Groups groupRows(OpContext &op, NodeValue keys) {
  if (!keys)
    return {};
  int64_t rows = keys.getShape()[0], n = keys.getShape()[1];
  NodeValue order = op.make<TopKNode>(keys, n, /*largest=*/false);
  NodeValue sorted = gatherElements(op, keys, order, 1);
  NodeValue before = shiftAlong(op, sorted, 1, 1, 0);
  NodeValue isFirst = op.equal(op.iota(ElemKind::Int64, 2, 1, n), 0);
  NodeValue differs = op.unary<NotNode>(areEqual(op, sorted, before));
  NodeValue steps = op.cast(op.logicalOr(differs, isFirst), ElemKind::Int64);
  NodeValue numbers = op.sub(op.cumSum(steps, 1), 1);
  if (op.hasFailed())
    return {};
  NodeValue positions = getElementPositions(op, keys.getType(), order, 1);
  NodeValue none = op.splat(ElemKind::Int64, {rows * n, 1}, 0);
  positions = op.reshape(positions, {rows * n});
  NodeValue updates = op.reshape(numbers, {rows * n, 1});
  if (op.hasFailed())
    return {};
  NodeValue back = op.make<ScatterNode>(none, positions, updates, "replace");
  return {op.reshape(back, {rows, n}), op.slice(numbers, 1, n - 1, 1)};
}

/// Groups the columns of \p keys [rows, n], with the first row the most
/// significant: rows are replaced by group numbers, and pairs of rows combined
/// to one, until one is left.
static Groups groupColumns(OpContext &op, NodeValue keys) {
  if (!keys)
    return {};
  double n = double(keys.getShape()[1]);
  while (keys && keys.getShape()[0] > 1) {
    NodeValue numbers = groupRows(op, keys).groups;
    if (!numbers)
      return {};
    int64_t rows = numbers.getShape()[0], pairs = (rows + 1) / 2;
    numbers = op.pad(numbers, {0, 0, 2 * pairs - rows, 0}, 0);
    numbers = op.reshape(numbers, {pairs, 2, int64_t(n)});
    NodeValue high = op.slice(numbers, 1, 0, 1),
              low = op.slice(numbers, 1, 1, 1);
    keys = op.reshape(op.add(op.mul(high, n), low), {pairs, int64_t(n)});
  }
  return groupRows(op, keys);
}

/// Returns the slices of \p x along \p axis as columns of a matrix.
static NodeValue getColumns(OpContext &op, NodeValue x, int64_t axis) {
  if (!x)
    return x;
  unsigned rank = x.getType().getRank();
  int64_t n = x.getShape()[axis], rows = x.getType().getNumElements() / n;
  if (x.getElemKind() == ElemKind::Bool)
    x = op.cast(x, ElemKind::UInt8);
  // Slices without elements are all equal.
  if (rows == 0)
    return op.splat(ElemKind::Int64, {1, n}, 0);
  return op.reshape(op.transpose(x, getMovedDims(rank, axis, rank - 1)),
                    {rows, n});
}

/// Combines \p values into elements \p rows of a tensor of n elements \p start.
static NodeValue combine(OpContext &op, NodeValue rows, NodeValue values,
                         double start, llvm::StringRef mode) {
  if (!rows || !values)
    return {};
  int64_t n = rows.getShape()[0];
  NodeValue target = op.splat(ElemKind::Int64, {n, 1}, start);
  values = op.reshape(values, {n, 1});
  if (op.hasFailed())
    return {};
  return op.reshape(op.make<ScatterNode>(target, rows, values, mode), {n});
}

/// Sets the outputs for an input without elements.
static llvm::Error setEmptyOutputs(OpContext &op, NodeValue x) {
  GLOWISH_RETURN_IF_ERROR(op.setOutput(0, x));
  for (unsigned i = 1; i < 4; ++i)
    GLOWISH_RETURN_IF_ERROR(op.setOutput(i, op.splat(ElemKind::Int64, {0}, 0)));
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
static Distinct findDistinct(OpContext &op, NodeValue columns,
                             NodeValue isValid) {
  Groups groups = groupColumns(op, columns);
  if (op.hasFailed())
    return {};
  int64_t n = groups.groups.getShape()[1];
  Distinct result;
  result.inverse = op.reshape(groups.groups, {n});
  NodeValue numbers = op.iota(ElemKind::Int64, 1, 0, n);
  result.first = combine(op, result.inverse, numbers, double(n), "min");
  NodeValue ones = isValid ? op.cast(isValid, ElemKind::Int64)
                           : op.splat(ElemKind::Int64, {n}, 1);
  result.sizes = combine(op, result.inverse, ones, 0, "add");
  result.count = op.add(op.reshape(groups.last, {}), 1);
  // If no element counts, the group of the others does not either.
  if (isValid) {
    NodeValue any = op.reshape(op.slice(isValid, 0, 0, 1), {});
    result.count = op.select(any, result.count, op.scalar(ElemKind::Int64, 0));
  }
  if (result.count)
    op.setBound(result.count, n);
  return result;
}

/// Sorts the groups of \p distinct by their first element.
static Distinct sortByFirst(OpContext &op, Distinct distinct) {
  if (op.hasFailed())
    return {};
  int64_t n = distinct.inverse.getShape()[0];
  NodeValue firstOfSame = op.gather(distinct.first, distinct.inverse, 0);
  NodeValue begins = op.equal(firstOfSame, op.iota(ElemKind::Int64, 1, 0, n));
  Found found = findTrueBounded(op, begins);
  NodeValue groups = op.gather(distinct.inverse, found.positions, 0);
  return {found.positions, op.sub(op.gather(found.counts, firstOfSame, 0), 1),
          op.gather(distinct.sizes, groups, 0), distinct.count};
}

static llvm::Error importUnique(OpContext &op, NodeValue x) {
  int64_t sorted = op.getInt("sorted", 1);
  int64_t axis = 0;
  if (op.hasAttr("axis")) {
    GLOWISH_ASSIGN_OR_RETURN(axis,
                             op.getAxis("axis", 0, x.getType().getRank()));
  } else {
    x = flatten(op, x);
    GLOWISH_RETURN_IF_ERROR(op.takeError());
  }
  int64_t n = x.getShape()[axis];
  if (n == 0)
    return setEmptyOutputs(op, x);
  // Elements beyond the extents must not make slices differ.
  std::vector<int64_t> others = getAllDims(x.getType().getRank());
  others.erase(others.begin() + axis);
  NodeValue filled = op.fillOutside(x, others, 0);
  // Slices beyond the extent become copies of the first, which do not count.
  NodeValue isValid, length;
  if (x && x.getType().getExtent(axis)) {
    length = op.getLength(x, axis);
    NodeValue numbers = op.iota(ElemKind::Int64, 1, 0, n);
    isValid = op.less(numbers, length);
    numbers = op.select(isValid, numbers, op.number(numbers, 0));
    filled = op.gather(op.crop(filled, axis, n, std::nullopt), numbers, axis);
    x = op.crop(x, axis, n, std::nullopt);
  }
  Distinct distinct =
      findDistinct(op, getColumns(op, op.dropExtents(filled), axis), isValid);
  if (!sorted)
    distinct = sortByFirst(op, distinct);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  Lengths lengths(x.getShape().size());
  lengths[axis] = distinct.count;
  NodeValue first = distinct.first, count = distinct.count;
  GLOWISH_RETURN_IF_ERROR(
      op.setOutput(0, op.declare(op.gather(x, first, axis), lengths)));
  GLOWISH_RETURN_IF_ERROR(op.setOutput(1, op.declare(first, {count})));
  GLOWISH_RETURN_IF_ERROR(
      op.setOutput(2, op.declare(distinct.inverse, {length})));
  return op.setOutput(3, op.declare(distinct.sizes, {count}));
}

static OnnxOperator uniqueOp("Unique", 11, withExtents<importUnique>);
