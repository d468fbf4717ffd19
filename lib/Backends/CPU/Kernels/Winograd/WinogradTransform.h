//===- WinogradTransform.h - The matrices of fast convolution ---*- C++ -*-===//
//
// m outputs of a filter of r taps need m + r - 1 inputs d, and, as
// At * ((G * g) .* (Bt * d)), as many multiplications instead of m * r
// (Winograd, Arithmetic Complexity of Computations, 1980; Lavin and Gray,
// arXiv 1509.09308). In two dimensions the transforms apply to columns and
// then to rows.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_WINOGRAD_WINOGRADTRANSFORM_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_WINOGRAD_WINOGRADTRANSFORM_H

#include "Kernels/KernelBuilder.h"
#include <optional>
#include <vector>

namespace glowish {

/// A small matrix of literals.
class TransformMatrix {
public:
  TransformMatrix(unsigned rows, unsigned columns)
      : rows(rows), columns(columns), elements(size_t(rows) * columns) {}

  unsigned getRows() const { return rows; }
  unsigned getColumns() const { return columns; }
  double &at(unsigned row, unsigned column) {
    return elements[size_t(row) * columns + column];
  }
  double at(unsigned row, unsigned column) const {
    return elements[size_t(row) * columns + column];
  }
  TransformMatrix transpose() const;

  /// The matrix times the vector \p values, whose elements are vectors of
  /// floats themselves. Rows, and columns, that differ only in signs share
  /// what they have in common.
  Values apply(KernelBuilder &b, llvm::ArrayRef<llvm::Value *> values) const;

private:
  std::optional<unsigned> findMirroredRow(unsigned row) const;
  Values joinMirroredColumns(KernelBuilder &b,
                             llvm::ArrayRef<llvm::Value *> values,
                             TransformMatrix &rest) const;
  unsigned rows, columns;
  std::vector<double> elements;
};

/// The three matrices for `outputs` outputs of `taps` taps: toOutput [outputs,
/// points], filter [points, taps], input [points, points].
struct WinogradTransform {
  /// Of outputs + taps - 1 = 1, 4 or 6 points. One tap has one output only.
  WinogradTransform(unsigned outputs, unsigned taps);

  unsigned outputs, taps;
  TransformMatrix toOutput, filter, input;

  unsigned getPoints() const { return outputs + taps - 1; }
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_WINOGRAD_WINOGRADTRANSFORM_H
