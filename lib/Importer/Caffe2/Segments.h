//===- Segments.h - Lists of different lengths ------------------*- C++ -*-===//
//
// Lists are stored one behind the other, with a tensor of their lengths.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_CAFFE2_SEGMENTS_H
#define GLOWISH_LIB_IMPORTER_CAFFE2_SEGMENTS_H

#include "Caffe2/NetOp.h"

namespace glowish {

/// Where each of the lists ends: int64. \p lengths: integers of rank 1.
NodeValue makeEnds(NetOp &op, NodeValue lengths);

/// For each of \p count elements the list it is in: int64 [count]. Elements
/// behind the last list get the number of lists.
NodeValue makeSegments(NetOp &op, NodeValue ends, int64_t count);

/// The sums of the \p rows [L, ...] of each list: [lists, ...]. \p segments [L]
/// are their lists; what is in no list is left out.
NodeValue sumSegments(NetOp &op, NodeValue rows, NodeValue segments,
                      int64_t numLists);

/// \p updates [M, ...] at \p indices of \p input [N, ...], by Scatter's modes.
NodeValue scatterRows(NetOp &op, NodeValue input, NodeValue indices,
                      NodeValue updates, llvm::StringRef mode);

/// \p x [N, ...] with all but the first dimension flattened.
NodeValue flattenRows(NetOp &op, NodeValue x);

/// Refuses inputs that are no integers of rank 1.
llvm::Error checkIndexList(NetOp &op, unsigned index);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_CAFFE2_SEGMENTS_H
