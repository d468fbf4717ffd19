//===- Matrix.h - Tensors as matrices ---------------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_CAFFE2_MATRIX_H
#define GLOWISH_LIB_IMPORTER_CAFFE2_MATRIX_H

#include "Caffe2/NetOp.h"

namespace glowish::caffe2 {

/// A tensor of any rank flattened to [rows, columns] at an axis.
struct Matrix {
  NodeValue value;
  /// The dimensions that were flattened to rows, as a type.
  Type rows;

  int64_t getNumRows() const { return value.getShape()[0]; }
  int64_t getNumColumns() const { return value.getShape()[1]; }
  /// Returns \p result, a matrix with these rows, in the dimensions that they
  /// were, and its columns.
  NodeValue unflatten(NetOp &op, NodeValue result) const;
};

/// Returns input \p index flattened at the argument \p axis (default 1).
llvm::Expected<Matrix> readMatrix(NetOp &op, unsigned index,
                                  llvm::StringRef axis);

} // namespace glowish::caffe2

#endif // GLOWISH_LIB_IMPORTER_CAFFE2_MATRIX_H
