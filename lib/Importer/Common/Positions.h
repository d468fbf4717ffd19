//===- Positions.h - Elements by their positions ----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_POSITIONS_H
#define GLOWISH_LIB_IMPORTER_COMMON_POSITIONS_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// Returns how many of \p start, \p start + \p step, ... come before \p limit;
/// infinity where \p step is 0. Exact up to 2^53, however large the integers
/// are (ONNX Range-11, aten::arange, TensorFlow Lite RANGE).
double countIntegers(int64_t start, int64_t limit, int64_t step);

/// Pads \p x, integers, by \p value, one integer: a Pad's is a double, which
/// does not have all of them.
NodeValue padByInteger(NodeBuilder &b, NodeValue x,
                       llvm::ArrayRef<int64_t> pads, NodeValue value);

/// Returns \p x, which may be null, with \p extents in its type, one entry for
/// each dimension, or none at all.
NodeValue restateExtents(NodeBuilder &b, NodeValue x,
                         const ExtentList &extents);
/// Returns the extent of dimension \p dim of \p x; none where no run decides
/// it.
inline std::optional<Extent> findExtent(NodeValue x, unsigned dim) {
  const Extent *extent = x ? x.getType().getExtent(dim) : nullptr;
  return extent ? std::optional(*extent) : std::nullopt;
}

/// Casts \p indices to int64 and adds \p extent, an int64 scalar, to negative
/// ones.
NodeValue wrapIndices(NodeBuilder &b, NodeValue indices, NodeValue extent);
/// Casts \p indices, into dimension \p axis of a value of type \p data, to
/// int64 and adds its extent to negative ones.
NodeValue wrapIndices(NodeBuilder &b, NodeValue indices, const Type &data,
                      unsigned axis);

/// Returns the constant 0, 1, ... along dimension \p dim of \p x, int64 and of
/// extent 1 in its other dimensions, with the extent of this one.
NodeValue numberAlong(NodeBuilder &b, NodeValue x, unsigned dim);

/// Returns element [i0, ..., indices[i0, i1, ...], ...] of \p data for each
/// index of \p indices, which has the rank of \p data; the indices are into
/// dimension \p axis.
NodeValue gatherElements(NodeBuilder &b, NodeValue data, NodeValue indices,
                         int64_t axis);

/// Returns the sum of strides[d] times the index in dimension d for each index
/// of \p shape, int64. There may be more strides than dimensions.
NodeValue makePositions(NodeBuilder &b, DimsRef shape, DimsRef strides);

/// Returns the row-major positions in the shape of \p data, its bounds, of the
/// elements that gatherElements() returns.
NodeValue getElementPositions(NodeBuilder &b, const Type &data,
                              NodeValue indices, int64_t axis);

/// Returns the elements of \p data at row-major \p positions.
NodeValue gatherPositions(NodeBuilder &b, NodeValue data, NodeValue positions);

/// Returns the rows \p rows of \p data as a matrix of which the rows are its
/// first \p numIndexed dimensions: [shape of \p rows..., other dimensions...].
NodeValue gatherRows(NodeBuilder &b, NodeValue data, NodeValue rows,
                     unsigned numIndexed);

/// Elements along a dimension, in order, their indices in that dimension, and
/// their row-major positions in the operand with this dimension and the last
/// one swapped.
struct TopElements {
  NodeValue values, indices, positions;
};
/// Returns the \p count largest elements of \p x along \p axis, or the
/// smallest; of equal ones the first comes first (ONNX TopK-1, aten::topk,
/// Caffe2 TopK, TensorFlow Lite TOPK_V2).
TopElements takeTop(NodeBuilder &b, NodeValue x, int64_t axis, int64_t count,
                    bool largest);

/// Returns whether each of \p indices is each of 0 ... \p depth - 1, which are
/// the new dimension \p axis (ONNX OneHot-9, aten::one_hot, TensorFlow Lite
/// ONE_HOT).
NodeValue makeOneHot(NodeBuilder &b, NodeValue indices, int64_t axis,
                     int64_t depth);

/// Keeps what is not below diagonal \p diagonal of the matrices \p x, or not
/// above it if \p isLower; others become 0 (ONNX Trilu-14, aten::tril).
NodeValue keepTriangle(NodeBuilder &b, NodeValue x, int64_t diagonal,
                       bool isLower);

/// The rows of \p data as a matrix that a Scatter updates.
struct ScatteredRows {
  /// The number of rows, and of elements in each.
  int64_t count, length;
};

/// Scatters \p updates to \p rows of \p data; `replace` and the other modes of
/// Scatter. The shape of \p updates begins with that of \p rows, and where a
/// run decides an extent of these, nothing is written beyond it.
NodeValue scatterRows(NodeBuilder &b, NodeValue data, NodeValue rows,
                      NodeValue updates, ScatteredRows matrix,
                      llvm::StringRef mode);

/// Shifts \p value by \p count elements along dimension \p axis, towards lower
/// indices if that is negative. \p filler takes the place of what moves.
NodeValue shiftAlong(NodeBuilder &b, NodeValue value, int64_t axis,
                     int64_t count, double filler);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_POSITIONS_H
