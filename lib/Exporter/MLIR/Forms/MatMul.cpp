//===- MatMul.cpp - Sums of products as MLIR ------------------------------===//

#include "MLIR/Writer.h"

using namespace glowish;

static void writeMatMul(MlirWriter &w, const MatMulNode &node) {
  const Type &type = node.getType();
  ElemKind kind = getSumKind(type.getKind());
  MlirValue sums =
      w.matMul(w.get(node.getLhs()), w.get(node.getRhs()), type.withKind(kind));
  w.setResult(node, w.cast(sums, type.getKind()));
}
static const MlirForm matMulForm(NodeKind::MatMul, writeMatMul);

/// \p x less \p zeroPoint, of its kind or absent, as int32.
static MlirValue subtractZero(MlirWriter &w, NodeValue x, NodeValue zeroPoint) {
  MlirValue wide = w.cast(w.get(x), ElemKind::Int32);
  if (!zeroPoint)
    return wide;
  return w.sub(wide, w.cast(w.get(zeroPoint), ElemKind::Int32));
}

static void writeMatMulInteger(MlirWriter &w, const MatMulIntegerNode &node) {
  w.setResult(node,
              w.matMul(w.cast(w.get(node.getLhs()), ElemKind::Int32),
                       subtractZero(w, node.getRhs(), node.getRhsZeroPoint()),
                       node.getType()));
}
static const MlirForm matMulIntegerForm(NodeKind::MatMulInteger,
                                        writeMatMulInteger);

static void writeConvolution(MlirWriter &w, const ConvolutionNode &node) {
  const Type &type = node.getType();
  Type sums = type.withKind(getSumKind(type.getKind()));
  MlirValue bias = w.get(node.getBias());
  MlirValue result = w.convolve({.input = w.get(node.getInput()),
                                 .filter = w.get(node.getFilter()),
                                 .bias = bias ? w.widen(bias) : bias,
                                 .strides = node.getStrides(),
                                 .pads = node.getPads(),
                                 .dilations = node.getDilations(),
                                 .group = node.getGroup()},
                                sums);
  w.setResult(node, w.cast(result, type.getKind()));
}
static const MlirForm convolutionForm(NodeKind::Convolution, writeConvolution);

static void writeConvolutionInteger(MlirWriter &w,
                                    const ConvolutionIntegerNode &node) {
  NodeValue filterZero = node.getFilterZeroPoint();
  MlirValue filter = w.cast(w.get(node.getFilter()), ElemKind::Int32);
  if (filterZero) {
    MlirValue zero = w.cast(w.get(filterZero), ElemKind::Int32);
    if (zero.getRank() == 1)
      zero = w.reshape(zero, {zero.getShape()[0], 1, 1, 1});
    filter = w.sub(filter, zero);
  }
  w.setResult(node, w.convolve({.input = subtractZero(w, node.getInput(),
                                                      node.getZeroPoint()),
                                .filter = filter,
                                .bias = w.get(node.getBias()),
                                .strides = node.getStrides(),
                                .pads = node.getPads(),
                                .dilations = node.getDilations(),
                                .group = node.getGroup()},
                               node.getType()));
}
static const MlirForm convolutionIntegerForm(NodeKind::ConvolutionInteger,
                                             writeConvolutionInteger);
