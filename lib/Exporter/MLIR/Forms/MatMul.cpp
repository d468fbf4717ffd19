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
