//===- Positions.cpp - Elements by their positions ------------------------===//

#include "Common/Positions.h"
#include "Common/Axes.h"
#include "Common/EqualExtents.h"
#include <cmath>

using namespace glowish;

double glowish::countIntegers(int64_t start, int64_t limit, int64_t step) {
  if (step == 0)
    return HUGE_VAL;
  bool isUp = step > 0;
  if (isUp ? limit <= start : limit >= start)
    return 0;
  // Modulo 2^64 a distance is right, though no int64 may have it.
  uint64_t distance = isUp ? uint64_t(limit) - uint64_t(start)
                           : uint64_t(start) - uint64_t(limit);
  uint64_t size = isUp ? uint64_t(step) : -uint64_t(step);
  return double(distance / size + (distance % size != 0));
}

NodeValue glowish::padByInteger(NodeBuilder &b, NodeValue x,
                                llvm::ArrayRef<int64_t> pads, NodeValue value) {
  // Differences and sums wrap.
  return b.add(b.pad(b.sub(x, value), pads, 0), value);
}

NodeValue glowish::restateExtents(NodeBuilder &b, NodeValue x,
                                  const ExtentList &extents) {
  return x ? b.declareExtents(x, x.getType().withExtents(extents)) : x;
}

/// \p extent: a number or an int64 scalar.
template <typename T>
static NodeValue wrap(NodeBuilder &b, NodeValue indices, T extent) {
  NodeValue wide = b.cast(indices, ElemKind::Int64);
  return b.select(b.less(wide, 0), b.add(wide, extent), wide);
}

NodeValue glowish::wrapIndices(NodeBuilder &b, NodeValue indices,
                               NodeValue extent) {
  return wrap(b, indices, extent);
}

NodeValue glowish::wrapIndices(NodeBuilder &b, NodeValue indices,
                               const Type &data, unsigned axis) {
  const Extent *extent = data.getExtent(axis);
  return extent ? wrap(b, indices, b.compute(*extent))
                : wrap(b, indices, double(data.getDim(axis)));
}

NodeValue glowish::numberAlong(NodeBuilder &b, NodeValue x, unsigned dim) {
  if (!x)
    return x;
  const Type &type = x.getType();
  NodeValue number =
      b.iota(ElemKind::Int64, type.getRank(), dim, type.getDim(dim));
  const Extent *extent = type.getExtent(dim);
  if (!extent || !number)
    return number;
  ExtentList extents(type.getRank());
  extents[dim] = *extent;
  return b.declareExtents(number, number.getType().withExtents(extents));
}

NodeValue glowish::makePositions(NodeBuilder &b, DimsRef shape,
                                 DimsRef strides) {
  return b.table(ElemKind::Int64, shape, [&](DimsRef index) {
    int64_t position = 0;
    for (unsigned d = 0; d < index.size(); ++d)
      position += index[d] * strides[d];
    return double(position);
  });
}

NodeValue glowish::getElementPositions(NodeBuilder &b, const Type &data,
                                       NodeValue indices, int64_t axis) {
  Dims strides = getDenseStrides(data.getShape());
  Dims others(indices.getShape());
  others[axis] = 1;
  NodeValue base = makePositions(b, others, strides);
  NodeValue wrapped = wrapIndices(b, indices, data, axis);
  return b.add(b.mul(wrapped, double(strides[axis])), base);
}

NodeValue glowish::gatherPositions(NodeBuilder &b, NodeValue data,
                                   NodeValue positions) {
  if (!data)
    return data;
  NodeValue flat = b.reshape(data, {data.getType().getNumElements()});
  return b.gather(flat, positions, 0);
}

NodeValue glowish::gatherElements(NodeBuilder &b, NodeValue data,
                                  NodeValue indices, int64_t axis) {
  if (!data || !indices)
    return {};
  NodeValue positions = getElementPositions(b, data.getType(), indices, axis);
  return gatherPositions(b, b.dropExtents(data), positions);
}

/// Returns one entry for each dimension of \p type.
static ExtentList listExtents(const Type &type) {
  ExtentList extents(type.getExtents());
  extents.resize(type.getRank());
  return extents;
}

NodeValue glowish::gatherRows(NodeBuilder &b, NodeValue data, NodeValue rows,
                              unsigned numIndexed) {
  if (!data || !rows)
    return {};
  DimsRef shape = data.getShape();
  DimsRef row = shape.drop_front(numIndexed);
  NodeValue matrix = b.reshape(
      b.dropExtents(data),
      {countElements(shape.take_front(numIndexed)), countElements(row)});
  Dims result(rows.getShape());
  result.append(row.begin(), row.end());
  ExtentList extents = listExtents(rows.getType());
  llvm::append_range(
      extents,
      llvm::ArrayRef(listExtents(data.getType())).drop_front(numIndexed));
  rows = b.dropExtents(rows);
  return restateExtents(b, b.reshape(b.gather(matrix, rows, 0), result),
                        extents);
}

TopElements glowish::takeTop(NodeBuilder &b, NodeValue x, int64_t axis,
                             int64_t count, bool largest) {
  if (!x)
    return {};
  int64_t last = int64_t(x.getType().getRank()) - 1;
  NodeValue rows = b.swapDims(x, axis, last);
  // Bools have no order.
  NodeValue compared =
      x.getElemKind() == ElemKind::Bool ? b.cast(rows, ElemKind::Int32) : rows;
  if (!compared)
    return {};
  NodeValue indices = b.make<TopKNode>(compared, count, largest);
  Dims starts(rows.getShape());
  starts.back() = 1;
  NodeValue positions = b.add(
      indices, makePositions(b, starts, getDenseStrides(rows.getShape())));
  NodeValue values = gatherPositions(b, b.dropExtents(rows), positions);
  return {b.swapDims(values, axis, last), b.swapDims(indices, axis, last),
          positions};
}

NodeValue glowish::makeOneHot(NodeBuilder &b, NodeValue indices, int64_t axis,
                              int64_t depth) {
  if (!indices)
    return indices;
  unsigned rank = indices.getType().getRank() + 1;
  return b.equal(b.unsqueeze(indices, axis),
                 b.iota(indices.getElemKind(), rank, axis, depth));
}

NodeValue glowish::keepTriangle(NodeBuilder &b, NodeValue x, int64_t diagonal,
                                bool isLower) {
  if (!x)
    return x;
  NodeValue isKept =
      b.table(ElemKind::Bool, x.getShape().take_back(2), [&](DimsRef index) {
        int64_t distance = index[1] - index[0];
        return double(isLower ? distance <= diagonal : distance >= diagonal);
      });
  return b.select(isKept, x, b.number(x, 0));
}

NodeValue glowish::shiftAlong(NodeBuilder &b, NodeValue value, int64_t axis,
                              int64_t count, double filler) {
  if (!value)
    return value;
  unsigned rank = value.getShape().size();
  std::vector<int64_t> pads(2 * rank, 0);
  pads[axis] = count;
  pads[rank + axis] = -count;
  return b.pad(value, pads, filler);
}

/// Gives \p own, the extent of a dimension that has the same length as one of
/// \p other, what that states: they must be the same, and a static one is as
/// long as the other.
static void unite(NodeBuilder &b, std::optional<Extent> &own,
                  const Extent *other) {
  if (!other)
    return;
  if (own)
    requireSame(b, *own, *other);
  else
    own = *other;
}

NodeValue glowish::scatterRows(NodeBuilder &b, NodeValue data, NodeValue rows,
                               NodeValue updates, ScatteredRows matrix,
                               llvm::StringRef mode) {
  if (!data || !rows || !updates)
    return {};
  unsigned numOuter = rows.getType().getRank();
  unsigned skipped = data.getType().getRank() - updates.getType().getRank();
  ExtentList outer = listExtents(rows.getType());
  ExtentList own = listExtents(data.getType());
  for (unsigned d = 0; d < updates.getType().getRank(); ++d)
    if (d < numOuter)
      unite(b, outer[d], updates.getType().getExtent(d));
    else if (d + skipped < own.size())
      unite(b, own[d + skipped], updates.getType().getExtent(d));
  // An index out of range is written to by none.
  rows = b.fillOutside(restateExtents(b, rows, outer), getAllDims(numOuter),
                       double(matrix.count));
  rows = b.dropExtents(rows);
  int64_t count = rows ? rows.getType().getNumElements() : 0;
  NodeValue all = b.reshape(b.dropExtents(data), {matrix.count, matrix.length});
  rows = b.reshape(rows, {count});
  updates = b.reshape(b.dropExtents(updates), {count, matrix.length});
  if (b.hasFailed())
    return {};
  NodeValue result = b.make<ScatterNode>(all, rows, updates, mode);
  return restateExtents(b, b.reshape(result, data.getShape()), own);
}
