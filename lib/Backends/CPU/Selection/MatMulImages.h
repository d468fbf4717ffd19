//===- MatMulImages.h - Matmuls as convolutions -----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_SELECTION_MATMULIMAGES_H
#define GLOWISH_LIB_BACKENDS_CPU_SELECTION_MATMULIMAGES_H

#include "glowish/IR/IR.h"

namespace glowish {

/// Extents and strides of rank 4.
struct ImageLayout {
  Dims shape, strides;
};

/// Whether each matrix of \p result has one row. A tile is made of consecutive
/// pixels (rows), and would have one otherwise.
bool hasOneRow(const Buffer &result);

/// A buffer of rank 2 to 4 as one of rank 4, with leading dimensions of extent
/// 1. \p isSingleRow: each matrix is one row; the rows of the batch become the
/// pixels of one image row.
ImageLayout getImageLayout(const Buffer *buffer, bool isSingleRow);

/// \p buffer as a view with that layout.
Buffer *viewAsImage(IRFunction &function, Buffer *buffer, bool isSingleRow);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_SELECTION_MATMULIMAGES_H
