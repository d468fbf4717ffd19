//===- Fourier.h - Fourier transforms by matmuls ----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_FOURIER_H
#define GLOWISH_LIB_IMPORTER_COMMON_FOURIER_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// Real and imaginary parts; the latter is null for real values.
struct ComplexParts {
  NodeValue real, imaginary;
};

/// A sum of cosines: mean - first cos(a) + second cos(2 a).
struct CosineWindow {
  double mean, first, second = 0;
};

/// Returns the \p size elements of \p window, whose angle goes around once:
/// with \p isPeriodic behind the last element, else at it.
NodeValue makeWindow(NodeBuilder &b, ElemKind kind, int64_t size,
                     bool isPeriodic, const CosineWindow &window);

/// A discrete Fourier transform of `length` elements, as matmuls with matrices
/// of cosines and sines.
struct FourierTransform {
  int64_t length;
  int64_t inputs, outputs; // number of elements that are stored
  bool isInverse = false;
  /// The input is half of a symmetric spectrum, so that the result is real.
  bool fromHalf = false;
  /// The divisor of the results.
  double divisor = 1;
};

/// Transforms the last dimension of \p x, (a + bi) (cos -+ i sin), in double
/// precision to limit cancellation errors. The result has the kind of \p x, and
/// both parts.
ComplexParts transformFourier(NodeBuilder &b, ComplexParts x,
                              const FourierTransform &t);

/// Transforms dimension \p axis, of which the first t.inputs elements count;
/// those that are missing are 0. A result that is real has no imaginary part.
ComplexParts transformFourier(NodeBuilder &b, ComplexParts x, int64_t axis,
                              const FourierTransform &t);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_FOURIER_H
