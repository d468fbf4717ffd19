//===- Integers.cpp - Sums of products of bytes ---------------------------===//

#include "MLIR/Writer.h"

using namespace glowish;

/// Those that compute with int32; TOSA multiplies bytes.
static constexpr MlirDialect dialects[] = {MlirDialect::Linalg,
                                           MlirDialect::StableHlo};

/// \p x less \p zeroPoint, of its kind or absent, as int32.
static MlirValue subtractZero(MlirWriter &w, NodeValue x, NodeValue zeroPoint) {
  MlirValue wide = w.cast(w.get(x), ElemKind::Int32);
  if (!zeroPoint)
    return wide;
  return w.sub(wide, w.cast(w.get(zeroPoint), ElemKind::Int32));
}

static MlirValue writeIntegerMatMul(MlirWriter &w,
                                    const MatMulIntegerNode &node) {
  return w.matMul(w.cast(w.get(node.getLhs()), ElemKind::Int32),
                  subtractZero(w, node.getRhs(), node.getRhsZeroPoint()),
                  node.getType());
}
static const MlirForm matMulInteger(dialects, writeIntegerMatMul);

static MlirValue writeIntegerConvolution(MlirWriter &w,
                                         const ConvolutionIntegerNode &node) {
  NodeValue filterZero = node.getFilterZeroPoint();
  MlirValue filter = w.cast(w.get(node.getFilter()), ElemKind::Int32);
  if (filterZero) {
    MlirValue zero = w.cast(w.get(filterZero), ElemKind::Int32);
    if (zero.getRank() == 1)
      zero = w.reshape(zero, {zero.getShape()[0], 1, 1, 1});
    filter = w.sub(filter, zero);
  }
  return w.convolve(
      MlirConvolution::of(node,
                          subtractZero(w, node.getInput(), node.getZeroPoint()),
                          filter, w.get(node.getBias())),
      node.getType());
}
static const MlirForm convolutionInteger(dialects, writeIntegerConvolution);
