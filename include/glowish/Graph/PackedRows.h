//===- PackedRows.h - Rows of small integers in bytes -----------*- C++ -*-===//
//
// In memory an integer of 4 bits has a byte of its own. A large table of them
// that a program picks rows of has several in a byte instead, the first in the
// lowest bits, and the rows that are picked are unpacked when the program runs.
// Each row begins with a new byte.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_GRAPH_PACKEDROWS_H
#define GLOWISH_GRAPH_PACKEDROWS_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// The rows of \p integers, of 4 bits, as uint8 with an integer in each \p bits
/// bits (4 or 8). \p offset is added to them, so that none is negative.
Tensor packRows(const Tensor &integers, int offset, unsigned bits);

/// The first \p count integers of \p bits bits (2, 4 or 8) in each row of
/// \p bytes, as uint8.
NodeValue unpackRows(NodeBuilder &b, NodeValue bytes, unsigned bits,
                     int64_t count);

} // namespace glowish

#endif // GLOWISH_GRAPH_PACKEDROWS_H
