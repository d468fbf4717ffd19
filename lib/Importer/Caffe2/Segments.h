//===- Segments.h - Ragged lists --------------------------------*- C++ -*-===//
//
// Lists of different lengths are concatenated, with a tensor of their lengths.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_CAFFE2_SEGMENTS_H
#define GLOWISH_LIB_IMPORTER_CAFFE2_SEGMENTS_H

#include "Caffe2/NetOp.h"

namespace glowish::caffe2 {

/// Returns the end of each list, int64. \p lengths are integers of rank 1.
NodeValue makeEnds(NetOp &op, NodeValue lengths);

/// Returns the list number of each index of dimension 0 of \p elements, int64
/// and of rank 1; the number of lists for elements beyond the last list.
NodeValue makeSegments(NetOp &op, NodeValue ends, NodeValue elements);
/// Returns the same of \p count elements, [count].
NodeValue makeSegments(NetOp &op, NodeValue ends, int64_t count);

/// Returns the sums of the \p rows [L, ...] of each list, [lists, ...], as many
/// as \p lists has in dimension 0. \p segments [L] are the list numbers; rows
/// in no list are ignored.
NodeValue sumSegments(NetOp &op, NodeValue rows, NodeValue segments,
                      NodeValue lists);

/// Returns \p x with the extent \p extent, which may be null, in dimension
/// \p dim.
NodeValue declareExtent(NetOp &op, NodeValue x, unsigned dim,
                        const Extent *extent);
/// Returns \p x with the extent that dimension 0 of \p like has in dimension 0.
NodeValue declareRows(NetOp &op, NodeValue x, NodeValue like);

/// Combines \p updates [M, ...] into \p input [N, ...] at \p indices, with the
/// modes of Scatter.
NodeValue scatterRows(NetOp &op, NodeValue input, NodeValue indices,
                      NodeValue updates, llvm::StringRef mode);

/// Flattens all but the first dimension of \p x [N, ...].
NodeValue flattenRows(NetOp &op, NodeValue x);

/// Returns an error unless input \p index is of an integer kind and rank 1.
llvm::Error checkIndexList(NetOp &op, unsigned index);

} // namespace glowish::caffe2

#endif // GLOWISH_LIB_IMPORTER_CAFFE2_SEGMENTS_H
