//===- Indexing.h - Gather by element indices -------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_INDEXING_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_INDEXING_H

#include "ONNX/DynamicDims.h"

namespace glowish {

/// Returns the slices of \p x at \p indices into dimension \p axis. An error if
/// constant indices are out of range.
llvm::Expected<DynamicValue> gatherSlices(Composer &c, const DynamicValue &x,
                                          const DynamicValue &indices,
                                          int64_t axis);

/// Casts \p indices to int64 and adds \p extent to negative ones.
NodeValue wrapIndices(Composer &c, NodeValue indices, int64_t extent);

/// Returns element [i0, ..., indices[i0, i1, ...], ...] of \p data for each
/// index of \p indices, which has the rank of \p data; the indices are into
/// dimension \p axis.
NodeValue gatherElements(Composer &c, NodeValue data, NodeValue indices,
                         int64_t axis);

/// Returns the sum of strides[d] times the index in dimension d for each index
/// of \p shape, int64. There may be more strides than dimensions.
NodeValue makePositions(Composer &c, DimsRef shape, DimsRef strides);

/// Returns the row-major positions in \p shape of the elements that
/// gatherElements() returns.
NodeValue getElementPositions(Composer &c, DimsRef shape, NodeValue indices,
                              int64_t axis);

/// Shifts \p value by \p count elements along dimension \p axis, towards lower
/// indices if that is negative. \p filler takes the place of what moves.
NodeValue shiftAlong(Composer &c, NodeValue value, int64_t axis, int64_t count,
                     double filler);

/// Returns the elements of \p data at row-major \p positions.
NodeValue gatherPositions(Composer &c, NodeValue data, NodeValue positions);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_INDEXING_H
