//===- Indexing.h - Elements picked by index --------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_INDEXING_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_INDEXING_H

#include "Common/Cumulative.h"
#include "ONNX/Composer.h"

namespace glowish {

/// \p indices as int64, with \p extent added to the negative ones.
NodeValue wrapIndices(Composer &c, NodeValue indices, int64_t extent);

/// Element [i0, ..., indices[i0, i1, ...], ...] of \p data at each index of
/// \p indices, which has the rank of \p data and stands at dimension \p axis.
NodeValue gatherElements(Composer &c, NodeValue data, NodeValue indices,
                         int64_t axis);

/// The sum of strides[d] times the index in dimension d, at each index of
/// \p shape: int64. There are as many strides as dimensions, or more.
NodeValue makePositions(Composer &c, DimsRef shape, DimsRef strides);

/// Where gatherElements finds these elements in \p shape, as positions in
/// row-major order.
NodeValue getElementPositions(Composer &c, DimsRef shape, NodeValue indices,
                              int64_t axis);

/// The elements at \p positions of \p data in row-major order.
NodeValue gatherPositions(Composer &c, NodeValue data, NodeValue positions);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_INDEXING_H
