//===- RepeatedBlocks.h - Parameters of blocks of a tensor ------*- C++ -*-===//
//
// The scales and zero points of blocks of a tensor are repeated to its shape:
// Reshape to a dimension of 1 behind that of the blocks, Broadcast, Reshape,
// and a Slice where the last block is shorter.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_GRAPH_REPEATEDBLOCKS_H
#define GLOWISH_GRAPH_REPEATEDBLOCKS_H

#include "glowish/Graph/Nodes.h"
#include <optional>

namespace glowish {

/// A value in which each slice of another one is repeated.
struct RepeatedBlocks {
  /// The value in front of the Broadcast: dimension axis + 1 has the extent 1.
  NodeValue parameter;
  unsigned axis;
  /// How often a slice of dimension axis is repeated; the last one may be
  /// repeated less.
  int64_t block;
};

/// Matches \p value; nullopt if it is something else.
std::optional<RepeatedBlocks> matchRepeatedBlocks(NodeValue value);

/// Repeats each slice of dimension \p axis of \p parameter \p block times, but
/// the last for what is left of \p extent, which is an extent of a tensor.
/// Returns \p parameter where it broadcasts to \p extent. The nodes are not
/// folded, as the optimizer reads from them how long blocks are.
NodeValue repeatBlocks(Function &function, llvm::StringRef name,
                       NodeValue parameter, unsigned axis, int64_t extent,
                       int64_t block);

/// Creates the floats (\p integers - \p zeroPoints) * \p scales of a matrix
/// whose rows have parameters in blocks of \p block rows; \p zeroPoints is null
/// for 0.
NodeValue dequantizeRows(Function &function, llvm::StringRef name,
                         NodeValue integers, NodeValue scales,
                         NodeValue zeroPoints, int64_t block);

} // namespace glowish

#endif // GLOWISH_GRAPH_REPEATEDBLOCKS_H
