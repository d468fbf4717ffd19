//===- Fourier.cpp - Fourier transforms by matmuls ------------------------===//

#include "Common/Fourier.h"
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

using namespace glowish;

NodeValue glowish::makeWindow(NodeBuilder &b, ElemKind kind, int64_t size,
                              bool isPeriodic, const CosineWindow &window) {
  double period = std::max(double(isPeriodic ? size : size - 1), 1.0);
  return b.table(kind, {size}, [&](DimsRef index) {
    double angle = 2 * std::numbers::pi * double(index[0]) / period;
    return window.mean - window.first * std::cos(angle) +
           window.second * std::cos(2 * angle);
  });
}

/// Returns the matrix [inputs, outputs] of \p fn of each angle.
static NodeValue makeMatrix(NodeBuilder &b, ElemKind kind,
                            const FourierTransform &t, double (*fn)(double)) {
  return b.table(kind, {t.inputs, t.outputs}, [&](DimsRef index) {
    // Reduced modulo the length, so that angles are small and exact.
    int64_t step = index[0] * index[1] % t.length;
    double value = fn(2 * std::numbers::pi * double(step) / double(t.length));
    bool isMirrored = t.fromHalf && index[0] > 0 && 2 * index[0] != t.length;
    return value * (isMirrored ? 2 : 1) / t.divisor;
  });
}

ComplexParts glowish::transformFourier(NodeBuilder &b, ComplexParts x,
                                       const FourierTransform &t) {
  if (!x.real)
    return {};
  ElemKind given = x.real.getElemKind(), kind = ElemKind::Double;
  x.real = b.cast(x.real, kind);
  x.imaginary = b.cast(x.imaginary, kind);
  NodeValue cosines =
      makeMatrix(b, kind, t, [](double angle) { return std::cos(angle); });
  NodeValue sines =
      makeMatrix(b, kind, t, [](double angle) { return std::sin(angle); });
  if (!t.isInverse)
    sines = b.unary<NegNode>(sines);
  ComplexParts result = {b.matMul(x.real, cosines), b.matMul(x.real, sines)};
  if (x.imaginary) {
    result.real = b.sub(result.real, b.matMul(x.imaginary, sines));
    result.imaginary = b.add(result.imaginary, b.matMul(x.imaginary, cosines));
  }
  return {b.cast(result.real, given), b.cast(result.imaginary, given)};
}

ComplexParts glowish::transformFourier(NodeBuilder &b, ComplexParts x,
                                       int64_t axis,
                                       const FourierTransform &t) {
  if (!x.real)
    return {};
  Dims shape(x.real.getShape());
  int64_t last = int64_t(shape.size()) - 1, extent = shape[size_t(axis)];
  std::swap(shape[size_t(axis)], shape.back());
  int64_t rows = 1;
  for (int64_t other : DimsRef(shape).drop_back())
    rows *= other;
  auto enter = [&](NodeValue part) {
    if (!part)
      return part;
    std::vector<int64_t> pads(2 * shape.size());
    pads.back() = t.inputs - extent;
    part = b.pad(b.swapDims(part, axis, last), pads, 0);
    return b.reshape(part, {rows, t.inputs});
  };
  ComplexParts result =
      transformFourier(b, {enter(x.real), enter(x.imaginary)}, t);
  shape.back() = t.outputs;
  auto leave = [&](NodeValue part) {
    return b.swapDims(b.reshape(part, shape), axis, last);
  };
  return {leave(result.real),
          t.fromHalf ? NodeValue() : leave(result.imaginary)};
}
